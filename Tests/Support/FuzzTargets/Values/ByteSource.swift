import KeychainModel

/// Reads values from bytes, so that every string of bytes says something; past
/// its end there are zeros. ``ByteSink`` writes what it reads.
struct ByteSource {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at >= bytes.count }

    var rest: [UInt8] { at < bytes.count ? Array(bytes[at...]) : [] }

    mutating func byte() -> UInt8 {
        guard at < bytes.count else { return 0 }
        defer { at += 1 }
        return bytes[at]
    }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func number() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

    mutating func real() -> Double { Double(bitPattern: number()) }

    mutating func string(of count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    /// One byte of length, then as many as there are.
    mutating func data() -> [UInt8] {
        let count = Int(byte())
        let end = min(bytes.count, at + count)
        defer { at = max(at, end) }
        return at < end ? Array(bytes[at..<end]) : []
    }

    mutating func text() -> String { String(decoding: data(), as: UTF8.self) }

    /// Two bytes of length, then the header; what is left is the tail.
    mutating func message() -> (header: [UInt8], tail: [UInt8]) {
        let count = Int(byte()) << 8 | Int(byte())
        let left = rest
        let split = min(count, left.count)
        return (Array(left[..<split]), Array(left[split...]))
    }

    mutating func choice<T>(of values: [T]) -> T { values[Int(byte()) % values.count] }
}

/// Writes what ``ByteSource`` reads.
struct ByteSink {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func number(_ value: UInt64) { bytes += AttributeValue.bigEndian(value) }

    mutating func data(_ value: [UInt8]) {
        let kept = value.prefix(255)
        bytes.append(UInt8(kept.count))
        bytes += kept
    }

    mutating func text(_ value: String) { data(Array(value.utf8)) }
    mutating func raw(_ value: [UInt8]) { bytes += value }

    static func message(_ header: [UInt8], _ tail: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: header.count >> 8), UInt8(truncatingIfNeeded: header.count)] + header + tail
    }
}
