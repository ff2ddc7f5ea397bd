internal import Foundation
internal import GRDB
internal import KeychainModel

/// A SELECT made from a query: conditions on blind and clear columns, rows in
/// rowid order. The statement text depends only on which columns are asked for,
/// so it is prepared once and cached.
package struct Selection: Sendable {
    package let sql: String
    let arguments: [SelectionArgument]
    /// Which of them are blind lookup attributes; the first of those is what rows are
    /// looked up by.
    let lookups: Range<Int>
    let itemClass: ItemClass
    /// The query cannot match any row (a value its column cannot hold).
    package let isImpossible: Bool

    /// - Parameter rowid: rows up to that one are left out; nil: none.
    package init(_ authorized: AuthorizedQuery, blind: BlindIndex, withSecrets: Bool, after rowid: Int64? = nil) {
        let query = authorized.query
        let lookup = query.attributes.lookup ?? .none
        var builder = ConditionBuilder(
            authorized.itemClass, blind, withSecrets: withSecrets, byLookup: !lookup.isEmpty)
        builder.add(reference: query.reference)
        builder.add(reach: authorized.reach)
        builder.add(attributes: query.attributes)
        builder.add(lookups: lookup)
        builder.add(synchronizable: query.synchronizable, byReference: query.reference != nil)
        if query.attributes[.tombstone] == nil { builder.condition("tomb = 0") }
        if let rowid { builder.add(after: rowid) }
        builder.sql += " ORDER BY " + builder.number
        sql = builder.sql
        arguments = builder.arguments
        lookups = builder.lookups
        itemClass = query.itemClass
        isImpossible = builder.isImpossible
    }
}

extension SelectionArgument {
    var databaseValue: DatabaseValue {
        switch self {
        case .blob(let bytes): Data(bytes).databaseValue
        case .number(let number): number.databaseValue
        case .text(let text): text.databaseValue
        }
    }
}

private struct ConditionBuilder {
    let schema: Schema
    let blind: BlindIndex
    var sql: String
    var arguments: [SelectionArgument] = []
    var lookups = 0..<0
    var isImpossible = false
    private var isFirst = true
    private var isPaired = false
    /// What the number of a row is called in this statement.
    let number: String

    init(_ itemClass: ItemClass, _ blind: BlindIndex, withSecrets: Bool, byLookup: Bool) {
        schema = Schema.of(itemClass)
        self.blind = blind
        let text = StatementText.of(itemClass)
        number = byLookup ? "first.item" : "rowid"
        sql =
            byLookup
            ? withSecrets ? text.selectByLookupWithSecrets : text.selectByLookup
            : withSecrets ? text.selectWithSecrets : text.select
        sql.reserveCapacity(512)
        arguments.reserveCapacity(8)
    }

    /// Begins the next condition.
    mutating func condition(_ text: String) {
        sql += isFirst ? " WHERE " : " AND "
        sql += text
        isFirst = false
    }

    mutating func add(reference: PersistentReference?) {
        switch reference?.target {
        case .identifier(let identifier): add("persistref = ?", .blob(identifier))
        case .row(let row): add(number + " = ?", .number(row))
        case nil: break
        }
    }

    private mutating func add(_ text: String, _ argument: SelectionArgument) {
        condition(text)
        arguments.append(argument)
    }

    mutating func add(after rowid: Int64) { add(number + " > ?", .number(rowid)) }

    mutating func add(reach: AuthorizedQuery.Reach) {
        guard case .only(let groups) = reach else { return }
        condition("b_agrp IN (")
        let values = groups.compactMap { blind.blind($0, in: schema.itemClass) }
        for (index, value) in values.enumerated() {
            sql += index == 0 ? "?" : ", ?"
            arguments.append(.blob(value))
        }
        sql += ")"
    }

    mutating func add(attributes: AttributeMap) {
        let pair = StoreSchema.pair(of: schema.itemClass)
        addPair(of: attributes)
        for (code, value) in attributes.entries {
            // The pair's own columns say nothing more, and the opened attributes
            // are compared in any case.
            if isPaired, let pair, code == pair.0 || code == pair.1 { continue }
            if code != .lookup { add(code, value) }
        }
    }

    /// No subset of the attributes has an index of its own; rows of one are looked at for
    /// the others.
    mutating func add(lookups wanted: LookupAttributes) {
        let values = blind.lookups(wanted, in: schema.itemClass)
        guard !values.isEmpty else { return }
        condition("first.pair = ?")
        for _ in values.dropFirst() { condition(StatementText.of(schema.itemClass).hasLookup) }
        lookups = arguments.count..<arguments.count + values.count
        arguments += values.map { .blob($0) }
    }

    private mutating func addPair(of attributes: AttributeMap) {
        guard let pair = blind.pair(of: attributes, in: schema.itemClass) else { return }
        add("b_pair = ?", .blob(pair))
        isPaired = true
    }

    private mutating func add(_ code: AttributeCode, _ value: AttributeValue) {
        switch code {
        case .accessible: add("pdmn = ?", .text(value.string ?? ""))
        case .tombstone: add("tomb = ?", .number(value.integer ?? 0))
        case .uuid: add("uuid = ?", .blob(RowIdentifier.bytes(ofText: value.string ?? "") ?? []))
        default:
            guard let attribute = schema[code], attribute.traits.contains(.queryable),
                let bytes = blind.blind(value, of: attribute, in: schema.itemClass)
            else {
                isImpossible = true
                return
            }
            // The unary plus keeps SQLite from preferring this column's own
            // index over that of the pair.
            condition(isPaired ? "+" : "")
            sql += StoreSchema.column(code)
            sql += " = ?"
            arguments.append(.blob(bytes))
        }
    }

    mutating func add(synchronizable: SyncScope, byReference: Bool) {
        switch synchronizable {
        case .any: break
        case .only(let on): condition(on ? "sync = 1" : "sync = 0")
        case .unspecified: if !byReference { condition("sync = 0") }
        }
    }
}

/// The text form of a row's uuid (kSecAttrUUID).
package enum RowIdentifier {
    package static func bytes(ofText text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32 else { return nil }
        var out: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            out.append(byte)
        }
        return out
    }
}
