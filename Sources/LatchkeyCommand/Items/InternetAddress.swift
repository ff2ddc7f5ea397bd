internal import KeychainModel
internal import SecretServiceItems

/// A server as a person types it, `HOST`, `HOST:PORT` or `https://HOST:PORT/PATH`, in the
/// parts that an internet password has. `import` takes addresses apart in the same way:
/// the host in small letters, no port where it is the protocol's own, no path for the root.
struct InternetAddress: Sendable, Hashable {
    enum Flaw: Error, Hashable, Sendable {
        case badCharacter
        case unknownProtocol
        case hasUser
        case hasQuestion
        case noHost
        case badPort
        case bareIPv6

        var explanation: String {
            switch self {
            case .badCharacter: "it has a blank or a control character"
            case .unknownProtocol: "internet passwords have no such protocol"
            case .hasUser: "it has a user in it, who is a word of its own: SERVER ACCOUNT"
            case .hasQuestion: "it has a ? or a #, which no item keeps"
            case .noHost: "it names no host"
            case .badPort: "what follows the colon is no port"
            case .bareIPv6: "an address of IPv6 stands in brackets: [::1]:8443"
            }
        }
    }

    let host: String
    /// What it says beside the host.
    let parts: ItemParts
    /// Whether it says of these where they are: a URL names a place wholly, without a port that
    /// of its protocol and without a path the root.
    let saysPort: Bool
    let saysPath: Bool

    init(_ text: String) throws(Flaw) {
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else { throw .badCharacter }
        guard !text.contains(where: { $0 == "?" || $0 == "#" }) else { throw .hasQuestion }
        let address = ServerAddress(text)
        let scheme = address.scheme?.lowercased()
        guard scheme.map({ ItemParts.code(of: $0) != nil }) ?? true else { throw .unknownProtocol }
        // A number's parser takes a sign and zeros in front, too.
        guard text.hasSuffix(address.name.text + (address.path ?? "")) else { throw .badPort }
        host = try Self.host(of: address.name)
        saysPort = scheme != nil || address.name.port != nil
        saysPath = scheme != nil || address.path != nil
        let port = address.name.port == ItemParts.usualPort(of: scheme) ? nil : address.name.port
        parts = ItemParts(port: port, path: address.path == "/" ? nil : address.path, protocolName: scheme)
    }

    private static func host(of name: ServerName) throws(Flaw) -> String {
        let host = name.host.lowercased()
        guard !host.contains("@") else { throw .hasUser }
        guard !host.isEmpty else { throw .noHost }
        guard name.port != 0 else { throw .badPort }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = host.dropFirst().dropLast()
            guard inner.contains(":"), inner.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                throw .noHost
            }
            return host
        }
        guard !host.contains(":") else {
            throw host.hasPrefix("[") || host.count(where: { $0 == ":" }) == 1 ? .badPort : .bareIPv6
        }
        return host
    }

    /// As an argument has it; what it says is not repeated, because people paste passwords into addresses.
    static func read(_ text: String) throws(CommandFailure) -> InternetAddress {
        do throws(Flaw) { return try InternetAddress(text) } catch {
            throw CommandFailure(
                .usage, "that is no server: \(error.explanation)",
                "Write HOST, HOST:PORT or https://HOST:PORT/PATH, and the account as a word of its own.")
        }
    }

    /// nil: it is a name and no address.
    static func parsed(_ text: String) -> InternetAddress? {
        do throws(Flaw) { return try InternetAddress(text) } catch { return nil }
    }

    /// The attributes of an item there, the server's name among them.
    var attributes: [AttributeCode: RawValue] {
        var attributes: [AttributeCode: RawValue] = [.server: .string(host)]
        if let code = parts.protocolName.flatMap(ItemParts.code) { attributes[.protocol] = .string(code) }
        if let port = parts.port { attributes[.port] = .integer(Int64(port)) }
        if let path = parts.path { attributes[.path] = .string(path) }
        return attributes
    }

    /// As a message names it.
    var name: String {
        (parts.protocolName.map { "\($0)://" } ?? "") + ServerName(host: host, port: parts.port).text
            + (parts.path ?? "")
    }
}
