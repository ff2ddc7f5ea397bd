package import KeychainPlatform
package import LatchkeyImport

/// What `docker-credential-latchkey store` reads (docker-credential-helpers, README,
/// "Development"; credentials/credentials.go, Credentials).
package struct DockerCredentialRequest: Sendable {
    package enum Flaw: Error, Hashable, Sendable {
        case notJSON(line: Int)
        case tooLong
        case notText
        case noServer
        case noUsername
        case noSecret
        /// A number, say: what is meant is not guessed.
        case notString(member: String)

        /// Of server and username in docker's own words (credentials/error.go), which its client
        /// compares.
        package var explanation: String {
            switch self {
            case .notJSON(let line): "line \(line) of the input is no JSON"
            case .tooLong: "the input is longer than \(DockerCredentialRequest.mostBytes) bytes"
            case .notText: "the input is no text in UTF-8"
            case .noServer: "no credentials server URL"
            case .noUsername: "no credentials username"
            case .noSecret: "no credentials secret"
            case .notString(let name): "the input's \(name) is no string"
            }
        }
    }

    /// Ours; docker names none.
    package static let mostBytes = 1 << 20

    let server: DockerServer
    let username: String
    let secret: SharedSecret

    package init(_ input: SourceText) throws(Flaw) {
        let node: JSONNode
        do throws(JSONNode.Flaw) { node = try JSONNode.parse(input) } catch { throw .notJSON(line: error.line) }
        // As the helpers of docker read it: a name that fits but for its case is that name too, the last
        // of several counts, null changes nothing, and what is no string is refused (Go, encoding/json,
        // Unmarshal).
        func member(_ name: String) throws(Flaw) -> SecretText? {
            var text: SecretText?
            for member in node.members where member.name.lowercased() == name.lowercased() {
                switch member.value {
                case .string(let slice): text = SecretText(slice)
                case .null: continue
                case .number, .bool, .array, .object: throw .notString(member: name)
                }
            }
            return text
        }
        username = try member("Username")?.text ?? ""
        server = try Self.server(named: try member("ServerURL")?.text ?? "")
        guard !username.isEmpty else { throw .noUsername }
        guard let text = try member("Secret") else { throw .noSecret }
        secret = SharedSecret(text.secret())
    }

    /// The server that `get` and `erase` read, between blanks.
    package static func server(_ input: borrowing SecretBytes) throws(Flaw) -> DockerServer {
        guard input.count <= mostBytes else { throw .tooLong }
        let text = unsafe input.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        guard let text else { throw .notText }
        return try server(named: text)
    }

    private static func server(named text: String) throws(Flaw) -> DockerServer {
        var url = text[...]
        while url.first?.isWhitespace == true { url.removeFirst() }
        while url.last?.isWhitespace == true { url.removeLast() }
        guard !url.isEmpty else { throw .noServer }
        return DockerServer(String(url))
    }
}
