/// What makes a password one: two items of a group never have the same address.
///
/// Nothing else counts for uniqueness, neither label nor `kSecAttrGeneric`.
public struct ItemAddress: Hashable, Sendable {
    /// A password of an application (`kSecClassGenericPassword`).
    public struct Generic: Hashable, Sendable {
        public var service: ItemText
        public var account: ItemText
    }

    /// A password for a server (`kSecClassInternetPassword`).
    public struct Internet: Hashable, Sendable {
        public var server: ItemText
        public var account: ItemText
        /// 0 where none is named.
        public var port: UInt16
        /// nil where none is named.
        public var `protocol`: InternetProtocol?
        public var path: ItemText
        /// A realm.
        public var securityDomain: ItemText
        public var authenticationType: ItemText
    }

    public enum Form: Hashable, Sendable {
        case generic(Generic)
        case internet(Internet)
    }

    public let form: Form

    public init(_ form: Form) { self.form = form }

    /// A password of an application, by service and account.
    public static func password(service: String, account: String = "") -> ItemAddress {
        ItemAddress(.generic(Generic(service: ItemText(service), account: ItemText(account))))
    }

    /// A password for a server. What is not named is empty, and part of the address
    /// all the same: one with a port and one without are two items.
    public static func internetPassword(
        server: String, account: String = "", port: UInt16 = 0, protocol: InternetProtocol? = nil, path: String = "",
        securityDomain: String = "", authenticationType: String = ""
    ) -> ItemAddress {
        ItemAddress(
            .internet(
                Internet(
                    server: ItemText(server), account: ItemText(account), port: port, protocol: `protocol`,
                    path: ItemText(path), securityDomain: ItemText(securityDomain),
                    authenticationType: ItemText(authenticationType))))
    }

    /// The service, or the server.
    public var place: ItemText {
        switch form {
        case .generic(let address): address.service
        case .internet(let address): address.server
        }
    }

    public var account: ItemText {
        switch form {
        case .generic(let address): address.account
        case .internet(let address): address.account
        }
    }
}

/// The protocol that an internet password is for (kSecAttrProtocol…): four
/// characters.
public struct InternetProtocol: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let http = InternetProtocol(rawValue: "http")
    public static let https = InternetProtocol(rawValue: "htps")
    public static let ftp = InternetProtocol(rawValue: "ftp ")
    public static let ftps = InternetProtocol(rawValue: "ftps")
    public static let ssh = InternetProtocol(rawValue: "ssh ")
    public static let smb = InternetProtocol(rawValue: "smb ")
    public static let imap = InternetProtocol(rawValue: "imap")
    public static let imaps = InternetProtocol(rawValue: "imps")
    public static let smtp = InternetProtocol(rawValue: "smtp")
    public static let pop3 = InternetProtocol(rawValue: "pop3")
    public static let ldap = InternetProtocol(rawValue: "ldap")
    public static let ldaps = InternetProtocol(rawValue: "ldps")
}
