/// What a column holds and what it takes (spec section 2, "Kinds and coercion").
package enum AttributeKind: UInt8, Sendable, CaseIterable {
    /// String, Data or Number, kept in the type given; compared as bytes.
    case blob = 1
    /// Bytes; String becomes UTF-8, Number 4 bytes little-endian.
    case data = 2
    /// Text; Data is decoded as UTF-8.
    case string = 3
    /// A number; Bool becomes 0 or 1, decimal text a number, other text stays text.
    case number = 4
    case date = 5
    /// 20 bytes.
    case sha1 = 6
    /// 0 or 16 bytes.
    case uuid = 7
    /// One of the tags of ``ProtectionClass``.
    case access = 8
    /// A SecAccessControl object; a virtual column.
    case accessControl = 9
    /// Taken and dropped, in every class.
    case ignored = 10
    /// ``LookupAttributes`` in their encoding; a query matches what includes its own.
    case lookup = 11

    /// Columns in which text and data compare by their bytes.
    var comparesBytes: Bool {
        switch self {
        case .blob, .data, .string, .sha1, .uuid, .access, .lookup: true
        case .number, .date, .accessControl, .ignored: false
        }
    }
}
