internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyCommand
internal import LatchkeyImport
internal import Synchronization

/// The items that an entry becomes: one item has one value (decisions.md, "Import").
struct EntryPlan {
    private let entry: ImportedEntry
    private let sites: [SiteAddress]
    private let names: [String]

    init(_ entry: ImportedEntry) {
        self.entry = entry
        var (sites, names): ([SiteAddress], [String]) = ([], [])
        for address in entry.addresses {
            if let site = SiteAddress(address) { sites.append(site) } else { names.append(address) }
        }
        (self.sites, self.names) = (sites, names)
    }

    /// On two threads: a long file would otherwise keep one processor, and the keychain waiting.
    static func items(_ document: ImportedDocument) -> [PlannedItem] {
        let entries = document.entries
        let parts = (entries.count + entriesOfAPart - 1) / entriesOfAPart
        let found = Mutex([[PlannedItem]](repeating: [], count: parts))
        Crew.run(2, over: parts) { part, _ in
            let first = part * entriesOfAPart
            let planned = (first..<min(first + entriesOfAPart, entries.count)).flatMap { index in
                EntryPlan(entries[index]).items.map { item in
                    var item = item
                    item.entry = index
                    return item
                }
            }
            found.withLock { $0[part] = planned }
        }
        return found.withLock { $0.flatMap(\.self) }
    }

    private static let entriesOfAPart = 256

    private var items: [PlannedItem] {
        var items = entry.password.isEmpty ? [] : places
        if !entry.note.isEmpty { items.append(beside("note", .note, entry.note)) }
        // `get --otp` looks beside the login that is named, whichever of its places that is.
        for service in entry.password.isEmpty ? [service] : servicesOfCodes {
            for (index, secret) in entry.oneTimeSecrets.enumerated() {
                items.append(beside(index == 0 ? "otp" : "otp \(index + 1)", .oneTimeSecret, secret, at: service))
            }
        }
        var counts: [String: Int] = [:]
        for file in entry.attachments {
            let number = counts[file.name, default: 0] + 1
            counts[file.name] = number
            let name = number == 1 ? file.name : "\(file.name) \(number)"
            items.append(beside("file: \(name)", .attachment, file.content))
        }
        // An entry that holds nothing else is still a name that somebody kept.
        return items.isEmpty ? places : items
    }

    private var servicesOfCodes: [String] {
        let named = sites.reduce(into: [String]()) { if !$0.contains($1.name) { $0.append($1.name) } }
        return named.isEmpty ? [service] : named
    }

    // MARK: Places

    /// One item for each place where the password is used.
    private var places: [PlannedItem] {
        var items: [PlannedItem] = []
        var taken: Set<ItemPlace> = []
        for site in sites {
            let item = internet(site)
            if taken.insert(item.place).inserted { items.append(item) }
        }
        for name in names { items.append(generic(service: name)) }
        return items.isEmpty ? [generic(service: service)] : items
    }

    private func internet(_ site: SiteAddress) -> PlannedItem {
        var attributes = common
        attributes[.server] = .string(site.host)
        if let port = site.port { attributes["port"] = .integer(Int64(port)) }
        if !site.path.isEmpty { attributes["path"] = .string(site.path) }
        if let scheme = site.scheme { attributes["ptcl"] = .string(scheme.protocolCode) }
        if !entry.securityDomain.isEmpty { attributes["sdmn"] = .string(entry.securityDomain) }
        return item(.internet, attributes, .value, entry.password)
    }

    private func generic(service: String) -> PlannedItem {
        var attributes = common
        attributes[.service] = .string(service)
        return item(.generic, attributes, .value, entry.password)
    }

    private func beside(
        _ suffix: String, _ role: PlannedItem.Role, _ value: SecretText, at place: String? = nil
    ) -> PlannedItem {
        var attributes = common
        attributes[.service] = .string(place ?? service)
        let suffix = "(\(suffix))"
        attributes[.account] = .string(entry.account.isEmpty ? suffix : "\(entry.account) \(suffix)")
        // The type that keychain programs give secure notes.
        if role == .note { attributes["type"] = .integer(Self.noteType) }
        var item = item(.generic, attributes, role, value)
        item.suffix = suffix
        return item
    }

    /// "note" as a number.
    private static let noteType: Int64 = 0x6e6f_7465

    /// What stands for the entry where there is no server: its site, its name for
    /// a place, its title.
    private var service: String {
        if let site = sites.first { return site.name }
        if let name = names.first { return name }
        return entry.title.isEmpty ? "untitled" : entry.title
    }

    // MARK: Attributes

    private var common: AttributeMap {
        var attributes = AttributeMap()
        attributes[.account] = .string(entry.account)
        if !entry.title.isEmpty { attributes[.label] = .string(entry.title) }
        if !entry.folder.isEmpty { attributes["icmt"] = .string("Folder: \(entry.folder)") }
        return attributes
    }

    private func item(
        _ kind: PasswordKind, _ attributes: AttributeMap, _ role: PlannedItem.Role, _ value: SecretText
    ) -> PlannedItem {
        PlannedItem(
            kind: kind, attributes: attributes, value: value, role: role, origin: entry.place, created: entry.created,
            modified: nil)
    }
}

extension SiteScheme {
    /// kSecAttrProtocol (Apple, SecItem.h; COMPATIBILITY.md).
    var protocolCode: String {
        switch self {
        case .http: "http"
        case .https: "htps"
        case .ftp: "ftp "
        case .ftps: "ftps"
        case .ssh, .sftp: "ssh "
        case .smb: "smb "
        case .afp: "afp "
        case .telnet: "teln"
        case .telnets: "tels"
        case .imap: "imap"
        case .imaps: "imps"
        case .pop3: "pop3"
        case .pop3s: "pops"
        case .smtp: "smtp"
        case .ldap: "ldap"
        case .ldaps: "ldps"
        case .irc: "irc "
        case .ircs: "ircs"
        case .nntp: "nntp"
        case .nntps: "ntps"
        case .ipp: "ipp "
        case .rtsp: "rtsp"
        case .socks: "sox "
        }
    }
}
