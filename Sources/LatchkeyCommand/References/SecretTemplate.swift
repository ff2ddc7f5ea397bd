package import KeychainPlatform

/// A text with places for secrets: `{{ latchkey://SERVICE/ACCOUNT }}`, on one line.
/// `{{ latchkey:{{ }}` stands for two braces. Any other braces are the text's own.
package struct SecretTemplate: Sendable {
    package enum Piece: Sendable {
        case text(Range<Int>)
        case braces
        case secret(SecretReference)
    }

    package struct Flaw: Error, Hashable, Sendable {
        package enum Reason: Hashable, Sendable {
            case unclosed
            case notText
            case notReference(SecretReference.Flaw)
        }

        package let line: Int
        package let reason: Reason

        package var explanation: String {
            switch reason {
            case .unclosed: "the braces of a reference are not closed on its line"
            case .notText: "a reference is no text in UTF-8"
            case .notReference(let flaw): "what stands between the braces is no reference: \(flaw.explanation)"
            }
        }
    }

    package let source: SharedSecret
    package private(set) var pieces: [Piece] = []

    package var references: [SecretReference] {
        pieces.compactMap { if case .secret(let reference) = $0 { reference } else { nil } }
    }

    package init(_ source: SharedSecret) throws(Flaw) {
        self.source = source
        var textStart = 0
        var position = 0
        while let open = Self.firstBraces(source.bytes, from: position) {
            guard Self.isOurs(source.bytes, after: open + 2) else {
                position = open + 1
                continue
            }
            if open > textStart { pieces.append(.text(textStart..<open)) }
            let end = try append(placeholderAt: open)
            (position, textStart) = (end, end)
        }
        if textStart < source.bytes.count { pieces.append(.text(textStart..<source.bytes.count)) }
    }

    /// - Returns: where the text goes on.
    private mutating func append(placeholderAt open: Int) throws(Flaw) -> Int {
        let bytes = source
        // Of the one that is wrong alone: a long text has many.
        func flaw(_ reason: Flaw.Reason) -> Flaw {
            Flaw(line: 1 + bytes.bytes.count(of: UInt8(ascii: "\n"), in: 0..<open), reason: reason)
        }
        guard let close = Self.closing(bytes.bytes, after: open + 2) else { throw flaw(.unclosed) }
        guard let inner = Self.text(bytes.bytes, open + 2..<close) else { throw flaw(.notText) }
        if inner == "latchkey:{{" {
            pieces.append(.braces)
        } else {
            do throws(SecretReference.Flaw) {
                guard inner.hasPrefix(SecretReference.scheme) else { throw .otherScheme }
                pieces.append(.secret(try SecretReference(inner)))
            } catch {
                throw flaw(.notReference(error))
            }
        }
        return close + 2
    }

    private static func firstBraces(_ bytes: borrowing SecretBytes, from start: Int) -> Int? {
        pair(UInt8(ascii: "{"), bytes, in: start..<bytes.count)
    }

    /// Where two closing braces begin, before the end of the line.
    private static func closing(_ bytes: borrowing SecretBytes, after start: Int) -> Int? {
        let end = bytes.firstIndex(in: start..<bytes.count) { $0 == UInt8(ascii: "\n") } ?? bytes.count
        return pair(UInt8(ascii: "}"), bytes, in: start..<end)
    }

    private static func pair(_ byte: UInt8, _ bytes: borrowing SecretBytes, in range: Range<Int>) -> Int? {
        var position = range.lowerBound
        while let found = bytes.firstIndex(in: position..<max(position, range.upperBound), where: { $0 == byte }) {
            if found + 1 < range.upperBound, bytes[found + 1] == byte { return found }
            position = found + 1
        }
        return nil
    }

    /// Whether blanks and "latchkey:" follow.
    private static func isOurs(_ bytes: borrowing SecretBytes, after start: Int) -> Bool {
        let word = Array("latchkey:".utf8)
        let begin = bytes.firstIndex(in: start..<bytes.count) { $0 != 0x20 && $0 != 0x09 } ?? bytes.count
        guard begin + word.count <= bytes.count else { return false }
        for index in word.indices where bytes[begin + index] != word[index] { return false }
        return true
    }

    /// Without the blanks around it.
    private static func text(_ bytes: borrowing SecretBytes, _ range: Range<Int>) -> String? {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        let (first, last) = (start, end)
        return unsafe bytes.withUnsafeBytes { all in
            unsafe String(validating: UnsafeRawBufferPointer(rebasing: all[first..<last]), as: UTF8.self)
        }
    }

    /// The text with the secrets in their places, in the order of ``references``.
    package func filled(with secrets: [SharedSecret]) -> SecretBytes {
        precondition(secrets.count == references.count)
        var count = source.bytes.count
        for secret in secrets { count += secret.bytes.count }
        var writer = SecretWriter(byteCount: count)
        var next = secrets.makeIterator()
        for piece in pieces {
            switch piece {
            case .text(let range):
                unsafe source.bytes.withUnsafeBytes {
                    unsafe writer.append(UnsafeRawBufferPointer(rebasing: $0[range]))
                }
            case .braces: writer.append("{{")
            case .secret: if let secret = next.next() { writer.append(secret.bytes) }
            }
        }
        return writer.finish()
    }
}
