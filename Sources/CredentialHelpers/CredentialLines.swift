package import KeychainPlatform

/// Lines `key=value` as git writes and reads them, up to a blank line or the end
/// (git-credential(1), "INPUT/OUTPUT FORMAT"). The values stay in secret memory.
///
/// A line may end with CR LF, as git itself reads them (credential.c of git 2.30,
/// strbuf_getline): a CR before the LF belongs to no value.
package struct CredentialLines: Sendable {
    /// What is wrong with a line, by its number from 1; never what stands in it.
    package enum Flaw: Error, Hashable, Sendable {
        case noEquals(line: Int)
        case tooLong(line: Int)
        /// git ends its texts there.
        case nul(line: Int)
        case notText(key: String)
        case tooManyBytes

        package var explanation: String {
            switch self {
            case .noEquals(let line): "line \(line) of the input is no key=value"
            case .tooLong(let line): "line \(line) of the input is longer than \(CredentialLines.longestLine) bytes"
            case .nul(let line): "line \(line) of the input has a byte 0"
            case .notText(let key): "the value of \(key) is no text in UTF-8"
            case .tooManyBytes: "the input is longer than \(CredentialLines.mostBytes) bytes"
            }
        }
    }

    private struct Entry: Sendable {
        let key: String
        let value: Range<Int>
    }

    /// Ours; git names no limit for what it sends.
    package static let longestLine = 1 << 20
    package static let mostBytes = 4 << 20

    private let source: SharedSecret
    private var entries: [Entry] = []

    package init(_ bytes: SharedSecret) throws(Flaw) {
        guard bytes.bytes.count <= Self.mostBytes else { throw .tooManyBytes }
        source = bytes
        var start = 0
        var number = 1
        while start < bytes.bytes.count {
            let end = bytes.bytes.firstIndex(in: start..<bytes.bytes.count) { $0 == UInt8(ascii: "\n") }
            let next = end ?? bytes.bytes.count
            let hasReturn = end != nil && next > start && bytes.bytes[next - 1] == UInt8(ascii: "\r")
            let line = start..<(hasReturn ? next - 1 : next)
            if line.isEmpty { return }
            entries.append(try Self.entry(bytes.bytes, line, number))
            start = next + 1
            number += 1
        }
    }

    private static func entry(
        _ bytes: borrowing SecretBytes, _ line: Range<Int>, _ number: Int
    ) throws(Flaw) -> Entry {
        guard line.count <= longestLine else { throw .tooLong(line: number) }
        guard bytes.count(of: 0, in: line) == 0 else { throw .nul(line: number) }
        guard let equals = bytes.firstIndex(in: line, where: { $0 == UInt8(ascii: "=") }),
            let key = text(bytes, line.lowerBound..<equals)
        else { throw .noEquals(line: number) }
        return Entry(key: key, value: equals + 1..<line.upperBound)
    }

    private static func text(_ bytes: borrowing SecretBytes, _ range: Range<Int>) -> String? {
        unsafe bytes.withUnsafeBytes { all in
            unsafe String(validating: UnsafeRawBufferPointer(rebasing: all[range]), as: UTF8.self)
        }
    }

    /// The last value of a key, as text; nil where the key is not there.
    func text(_ key: String) throws(Flaw) -> String? {
        guard let entry = last(key) else { return nil }
        guard let text = Self.text(source.bytes, entry.value) else { throw .notText(key: key) }
        return text
    }

    /// The last value of a key, whatever its bytes.
    func secret(_ key: String) -> SharedSecret? {
        last(key).map { SharedSecret(source.bytes.copy($0.value)) }
    }

    /// The values of a key that may stand several times, `key[]`; an empty one takes back
    /// those before it (git-credential(1)).
    func list(_ key: String) throws(Flaw) -> [String] {
        var values: [String] = []
        for entry in entries where entry.key == "\(key)[]" {
            guard let text = Self.text(source.bytes, entry.value) else { throw .notText(key: key) }
            if text.isEmpty { values = [] } else { values.append(text) }
        }
        return values
    }

    private func last(_ key: String) -> Entry? { entries.last { $0.key == key } }
}
