/// Sizes in bytes above which an item is refused whole (decisions.md).
package enum ItemLimit {
    package static let value = 64 << 20
    static let attribute = 64 << 10
    static let attributes = 1 << 20

    /// - Throws: `errSecDataTooLarge`, which names what is too large.
    package static func check(valueByteCount: Int, _ maps: AttributeMap...) throws(KeychainError) {
        try check("the value", valueByteCount, value)
        var total = 0
        for map in maps {
            for (code, attribute) in map.entries {
                try check(
                    Schema.anywhere(code).map { "kSecAttr\($0.name)" } ?? "\(code)", attribute.byteCount,
                    ItemLimit.attribute)
                total += attribute.byteCount
            }
        }
        try check("all attributes together", total, attributes)
    }

    private static func check(_ what: @autoclosure () -> String, _ size: Int, _ limit: Int) throws(KeychainError) {
        guard size <= limit else {
            throw KeychainError(.dataTooLarge, reason: .tooLarge(what: what(), limit: limit, size: size))
        }
    }
}
