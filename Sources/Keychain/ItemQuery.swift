public import Foundation
internal import KeychainProtocol

/// Which passwords are meant: all conditions that are set must hold.
///
/// ```swift
/// var query = ItemQuery.passwords(service: "mail")
/// query.label = "at work"
/// for item in try store.items(query) { print(item.address.account) }
/// ```
public struct ItemQuery: Sendable, Hashable {
    private var kind: String
    /// By rising order of their keys, in whatever order they were set.
    private var conditions: [Condition] = []

    private struct Condition: Sendable, Hashable {
        let key: String
        let value: RawValue

        static func == (a: Condition, b: Condition) -> Bool { a.key == b.key && a.compared == b.compared }

        func hash(into hasher: inout Hasher) {
            hasher.combine(key)
            hasher.combine(compared)
        }

        /// Text and bytes are one to the keychain.
        private var compared: RawValue { ItemText(value).map { .data($0.bytes) } ?? value }
    }

    /// Passwords of applications, of every service: what vaults hold
    /// (``SecretVault``) is among them.
    public static func passwords() -> ItemQuery { ItemQuery(kind: "genp") }

    /// Passwords of applications, of one service (`kSecAttrService`).
    public static func passwords(service: String) -> ItemQuery {
        var query = passwords()
        query["svce"] = .string(service)
        return query
    }

    /// Passwords of applications, of one service and account: the one of each group.
    public static func passwords(service: String, account: String) -> ItemQuery {
        var query = passwords(service: service)
        query.account = ItemText(account)
        return query
    }

    /// Passwords for servers, all or of one.
    public static func internetPasswords() -> ItemQuery { ItemQuery(kind: "inet") }

    /// Passwords for servers, of one server (`kSecAttrServer`).
    public static func internetPasswords(server: String) -> ItemQuery {
        var query = internetPasswords()
        query["srvr"] = .string(server)
        return query
    }

    /// Passwords for servers, of one server and account, whatever their ports, protocols and
    /// paths.
    public static func internetPasswords(server: String, account: String) -> ItemQuery {
        var query = internetPasswords(server: server)
        query.account = ItemText(account)
        return query
    }

    private init(kind: String) { self.kind = kind }

    /// Only of this account (`kSecAttrAccount`): a literal, or `ItemText(name)`.
    public var account: ItemText? {
        get { self["acct"].flatMap { ItemText($0) } }
        set { self["acct"] = newValue?.raw }
    }

    /// Only with this title (`kSecAttrLabel`).
    public var label: String? {
        get { text("labl") }
        set { self["labl"] = newValue.map { .string($0) } }
    }

    /// Only with this comment (`kSecAttrComment`).
    public var comment: String? {
        get { text("icmt") }
        set { self["icmt"] = newValue.map { .string($0) } }
    }

    /// Only with this tag (`kSecAttrGeneric`); passwords of applications alone.
    public var generic: Data? {
        get { if case .data(let bytes) = self["gena"] { Data(bytes) } else { nil } }
        set { self["gena"] = newValue.map { .data(Array($0)) } }
    }

    /// Only of this class of protection (`kSecAttrAccessible`).
    public var accessible: ProtectionClass? {
        get { text("pdmn").flatMap { ProtectionClass(rawValue: $0) } }
        set { self["pdmn"] = newValue.map { .string($0.rawValue) } }
    }

    /// Of internet passwords alone.
    public var port: UInt16? {
        get { if case .integer(let number) = self["port"] { UInt16(exactly: number) } else { nil } }
        set { self["port"] = newValue.map { .integer(Int64($0)) } }
    }

    /// Of internet passwords alone.
    public var `protocol`: InternetProtocol? {
        get { text("ptcl").map { InternetProtocol(rawValue: $0) } }
        set { self["ptcl"] = newValue.map { .string($0.rawValue) } }
    }

    private subscript(key: String) -> RawValue? {
        get { conditions.first { $0.key == key }?.value }
        set {
            conditions.removeAll { $0.key == key }
            guard let newValue else { return }
            let place = conditions.firstIndex { $0.key > key } ?? conditions.endIndex
            conditions.insert(Condition(key: key, value: newValue), at: place)
        }
    }

    private func text(_ key: String) -> String? { if case .string(let text) = self[key] { text } else { nil } }

    /// Whether it is of one service or server.
    var namesPlace: Bool { self["svce"] != nil || self["srvr"] != nil }

    var query: [(String, RawValue)] { [("class", .string(kind))] + conditions.map { ($0.key, $0.value) } }
}

extension ItemText {
    fileprivate init?(_ raw: RawValue) {
        switch raw {
        case .string(let text): self.init(text)
        case .data(let bytes): self.init(bytes: bytes)
        case .integer(let number): self.init(AttributeValue.integer(number))
        case .real(let number): self.init(AttributeValue.real(number))
        default: return nil
        }
    }
}
