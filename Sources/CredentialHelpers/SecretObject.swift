internal import KeychainModel
package import KeychainPlatform

/// A JSON object (RFC 8259) with secrets in it, put together in memory that is wiped.
package struct SecretObject {
    package indirect enum Value {
        case text(String)
        case number(Int)
        case object([(String, Value)])
        /// Text in UTF-8; ``SecretObject/init(_:)`` refuses any other.
        case secret(SharedSecret)
    }

    private let members: [(String, Value)]

    /// nil where a secret is no text: JSON has no other strings.
    package init?(_ members: [(String, Value)]) {
        guard members.allSatisfy({ Self.isText($0.1) }) else { return nil }
        self.members = members
    }

    private static func isText(_ value: Value) -> Bool {
        switch value {
        case .text, .number: true
        case .object(let members): members.allSatisfy { isText($0.1) }
        case .secret(let secret): secret.bytes.isUTF8
        }
    }

    /// On one line, with a newline.
    package var line: SecretBytes {
        var writer = SecretWriter(byteCount: Self.count(.object(members)) + 1)
        Self.append(.object(members), to: &writer)
        writer.append("\n")
        return writer.finish()
    }

    private static func count(_ value: Value) -> Int {
        switch value {
        case .text(let text): return JSONText.quoted(text).utf8.count
        case .number(let number): return "\(number)".utf8.count
        case .secret(let secret): return SecretWriter.jsonCount(secret.bytes) + 2
        case .object(let members):
            // A colon behind each name, a comma or a brace behind each value.
            return members.reduce(2) { $0 + JSONText.quoted($1.0).utf8.count + count($1.1) + 2 }
        }
    }

    private static func append(_ value: Value, to writer: inout SecretWriter) {
        switch value {
        case .text(let text): writer.append(JSONText.quoted(text))
        case .number(let number): writer.append("\(number)")
        case .secret(let secret):
            writer.append("\"")
            writer.appendJSON(secret.bytes)
            writer.append("\"")
        case .object(let members):
            for (index, (name, value)) in members.enumerated() {
                writer.append((index == 0 ? "{" : ",") + JSONText.quoted(name) + ":")
                append(value, to: &writer)
            }
            writer.append(members.isEmpty ? "{}" : "}")
        }
    }
}
