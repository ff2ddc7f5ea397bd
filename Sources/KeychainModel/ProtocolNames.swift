/// Values of kSecAttrProtocol by the names that URLs have for them
/// (Constants+Protocol.swift of KeychainServices; a test compares them).
package enum ProtocolNames {
    package static let codes: [String: String] = [
        "ftp": "ftp ", "ftps": "ftps", "http": "http", "https": "htps", "irc": "irc ", "ircs": "ircs", "nntp": "nntp",
        "nntps": "ntps", "pop3": "pop3", "pop3s": "pops", "smtp": "smtp", "socks": "sox ", "imap": "imap",
        "imaps": "imps", "ldap": "ldap", "ldaps": "ldps", "afp": "afp ", "telnet": "teln", "telnets": "tels",
        "ssh": "ssh ", "smb": "smb ", "rtsp": "rtsp", "daap": "daap", "eppc": "eppc", "ipp": "ipp ",
        "http-proxy": "htpx", "https-proxy": "htsx", "ftp-proxy": "ftpx", "rtsp-proxy": "rtsx",
    ]

    package static func name(of code: String) -> String? { codes.first { $0.value == code }?.key }
}
