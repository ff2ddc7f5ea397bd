internal import struct FoundationEssentials.URLComponents

/// How a site is spoken to: the schemes that an internet password has a protocol for.
package enum SiteScheme: String, Sendable, CaseIterable {
    case http, https, ftp, ftps, ssh, sftp, smb, afp, telnet, telnets, imap, imaps, pop3, pop3s, smtp
    case ldap, ldaps, irc, ircs, nntp, nntps, ipp, rtsp, socks
}

/// The place in the network that an address names, in the parts that an
/// internet password has.
///
/// An address is one of a site where it has one of the schemes of ``SiteScheme``
/// and a host, or no scheme and a host that has a dot or is `localhost`
/// (`example.com/login`). Anything else (`androidapp://…`, a word) is a name.
package struct SiteAddress: Hashable, Sendable {
    /// nil: the address does not say.
    package let scheme: SiteScheme?
    /// As it is written, in lower case: who asks for the item asks so, and a decoded one
    /// (`xn--…`, `%2F`) may be another host.
    package let host: String
    /// nil: the scheme's own.
    package let port: Int?
    /// Percent-encoded as written; empty for the root.
    package let path: String
    /// Whether user, query, fragment and a port that is none are absent: what the parts
    /// do not keep.
    let isWhole: Bool

    /// Blanks around it count for nothing.
    package init?(_ written: String) {
        let text = written.trimmed
        let named = URLComponents(string: text)
        if let named, let scheme = named.scheme.flatMap({ SiteScheme(rawValue: $0.lowercased()) }) {
            self.init(scheme, named, text)
        } else if !text.contains("://"), let bare = URLComponents(string: "//" + text), bare.user == nil,
            Self.isHostName(Self.writtenHost("//" + text))
        {
            self.init(nil, bare, "//" + text)
        } else {
            return nil
        }
    }

    private init?(_ scheme: SiteScheme?, _ parts: URLComponents, _ text: String) {
        let host = Self.writtenHost(text)
        guard parts.host?.isEmpty == false, !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        let isPort = parts.port.map { (1...65535).contains($0) } ?? !Self.namesPort(text)
        switch (scheme, parts.port) {
        case (.http, 80), (.https, 443): port = nil
        default: port = isPort ? parts.port : nil
        }
        path = parts.percentEncodedPath == "/" ? "" : parts.percentEncodedPath
        isWhole =
            isPort && parts.user == nil && parts.password == nil && parts.query == nil && parts.fragment == nil
    }

    /// What stands between the two slashes and the path, without a user: host and port.
    private static func authority(_ text: String) -> ArraySlice<UInt8> {
        let bytes = Array(text.utf8)
        guard let slash = bytes.indices.dropLast().first(where: { bytes[$0] == 0x2F && bytes[$0 + 1] == 0x2F }) else {
            return []
        }
        let whole = bytes[(slash + 2)...].prefix { $0 != 0x2F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return whole.lastIndex(of: UInt8(ascii: "@")).map { whole[($0 + 1)...] } ?? whole
    }

    /// Where in it the colon before a port stands: one in an address of IPv6 is none.
    private static func portColon(_ authority: ArraySlice<UInt8>) -> Int? {
        authority.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            authority[colon...].contains(UInt8(ascii: "]")) ? nil : colon
        }
    }

    private static func writtenHost(_ text: String) -> String {
        let authority = authority(text)
        return String(decoding: authority[..<(portColon(authority) ?? authority.endIndex)], as: UTF8.self)
    }

    /// Whether digits stand behind the host, as a number that is too large for one.
    private static func namesPort(_ text: String) -> Bool {
        let authority = authority(text)
        return portColon(authority).map { $0 + 1 < authority.endIndex } ?? false
    }

    private static func isHostName(_ host: String) -> Bool {
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "%") }) else { return false }
        return host == "localhost" || host.hasPrefix("[")
            || (host.contains(".") && !host.hasPrefix(".") && !host.hasSuffix("."))
    }

    /// Whether an address loses nothing by being taken apart (a name never does).
    static func keepsWhole(_ text: String) -> Bool { SiteAddress(text)?.isWhole ?? true }

    /// Host, port and path, as a service is named after them.
    package var name: String { host + (port.map { ":\($0)" } ?? "") + path }
}
