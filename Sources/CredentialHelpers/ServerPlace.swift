internal import KeychainModel

/// Where a credential is good: what git and docker know of a server.
struct ServerPlace: Sendable, Hashable {
    /// "https"; nil: none is said.
    let scheme: String?
    let server: ServerName
    /// nil: whatever the path.
    let path: String?

    /// The attributes of an internet password there; nil where there is no such item: no
    /// host, or a scheme that Apple has no code for.
    var attributes: [(AttributeCode, RawValue)]? {
        guard !server.host.isEmpty else { return nil }
        var attributes: [(AttributeCode, RawValue)] = [(.server, .string(server.host))]
        if let scheme {
            guard let code = ProtocolNames.codes[scheme] else { return nil }
            attributes.append(("ptcl", .string(code)))
        }
        if let port = server.port { attributes.append(("port", .integer(Int64(port)))) }
        if let path, !path.isEmpty { attributes.append(("path", .string(path))) }
        return attributes
    }

    /// As a URL: the service of a generic password, where there is no internet password.
    var address: String {
        let rest = Self.plain(path ?? "")
        return (scheme.map { "\($0)://" } ?? "") + server.text + (rest.isEmpty ? "" : "/\(rest)")
    }

    /// git says paths without the slash that Apple has in front of them.
    static func plain(_ path: String) -> Substring { path.first == "/" ? path.dropFirst() : path[...] }

    /// Whether two ports of a scheme are one: 443 of https is the one that is meant where
    /// none is said (RFC 9110, section 4.2.2; 80 of http, 4.2.1).
    static func isSamePort(_ one: UInt16?, _ other: UInt16?, scheme: String) -> Bool {
        let usual: [String: UInt16] = ["https": 443, "http": 80]
        return (one ?? usual[scheme] ?? 0) == (other ?? usual[scheme] ?? 0)
    }
}
