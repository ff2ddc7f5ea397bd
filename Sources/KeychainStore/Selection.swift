internal import Foundation
internal import GRDB
internal import KeychainModel
internal import Synchronization

/// A SELECT made from a query: conditions on blind and clear columns, rows in
/// rowid order. The statement text depends only on which columns are asked for,
/// so it is put together once and prepared once.
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
        var builder = ConditionBuilder(authorized.itemClass, blind, withSecrets: withSecrets)
        builder.add(reference: authorized.query.reference)
        builder.add(reach: authorized.reach)
        builder.add(attributes: authorized.query.attributes)
        builder.add(lookups: authorized.query.attributes.encodedLookup)
        builder.add(synchronizable: authorized.query.synchronizable, byReference: authorized.query.reference != nil)
        if authorized.query.attributes[.tombstone] == nil { builder.add(.noTombstone) }
        if authorized.query.excludesLookups { builder.add(.noLookup) }
        if let rowid { builder.add(.after, .number(rowid)) }
        sql = builder.shape.sql
        arguments = builder.arguments
        lookups = builder.lookups
        itemClass = authorized.query.itemClass
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

/// What a statement's text depends on.
private struct SelectionShape: Hashable {
    enum Condition: Hashable {
        case identifier
        case row
        case group(among: Int)
        case pair
        case protection
        case tombstone
        case noTombstone
        case uuid
        /// The unary plus keeps SQLite from preferring this column's own
        /// index over that of the pair.
        case attribute(AttributeCode, besidePair: Bool)
        case firstLookup
        case lookup
        case noLookup
        case synchronizable(Bool)
        case after
    }

    let itemClass: ItemClass
    let withSecrets: Bool
    var conditions: [Condition] = []

    private static let texts = Mutex<[SelectionShape: String]>([:])
    /// Texts that are kept: programs ask in few ways, and each asks in its own again and again.
    private static let most = 512

    var sql: String {
        if let known = Self.texts.withLock({ $0[self] }) { return known }
        let made = text
        Self.texts.withLock { texts in
            if texts.count >= Self.most { texts = [:] }
            texts[self] = made
        }
        return made
    }

    private var text: String {
        let statements = StatementText.of(itemClass)
        let byLookup = conditions.contains(.firstLookup)
        // What the number of a row is called in this statement.
        let number = byLookup ? "first.item" : "rowid"
        let selected =
            byLookup
            ? withSecrets ? statements.selectByLookupWithSecrets : statements.selectByLookup
            : withSecrets ? statements.selectWithSecrets : statements.select
        let wanted = conditions.map { text(of: $0, statements, number) }
        return selected + (wanted.isEmpty ? "" : " WHERE " + wanted.joined(separator: " AND ")) + " ORDER BY " + number
    }

    private func text(of condition: Condition, _ statements: StatementText, _ number: String) -> String {
        switch condition {
        case .identifier: "persistref = ?"
        case .row: number + " = ?"
        case .group(let count): "b_agrp IN (" + Array(repeating: "?", count: count).joined(separator: ", ") + ")"
        case .pair: "b_pair = ?"
        case .protection: "pdmn = ?"
        case .tombstone: "tomb = ?"
        case .noTombstone: "tomb = 0"
        case .uuid: "uuid = ?"
        case .attribute(let code, let besidePair): (besidePair ? "+" : "") + StoreSchema.column(code) + " = ?"
        case .firstLookup: "first.pair = ?"
        case .lookup: statements.hasLookup
        case .noLookup: statements.hasNoLookup
        case .synchronizable(let on): on ? "sync = 1" : "sync = 0"
        case .after: number + " > ?"
        }
    }
}

private struct ConditionBuilder {
    let schema: Schema
    let blind: BlindIndex
    var shape: SelectionShape
    var arguments: [SelectionArgument] = []
    var lookups = 0..<0
    var isImpossible = false
    private var isPaired = false

    init(_ itemClass: ItemClass, _ blind: BlindIndex, withSecrets: Bool) {
        schema = Schema.of(itemClass)
        self.blind = blind
        shape = SelectionShape(itemClass: itemClass, withSecrets: withSecrets)
        shape.conditions.reserveCapacity(8)
        arguments.reserveCapacity(8)
    }

    mutating func add(_ condition: SelectionShape.Condition) { shape.conditions.append(condition) }

    mutating func add(_ condition: SelectionShape.Condition, _ argument: SelectionArgument) {
        add(condition)
        arguments.append(argument)
    }

    mutating func add(reference: PersistentReference?) {
        switch reference?.target {
        case .identifier(let identifier): add(.identifier, .blob(identifier))
        case .row(let row): add(.row, .number(row))
        case nil: break
        }
    }

    mutating func add(reach: AuthorizedQuery.Reach) {
        guard case .only(let groups) = reach else { return }
        let before = arguments.count
        for group in groups {
            if let value = blind.blind(group, in: schema.itemClass) { arguments.append(.blob(value)) }
        }
        add(.group(among: arguments.count - before))
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
    mutating func add(lookups wanted: [UInt8]) {
        let start = arguments.count
        for value in blind.lookups(encoded: wanted, in: schema.itemClass) {
            add(arguments.count == start ? .firstLookup : .lookup, .blob(value))
        }
        lookups = start..<arguments.count
    }

    private mutating func addPair(of attributes: AttributeMap) {
        guard let pair = blind.pair(of: attributes, in: schema.itemClass) else { return }
        add(.pair, .blob(pair))
        isPaired = true
    }

    private mutating func add(_ code: AttributeCode, _ value: AttributeValue) {
        switch code {
        case .accessible: add(.protection, .text(value.string ?? ""))
        case .tombstone: add(.tombstone, .number(value.integer ?? 0))
        case .uuid: add(.uuid, .blob(RowIdentifier.bytes(ofText: value.string ?? "") ?? []))
        default:
            guard let attribute = schema[code], attribute.traits.contains(.queryable),
                let bytes = blind.blind(value, of: attribute, in: schema.itemClass)
            else {
                isImpossible = true
                return
            }
            add(.attribute(code, besidePair: isPaired), .blob(bytes))
        }
    }

    mutating func add(synchronizable: SyncScope, byReference: Bool) {
        switch synchronizable {
        case .any: break
        case .only(let on): add(.synchronizable(on))
        case .noSuch: isImpossible = true
        case .unspecified: if !byReference { add(.synchronizable(false)) }
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
