internal import Glibc

/// A path as the kernel has it: bytes, of which not all need be text.
package struct FilePath: Hashable, Sendable {
    /// Without the closing zero; holds none.
    package let bytes: [UInt8]

    /// - Precondition: no byte is zero (a path from the kernel never holds one).
    package init(bytes: [UInt8]) {
        precondition(!bytes.contains(0), "a path ends at its first zero byte")
        self.bytes = bytes
    }

    package init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// The path as text, or nil where it is not UTF-8 or holds control characters.
    package var printable: String? {
        guard let text = String(validating: bytes, as: UTF8.self), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return text
    }

    /// Without symbolic links; nil where nothing is there.
    package var resolved: FilePath? {
        guard let found = unsafe withCString({ unsafe realpath($0, nil) }) else { return nil }
        defer { unsafe free(found) }
        return FilePath(
            bytes: unsafe Array(UnsafeBufferPointer(start: found, count: strlen(found))).map { UInt8(bitPattern: $0) })
    }

    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// What follows the last slash.
    package var name: ArraySlice<UInt8> {
        bytes.lastIndex(of: Self.slash).map { bytes[($0 + 1)...] } ?? bytes[...]
    }

    /// The folder that holds it, or nil for a root and for a bare name.
    package var folder: FilePath? {
        guard let slash = bytes.lastIndex(of: Self.slash), bytes.count > 1 else { return nil }
        return FilePath(bytes: slash == 0 ? [Self.slash] : Array(bytes[..<slash]))
    }

    package func appending(_ name: String) -> FilePath {
        FilePath(bytes: (bytes == [Self.slash] ? bytes : bytes + [Self.slash]) + Array(name.utf8))
    }

    package static let slash = UInt8(ascii: "/")

    func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for (index, byte) in bytes.enumerated() {
                unsafe buffer.initializeElement(at: index, to: CChar(bitPattern: byte))
            }
            unsafe buffer.initializeElement(at: bytes.count, to: 0)
            return unsafe body(UnsafePointer(buffer.baseAddress!))
        }
    }
}
