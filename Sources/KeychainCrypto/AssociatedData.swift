/// What a seal is bound to: fields in a fixed order, each with its length
/// (4 bytes big-endian) before it, so that no two lists of fields give the same
/// bytes (NIST SP 800-38D, section 5.2.1.1 for its place in GCM).
package struct AssociatedData: Sendable {
    package private(set) var bytes: [UInt8]

    /// `purpose` names the format and version of what is sealed.
    package init(_ purpose: StaticString) {
        bytes = []
        bytes.reserveCapacity(160)
        append("\(purpose)")
    }

    package mutating func append(_ field: [UInt8]) {
        let count = UInt32(field.count)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
        bytes.append(contentsOf: field)
    }

    package mutating func append(_ text: String) { append(Array(text.utf8)) }

    package mutating func append(_ number: UInt64) {
        append((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) })
    }
}
