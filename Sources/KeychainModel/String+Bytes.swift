extension String {
    /// Whether both have the same UTF-8 bytes. Swift's own `==` joins what Unicode
    /// calls equivalent ("é" and "e" with an accent), which the keychain keeps apart.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var mine = self
        var theirs = other
        return mine.withUTF8 { one in
            theirs.withUTF8 { two in unsafe Self.areEqual(one, two) }
        }
    }

    /// - Precondition: of one length.
    private static func areEqual(_ one: UnsafeBufferPointer<UInt8>, _ two: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<one.count where unsafe one[index] != two[index] { return false }
        return true
    }
}
