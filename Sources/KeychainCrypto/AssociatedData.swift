/// What a seal is bound to: fields in a fixed order, each with its length
/// (4 bytes big-endian) before it, so that no two lists of fields give the same
/// bytes (NIST SP 800-38D, section 5.2.1.1 for its place in GCM).
package struct AssociatedData: Sendable {
    package private(set) var bytes: [UInt8]

    /// `purpose` names the format and version of what is sealed.
    package init(_ purpose: StaticString) {
        bytes = []
        bytes.reserveCapacity(256)
        purpose.withUTF8Buffer { text in
            append(length: text.count)
            unsafe bytes.append(contentsOf: text)
        }
    }

    private mutating func append(length: Int) {
        unsafe withUnsafeBytes(of: UInt32(length).bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ field: [UInt8]) {
        append(length: field.count)
        bytes.append(contentsOf: field)
    }

    package mutating func append(_ text: String) {
        append(length: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func append(_ number: UInt64) {
        append(length: 8)
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
