/// What makes a password one: two items of a group never have the same address.
///
/// Nothing else counts for uniqueness, neither label nor `kSecAttrGeneric`.
public struct ItemAddress: Hashable, Sendable {
    /// A password of an application (`kSecClassGenericPassword`).
    public struct Generic: Hashable, Sendable {
        /// What the password is for (`kSecAttrService`).
        public var service: ItemText
        /// Whose it is (`kSecAttrAccount`).
        public var account: ItemText

        /// By service and account, which another program may have stored as bytes.
        public init(service: ItemText, account: ItemText) {
            self.service = service
            self.account = account
        }
    }

    /// A password for a server (`kSecClassInternetPassword`).
    public struct Internet: Hashable, Sendable {
        /// The host name or address (`kSecAttrServer`).
        public var server: ItemText
        /// Whose it is (`kSecAttrAccount`).
        public var account: ItemText
        /// 0 where none is named, and the nearest where another program stored a
        /// number that is no port.
        public var port: UInt16 { didSet { storedPort = nil } }
        /// nil where none is named, or another program stored a number.
        public var `protocol`: InternetProtocol? { didSet { storedProtocol = nil } }
        /// The path of the address, such as "/login" (`kSecAttrPath`).
        public var path: ItemText
        /// A realm.
        public var securityDomain: ItemText
        /// How the server authenticates: one of the
        /// `kSecAttrAuthenticationType…` texts (`kSecAttrAuthenticationType`).
        public var authenticationType: ItemText
        /// What another program stored in the place of a port, and is none.
        var storedPort: AttributeValue?
        /// What another program stored in the place of a protocol, and is no text.
        var storedProtocol: AttributeValue?
    }

    /// The two classes of password, each with the attributes that make one
    /// unique.
    public enum Form: Hashable, Sendable {
        /// A password of an application.
        case generic(Generic)
        /// A password for a server.
        case internet(Internet)
    }

    /// Class and attributes.
    public let form: Form

    /// The address with this class and these attributes.
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

    func isOfClass(of other: ItemAddress) -> Bool {
        switch (form, other.form) {
        case (.generic, .generic), (.internet, .internet): true
        case (.generic, .internet), (.internet, .generic): false
        }
    }

    /// The service, or the server.
    public var place: ItemText {
        switch form {
        case .generic(let address): address.service
        case .internet(let address): address.server
        }
    }

    /// Whose password it is (`kSecAttrAccount`).
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
    /// The four characters, blanks included.
    public let rawValue: String

    /// The protocol with these four characters, also one that has no name here.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Whether both have the same bytes.
    public static func == (a: InternetProtocol, b: InternetProtocol) -> Bool {
        a.rawValue.hasSameBytes(as: b.rawValue)
    }

    /// The opposite; the standard library's would compare as `String` does.
    public static func != (a: InternetProtocol, b: InternetProtocol) -> Bool { !(a == b) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }

    /// HTTP without encryption.
    public static let http = InternetProtocol(rawValue: "http")
    /// HTTP over TLS.
    public static let https = InternetProtocol(rawValue: "htps")
    /// File transfer without encryption.
    public static let ftp = InternetProtocol(rawValue: "ftp ")
    /// File transfer over TLS.
    public static let ftps = InternetProtocol(rawValue: "ftps")
    /// The secure shell.
    public static let ssh = InternetProtocol(rawValue: "ssh ")
    /// Windows file sharing.
    public static let smb = InternetProtocol(rawValue: "smb ")
    /// Mail by IMAP, without encryption.
    public static let imap = InternetProtocol(rawValue: "imap")
    /// Mail by IMAP over TLS.
    public static let imaps = InternetProtocol(rawValue: "imps")
    /// Sending of mail.
    public static let smtp = InternetProtocol(rawValue: "smtp")
    /// Mail by POP3.
    public static let pop3 = InternetProtocol(rawValue: "pop3")
    /// A directory by LDAP, without encryption.
    public static let ldap = InternetProtocol(rawValue: "ldap")
    /// A directory by LDAP over TLS.
    public static let ldaps = InternetProtocol(rawValue: "ldps")
}
