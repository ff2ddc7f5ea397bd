public import Foundation
internal import KeychainProtocol

/// What the keychain says of a password, without the password.
public struct Item: Sendable, Hashable, Identifiable {
    /// What makes it one: its class, and service and account or server and the
    /// rest.
    public let address: ItemAddress
    /// The programs that share it (`kSecAttrAccessGroup`).
    public let group: AccessGroup
    /// When its secret can be read.
    public let accessible: ProtectionClass
    /// Whether an access control stands before it (`kSecAttrAccessControl`): a person, or
    /// an application password, is asked for before it is read or changed, as
    /// ``Protection`` or the flags of `SecItemAdd` said.
    public let isGuarded: Bool
    /// Whether it may leave the machine through synchronization
    /// (`kSecAttrSynchronizable`). Nothing synchronizes yet.
    public let isSynchronizable: Bool
    /// What people and programs noted beside the secret.
    public let attributes: ItemAttributes
    /// When it was added, by the clock of the keychain.
    public let created: Date
    /// When it or its secret was last changed; later than ``created`` after a
    /// change, even where the clock was set back.
    public let modified: Date
    /// Names this item for as long as it exists, whatever its attributes become
    /// (`kSecValuePersistentRef`).
    public let reference: Data

    /// The same as ``reference``.
    public var id: Data { reference }
}

/// What people and programs note beside a secret. Any program of the group reads it, and
/// but for guarded items (``Item/isGuarded``) nobody is asked: nothing secret belongs here.
public struct ItemAttributes: Sendable, Hashable {
    /// A title (kSecAttrLabel).
    public var label: String?
    /// What kind of secret it is, in a person's words (kSecAttrDescription).
    public var kind: String?
    /// Never searched by people, so no place for notes that matter (kSecAttrComment).
    public var comment: String?
    /// A program's own tag (kSecAttrGeneric). It makes nothing unique.
    public var generic: Data?

    /// Attributes as given; nil is absent on a new item, and leaves what is
    /// there in a change. An attribute has at most 64 KiB.
    public init(label: String? = nil, kind: String? = nil, comment: String? = nil, generic: Data? = nil) {
        self.label = label
        self.kind = kind
        self.comment = comment
        self.generic = generic
    }

    /// Whether all of them are the same, byte by byte ("é" and "e" with an accent are
    /// two, as in the keychain).
    public static func == (a: ItemAttributes, b: ItemAttributes) -> Bool {
        a.label.hasSameBytes(as: b.label) && a.kind.hasSameBytes(as: b.kind)
            && a.comment.hasSameBytes(as: b.comment) && a.generic == b.generic
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for text in [label, kind, comment] {
            hasher.combine(text != nil)
            text?.hashBytes(into: &hasher)
        }
        hasher.combine(generic)
    }

    var query: [(String, RawValue)] {
        var out: [(String, RawValue)] = []
        if let label { out.append(("labl", .string(label))) }
        if let kind { out.append(("desc", .string(kind))) }
        if let comment { out.append(("icmt", .string(comment))) }
        if let generic { out.append(("gena", .data(Array(generic)))) }
        return out
    }
}

/// An item with its secret.
public struct OpenedItem: Sendable {
    /// What the keychain says of it.
    public let item: Item
    /// Its secret; empty where it was stored without one.
    public let secret: Secret
}

/// What could be read of a search's items.
public struct UnlockedItems: Sendable, Hashable {
    /// Those that are not locked, in no order that is promised.
    public internal(set) var items: [Item]
    /// The classes of those that are; empty where ``items`` is all.
    public internal(set) var locked: Set<ProtectionClass>
}

extension Item {
    init(_ row: AnswerRow) throws(KeychainError) {
        let attributes = row.attributes
        guard let tag = attributes["pdmn"]?.string, let accessible = ProtectionClass(rawValue: tag) else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "an item without protection class"))
        }
        address = try ItemAddress(row)
        group = AccessGroup(attributes["agrp"]?.string ?? "")
        self.accessible = accessible
        isGuarded = row.accessControl.map { !$0.isUnconstrained } ?? false
        isSynchronizable = attributes["sync"]?.integer ?? 0 != 0
        self.attributes = ItemAttributes(attributes)
        created = attributes.date("cdat")
        modified = attributes.date("mdat")
        reference = Data(row.persistentReference)
    }
}

extension ItemAddress {
    init(_ row: AnswerRow) throws(KeychainError) {
        let attributes = row.attributes
        switch row.itemClass {
        case .genericPassword:
            self.init(
                .generic(Generic(service: ItemText(attributes["svce"]), account: ItemText(attributes["acct"]))))
        case .internetPassword: self.init(.internet(Internet(attributes)))
        default:
            throw KeychainError(.internalComponent, reason: .internalFault(what: "an item that is no password"))
        }
    }

    /// Every attribute of the address, so that neighbours are left alone.
    var query: [(String, RawValue)] {
        switch form {
        case .generic(let address):
            [("class", .string("genp")), ("svce", address.service.raw), ("acct", address.account.raw)]
        case .internet(let address):
            [
                ("class", .string("inet")), ("srvr", address.server.raw), ("acct", address.account.raw),
                ("port", address.storedPort?.raw ?? .integer(Int64(address.port))),
                ("ptcl", address.storedProtocol?.raw ?? address.protocol.map { .string($0.rawValue) } ?? .integer(0)),
                ("path", address.path.raw), ("sdmn", address.securityDomain.raw),
                ("atyp", address.authenticationType.raw),
            ]
        }
    }
}

extension ItemAddress.Internet {
    /// - Parameter attributes: of an item; what no property can hold is kept beside.
    fileprivate init(_ attributes: AttributeMap) {
        let (port, name) = (attributes["port"], attributes["ptcl"])
        self.init(
            server: ItemText(attributes["srvr"]), account: ItemText(attributes["acct"]),
            port: UInt16(clamping: port?.integer ?? 0), protocol: name?.string.map { InternetProtocol(rawValue: $0) },
            path: ItemText(attributes["path"]), securityDomain: ItemText(attributes["sdmn"]),
            authenticationType: ItemText(attributes["atyp"]))
        if let port, port != .integer(Int64(self.port)) { storedPort = port }
        if let name, name.string == nil, name != .integer(0) { storedProtocol = name }
    }
}

extension ItemAttributes {
    init(_ map: AttributeMap) {
        self.init(
            label: map["labl"]?.readableText, kind: map["desc"]?.readableText, comment: map["icmt"]?.readableText,
            generic: map["gena"].flatMap { if case .data(let bytes) = $0 { Data(bytes) } else { nil } })
    }
}

extension AttributeValue {
    /// Text, or bytes that are some: the keychain compares both alike.
    fileprivate var readableText: String? {
        if case .data(let bytes) = self { String(validating: bytes, as: UTF8.self) } else { string }
    }
}

extension AttributeMap {
    /// The epoch where none is known, as for an item of a damaged row.
    fileprivate func date(_ code: AttributeCode) -> Date {
        if case .date(let seconds) = self[code] { Date(timeIntervalSinceReferenceDate: seconds) } else { .distantPast }
    }
}
