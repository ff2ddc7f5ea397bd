/// Values of kSecAttrProtocol by the names that URLs have for them
/// (Constants+Protocol.swift of KeychainServices; a test compares them).
enum ProtocolNames {
    static let codes: [String: String] = [
        "ftp": "ftp ", "ftps": "ftps", "http": "http", "https": "htps", "irc": "irc ", "ircs": "ircs", "nntp": "nntp",
        "nntps": "ntps", "pop3": "pop3", "pop3s": "pops", "smtp": "smtp", "socks": "sox ", "imap": "imap",
        "imaps": "imps", "ldap": "ldap", "ldaps": "ldps", "afp": "afp ", "telnet": "teln", "telnets": "tels",
        "ssh": "ssh ", "smb": "smb ", "rtsp": "rtsp", "daap": "daap", "eppc": "eppc", "ipp": "ipp ",
        "http-proxy": "htpx", "https-proxy": "htsx", "ftp-proxy": "ftpx", "rtsp-proxy": "rtsx",
    ]

    static func name(of code: String) -> String? { codes.first { $0.value == code }?.key }
}

extension LatchkeyProgram {
    /// For the test that compares them with the constants of KeychainServices.
    package static var protocolCodes: [String] { Array(ProtocolNames.codes.values) }
}
