internal import KeychainModel
internal import KeychainProtocol
internal import MessageBus
internal import SecretServiceReach

/// A collection of the Secret Service: an access group, with what is known of it besides.
struct SecretCollection: Sendable, Hashable {
    /// As it stands in its object's path.
    let name: String
    let label: String
    /// Seconds since 1970-01-01T00:00:00Z.
    let created: UInt64
    let modified: UInt64

    func modified(at seconds: UInt64) -> SecretCollection {
        SecretCollection(name: name, label: label, created: created, modified: max(modified, seconds))
    }

    func labelled(_ label: String) -> SecretCollection {
        SecretCollection(name: name, label: label, created: created, modified: modified)
    }

    static let login = CollectionName.login
    static let session = CollectionName.session

    static func group(of name: String) -> AccessGroup { CollectionName.group(of: name) }

    var group: AccessGroup { Self.group(of: name) }
    var path: ObjectPath { Self.path(of: name) }

    /// - Precondition: the name is an element of a path (``isElement(_:)``).
    static func path(of name: String) -> ObjectPath { SecretServiceNames.collections.appending(name) }

    static func isElement(_ text: String) -> Bool { CollectionName.isElement(text) }
    static func element(_ text: String) -> String { CollectionName.element(text) }
}

/// Which collections and aliases there are: items of the group "secret-service", under a
/// protection class that is open while the keychain is locked, because programs look
/// for their collection before they have it unlocked.
///
/// Read once and kept, until the service hears that another has changed it, or something is
/// looked for in vain.
final class CollectionBook {
    private let keychain: any KeychainTransport
    private var known: [SecretCollection]?
    /// When items of a collection came, went or became others last, since this service runs: to
    /// write that down would cost each store another.
    private var changes: [String: UInt64] = [:]
    private var knownAliases: [String: String]?
    private let collectionService = CollectionName.service
    private let aliasService = "org.freedesktop.Secret.Alias"
    /// The longest name of a collection, in bytes.
    private static let longestName = 128

    init(_ keychain: any KeychainTransport) { self.keychain = keychain }

    private func place(_ service: String, _ name: String?) -> [(String, RawValue)] {
        [("class", .string("genp")), ("agrp", .string(AccessGroup.secretService.name)), ("svce", .string(service))]
            + (name.map { [("acct", .string($0))] } ?? [])
    }

    /// Those that are always there come first.
    func all() throws(KeychainError) -> [SecretCollection] {
        if let known { return known }
        let read = try readAll()
        known = read
        return read
    }

    func collection(named name: String) throws(KeychainError) -> SecretCollection? {
        if let found = try all().first(where: { $0.name == name }) { return found }
        forget()
        return try all().first { $0.name == name }
    }

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    func itemsChanged(in name: String, at seconds: UInt64) {
        changes[name] = seconds
        known = known?.map { $0.name == name ? $0.modified(at: seconds) : $0 }
    }

    /// As far as it is known without looking.
    func modified(of name: String) -> UInt64 {
        known?.first { $0.name == name }?.modified ?? changes[name] ?? 0
    }

    /// Reads anew which there are; where the keychain does not answer they stay what they were.
    func renew() {
        let before = (known, knownAliases)
        forget()
        do throws(KeychainError) { _ = try all() } catch { (known, knownAliases) = before }
    }

    /// Has everything read anew.
    func forget() { (known, knownAliases) = (nil, nil) }

    private func readAll() throws(KeychainError) -> [SecretCollection] {
        let rows = try rows(collectionService, nil)
        let known = rows.compactMap { Self.collection($0) }
        let fixed = [(SecretCollection.login, "Login"), (SecretCollection.session, "session")].map { name, label in
            known.first { $0.name == name }
                ?? SecretCollection(name: name, label: label, created: 0, modified: 0)
        }
        let all = fixed + known.filter { one in !fixed.contains { $0.name == one.name } }
        changes = changes.filter { name, _ in all.contains { $0.name == name } }
        return all.map { $0.modified(at: changes[$0.name] ?? 0) }
    }

    private func rows(_ service: String, _ name: String?) throws(KeychainError) -> [AnswerRow] {
        let query = place(service, name) + [("r_Attributes", .bool(true)), ("m_Limit", .string("m_LimitAll"))]
        do throws(KeychainError) {
            return try keychain.perform(KeychainRequest(.copy, query: QueryDictionary(query))).rows
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    private static func collection(_ row: AnswerRow) -> SecretCollection? {
        guard let name = row.attributes[.account]?.string, SecretCollection.isElement(name) else {
            return nil
        }
        return SecretCollection(
            name: name, label: row.attributes[.label]?.string ?? name, created: row.attributes.seconds(.creationDate),
            modified: row.attributes.seconds(.modificationDate))
    }

    /// Under a name made from its label that no other has, also where another service of the
    /// same keychain makes one at this moment.
    func make(labelled label: String) throws(KeychainError) -> SecretCollection {
        forget()
        let element = String(SecretCollection.element(label).prefix(Self.longestName))
        let base = element.isEmpty ? "collection" : element
        let taken = Set(try all().map(\.name))
        var (name, number) = (base, 1)
        var isOurs = false
        while !isOurs {
            if number > 1 { name = "\(base)_\(number)" }
            number += 1
            guard !taken.contains(name) else { continue }
            isOurs = try add(place(collectionService, name), [("labl", .string(label))])
        }
        return try all().first { $0.name == name }
            ?? SecretCollection(name: name, label: label, created: 0, modified: 0)
    }

    /// Has an alias stand for a collection that was just made; where another service had it stand
    /// for one a moment before, that one is everybody's, and the new one is removed.
    ///
    /// - Returns: what it stands for, and whether that is the new one.
    func claim(
        _ alias: String, for made: SecretCollection
    ) throws(KeychainError) -> (collection: SecretCollection, isNew: Bool) {
        if try add(place(aliasService, alias), [("gena", .string(made.name))]) { return (made, true) }
        if let name = try collection(of: alias), let present = try collection(named: name) {
            try remove(made)
            return (present, false)
        }
        // What it says leads nowhere.
        try set(alias, to: made.name)
        return (made, true)
    }

    /// Also of one that had none of its own yet.
    func write(_ label: String, of name: String) throws(KeychainError) {
        try write(place(collectionService, name), [("labl", .string(label))])
    }

    private func write(_ place: [(String, RawValue)], _ values: [(String, RawValue)]) throws(KeychainError) {
        if try add(place, values) { return }
        defer { forget() }
        _ = try keychain.perform(
            KeychainRequest(.update, query: QueryDictionary(place), changes: QueryDictionary(values)))
    }

    /// False where there is one already.
    private func add(_ place: [(String, RawValue)], _ values: [(String, RawValue)]) throws(KeychainError) -> Bool {
        defer { forget() }
        let kept = [("pdmn", RawValue.string(ProtectionClass.alwaysThisDeviceOnly.rawValue))]
        do throws(KeychainError) {
            _ = try keychain.perform(KeychainRequest(.add, query: QueryDictionary(place + values + kept)))
            return true
        } catch {
            guard error.status == .duplicateItem else { throw error }
            return false
        }
    }

    /// With all its items, and the aliases that name it.
    func remove(_ collection: SecretCollection) throws(KeychainError) {
        forget()
        for itemClass in SecretItems.classes {
            let all: [(String, RawValue)] = [
                ("class", .string(itemClass.rawValue)), ("agrp", .string(collection.group.name)),
            ]
            try removeIfThere(all)
        }
        for (alias, name) in try aliases() where name == collection.name {
            try removeIfThere(place(aliasService, alias))
        }
        try removeIfThere(place(collectionService, collection.name))
    }

    private func removeIfThere(_ query: [(String, RawValue)]) throws(KeychainError) {
        defer { forget() }
        do throws(KeychainError) {
            _ = try keychain.perform(KeychainRequest(.delete, query: QueryDictionary(query)))
        } catch {
            guard error.status == .itemNotFound else { throw error }
        }
    }

    // MARK: Aliases

    /// The name of the collection that an alias stands for; nil: for none.
    func collection(of alias: String) throws(KeychainError) -> String? {
        if alias == SecretCollection.session { return SecretCollection.session }
        // What it says may be of anybody who can write items of the group.
        if let name = try aliases()[alias], try collection(named: name) != nil { return name }
        return alias == "default" || alias == SecretCollection.login ? SecretCollection.login : nil
    }

    private func aliases() throws(KeychainError) -> [String: String] {
        if let knownAliases { return knownAliases }
        var read: [String: String] = [:]
        for row in try rows(aliasService, nil) {
            guard let alias = row.attributes[.account]?.string, let name = row.attributes["gena"]?.string,
                SecretCollection.isElement(name)
            else { continue }
            read[alias] = name
        }
        knownAliases = read
        return read
    }

    /// - Parameter name: nil: the alias stands for nothing of its own any more.
    func set(_ alias: String, to name: String?) throws(KeychainError) {
        guard let name else { return try removeIfThere(place(aliasService, alias)) }
        try write(place(aliasService, alias), [("gena", .string(name))])
    }
}

extension AttributeMap {
    /// Seconds since 1970-01-01T00:00:00Z; 0 where there is no such date.
    func seconds(_ code: AttributeCode) -> UInt64 {
        // 2001-01-01T00:00:00Z is 978 307 200 s after 1970-01-01T00:00:00Z.
        guard case .date(let seconds) = self[code] else { return 0 }
        return Self.unixSeconds(of: seconds)
    }

    /// - Parameter moment: seconds since 2001-01-01T00:00:00Z.
    static func unixSeconds(of moment: Double) -> UInt64 {
        UInt64(exactly: (moment + 978_307_200).rounded(.down)) ?? 0
    }
}
