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

    /// Feeds the bytes by which ``hasSameBytes(as:)`` compares.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        // So that texts one after the other do not run together.
        hasher.combine(utf8.count)
    }

    /// Whether its UTF-8 bytes come before the other's: an order in which no two texts
    /// are one, unlike that of Swift's `<`.
    package func comesBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// nil for bytes that are not UTF-8. (`String(validating:as:)` is not specialized: it looks
    /// types up each time.)
    package init?(validUTF8 bytes: ArraySlice<UInt8>) {
        do { self.init(copying: try UTF8Span(validating: bytes.span)) } catch { return nil }
    }

    /// No more than so many Unicode scalars of it.
    package func cut(toScalars most: Int) -> String {
        // No text has more scalars than bytes: hardly any has to be counted.
        guard utf8.count > most else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
    }

    /// - Precondition: of one length.
    private static func areEqual(_ one: UnsafeBufferPointer<UInt8>, _ two: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<one.count where unsafe one[index] != two[index] { return false }
        return true
    }
}

extension ArraySlice<UInt8> {
    var isUTF8: Bool {
        do { _ = try UTF8Span(validating: span) } catch { return false }
        return true
    }
}

extension String? {
    /// The same of texts that may be absent.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (let mine?, let theirs?): mine.hasSameBytes(as: theirs)
        case (nil, nil): true
        case (nil, _?), (_?, nil): false
        }
    }
}
