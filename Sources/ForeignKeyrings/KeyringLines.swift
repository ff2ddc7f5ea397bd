package import KeychainPlatform

/// What is read out of another keyring, as lines of JSON (FORMATS.md, "Items of another
/// keyring"). Each is written at once, so that no more than one value is kept.
/// What cannot be written any more is told at the end.
package struct KeyringLines {
    private let output: StandardStream
    private var count = 0
    private var failure: SystemCallError?

    package static let version = 1

    package init(to output: StandardStream) { self.output = output }

    mutating func begin(_ provider: String) {
        write(Line().member("latchkey-keyring", Self.version).member("provider", provider))
    }

    mutating func collection(_ name: String, _ label: String, isDefault: Bool) {
        write(Line().member("collection", name).member("label", label).member("isDefault", isDefault))
    }

    mutating func item(_ item: ForeignItem) {
        count += 1
        let line = Line().member("item", item.name).member("in", item.collection).member("label", item.label)
            .member("attributes", item.attributes).member("created", item.created).member("modified", item.modified)
            .member("contentType", item.contentType)
        write(line, value: item.value)
    }

    mutating func entry(_ entry: WalletEntry) {
        count += 1
        let line = Line().member("entry", entry.name).member("folder", entry.folder).member("wallet", entry.wallet)
            .member("kind", entry.kind.rawValue)
        write(line, value: entry.value)
    }

    /// Something that is left out, because it cannot be read.
    mutating func flaw(_ place: String, _ reason: String) {
        write(Line().member("flaw", place).member("reason", reason))
    }

    /// What is left out on purpose, and how much of it.
    mutating func leftOut(_ what: String, _ count: Int, why: String) {
        write(Line().member("leftOut", what).member("count", count).member("why", why))
    }

    mutating func end() throws(ReadingFailure) {
        write(Line().member("end", count))
        guard let failure else { return }
        throw ReadingFailure("what was read cannot be written (\(failure))", "Start it by `latchkey import --from`.")
    }

    package mutating func fail(_ failure: ReadingFailure) {
        write(Line().member("failure", failure.message).member("advice", failure.advice))
    }

    private mutating func write(_ line: Line, value: SharedSecret? = nil) {
        guard failure == nil else { return }
        let text = line.text
        var writer = SecretWriter(byteCount: text.utf8.count + 16 + ((value?.bytes.count ?? 0) + 2) / 3 * 4)
        writer.append(text)
        if let value {
            writer.append(",\"value\":\"")
            writer.appendBase64(value.bytes)
            writer.append("\"")
        }
        writer.append("}\n")
        do throws(SystemCallError) { try output.write(writer.finish()) } catch { failure = error }
    }
}

/// An object without its end, and without a value: names and dates alone.
private struct Line {
    private(set) var text = "{"

    func member(_ name: String, _ value: String) -> Line { adding(name, Self.quoted(value)) }
    func member(_ name: String, _ value: Int) -> Line { adding(name, "\(value)") }
    func member(_ name: String, _ value: UInt64?) -> Line { value.map { adding(name, "\($0)") } ?? self }
    func member(_ name: String, _ value: Bool) -> Line { adding(name, value ? "true" : "false") }

    func member(_ name: String, _ pairs: [(name: String, value: String)]) -> Line {
        adding(
            name, "[" + pairs.map { "[\(Self.quoted($0.name)),\(Self.quoted($0.value))]" }.joined(separator: ",") + "]")
    }

    private func adding(_ name: String, _ value: String) -> Line {
        var copy = self
        copy.text += (text.utf8.count == 1 ? "" : ",") + "\"\(name)\":\(value)"
        return copy
    }

    private static func quoted(_ text: String) -> String {
        let bytes = SecretBytes(copying: Array(text.utf8))
        var writer = SecretWriter(byteCount: SecretWriter.jsonCount(bytes) + 2)
        writer.append("\"")
        writer.appendJSON(bytes)
        writer.append("\"")
        return String(decoding: writer.finish().insecureArray(), as: UTF8.self)
    }
}
