/// What becomes of a field of a source.
package enum FieldDestination: Hashable, Sendable {
    case value
    case account
    case label
    /// Server, port, path and protocol; or the service where it is no address of a site.
    case address
    case note
    case oneTimeSecret
    case securityDomain
    case folder
    case creationDate
    case modificationDate
    /// By which programs of the Secret Service find an item.
    case lookupAttributes
    case contentType
    /// Which access group it is.
    case group
    case attachment
    /// Decides how the entry is read.
    case kind
    case notStored(why: String)
}

/// Every field of a source that held something, and where it went: nothing is
/// dropped without a line here.
package struct FieldLedger: Sendable {
    package struct Row: Sendable, Hashable {
        package let field: String
        package let destination: FieldDestination
        package internal(set) var count: Int
    }

    private struct Key: Hashable {
        let field: String
        let destination: FieldDestination
    }

    package private(set) var rows: [Row] = []
    private var index: [Key: Int] = [:]

    package init() {}

    package mutating func note(_ field: String, _ destination: FieldDestination) {
        let key = Key(field: field, destination: destination)
        if let at = index[key] {
            rows[at].count += 1
        } else {
            index[key] = rows.count
            rows.append(Row(field: field, destination: destination, count: 1))
        }
    }
}
