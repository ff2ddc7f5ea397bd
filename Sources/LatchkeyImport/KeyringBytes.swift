internal import KeychainPlatform

/// Reads numbers and strings as gnome-keyring's files and QDataStream have them:
/// big-endian, strings behind their length. Nothing is reserved by a length that is read.
struct KeyringBytes {
    /// What is not there, or not as it must be.
    struct Malformed: Error {}

    let content: SharedSecret
    private(set) var position: Int
    private let end: Int

    init(_ content: SharedSecret, _ range: Range<Int>) {
        (self.content, position, end) = (content, range.lowerBound, range.upperBound)
    }

    init(_ content: SharedSecret) { self.init(content, 0..<content.bytes.count) }

    var left: Int { end - position }

    mutating func take(_ count: Int) throws(Malformed) -> Range<Int> {
        guard count >= 0, count <= left else { throw Malformed() }
        defer { position += count }
        return position..<position + count
    }

    mutating func byte() throws(Malformed) -> UInt8 { content.bytes[try take(1).lowerBound] }

    mutating func uint32() throws(Malformed) -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32(content.bytes[$1]) }
    }

    mutating func uint64() throws(Malformed) -> UInt64 {
        let high = try uint32()
        return UInt64(high) << 32 | UInt64(try uint32())
    }

    /// Bytes behind their length; nil for none, whose length is all ones.
    mutating func bytes() throws(Malformed) -> Range<Int>? {
        let count = try uint32()
        return count == .max ? nil : try take(Int(count))
    }

    /// What is no secret; nil for none.
    mutating func text() throws(Malformed) -> String? {
        guard let range = try bytes() else { return nil }
        guard let text = String(validating: range.map { content.bytes[$0] }, as: UTF8.self) else { throw Malformed() }
        return text
    }
}
