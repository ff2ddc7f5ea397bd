internal import Foundation
internal import GRDB
internal import KeychainModel

/// A SELECT made from a query: conditions on blind and clear columns, rows in
/// rowid order. The statement text depends only on which columns are asked for,
/// so it is prepared once and cached.
package struct Selection: Sendable {
    package let sql: String
    let arguments: [DatabaseValue]
    /// The query cannot match any row (a value its column cannot hold).
    package let isImpossible: Bool

    package init(_ authorized: AuthorizedQuery, blind: BlindIndex, withSecrets: Bool) {
        var builder = ConditionBuilder(authorized.itemClass, blind)
        let query = authorized.query
        builder.add(reference: query.reference)
        builder.add(reach: authorized.reach)
        builder.add(attributes: query.attributes)
        builder.add(synchronizable: query.synchronizable, byReference: query.reference != nil)
        if query.attributes[.tombstone] == nil { builder.add("tomb = 0") }
        let columns = StoreSchema.rowColumns + (withSecrets ? ", " + StoreSchema.secretColumns : "")
        sql = "SELECT \(columns) FROM \(authorized.itemClass.rawValue) WHERE "
            + builder.conditions.joined(separator: " AND ") + " ORDER BY rowid"
        arguments = builder.arguments
        isImpossible = builder.isImpossible
    }
}

private struct ConditionBuilder {
    let itemClass: ItemClass
    let blind: BlindIndex
    var conditions: [String] = []
    var arguments: [DatabaseValue] = []
    var isImpossible = false

    init(_ itemClass: ItemClass, _ blind: BlindIndex) {
        self.itemClass = itemClass
        self.blind = blind
    }

    mutating func add(_ condition: String, _ values: [DatabaseValue] = []) {
        conditions.append(condition)
        arguments += values
    }

    mutating func add(reference: PersistentReference?) {
        switch reference?.target {
        case .identifier(let identifier): add("persistref = ?", [Data(identifier).databaseValue])
        case .row(let row): add("rowid = ?", [row.databaseValue])
        case nil: break
        }
    }

    mutating func add(reach: AuthorizedQuery.Reach) {
        guard case .only(let groups) = reach, let attribute = Schema.of(itemClass)[.accessGroup] else { return }
        let values = groups.compactMap { blind.blind(.string($0.name), of: attribute, in: itemClass) }
        let places = Array(repeating: "?", count: values.count).joined(separator: ", ")
        add("b_agrp IN (\(places))", values.map { Data($0).databaseValue })
    }

    mutating func add(attributes: AttributeMap) {
        if let pair = blind.pair(of: attributes, in: itemClass) { add("b_pair = ?", [Data(pair).databaseValue]) }
        for (code, value) in attributes.entries { add(code, value) }
    }

    private mutating func add(_ code: AttributeCode, _ value: AttributeValue) {
        switch code {
        case .accessible: add("pdmn = ?", [(value.string ?? "").databaseValue])
        case .tombstone: add("tomb = ?", [(value.integer ?? 0).databaseValue])
        case .uuid: add("uuid = ?", [Data(RowIdentifier.bytes(ofText: value.string ?? "") ?? []).databaseValue])
        default:
            guard let attribute = Schema.of(itemClass)[code], attribute.traits.contains(.queryable),
                let bytes = blind.blind(value, of: attribute, in: itemClass)
            else {
                isImpossible = true
                return
            }
            // The unary plus keeps SQLite from preferring this column's own
            // index over that of the pair.
            let isPaired = arguments.isEmpty == false && conditions.contains("b_pair = ?")
            add("\(isPaired ? "+" : "")\(StoreSchema.column(code)) = ?", [Data(bytes).databaseValue])
        }
    }

    mutating func add(synchronizable: SyncScope, byReference: Bool) {
        switch synchronizable {
        case .any: break
        case .only(let on): add("sync = \(on ? 1 : 0)")
        case .unspecified: if !byReference { add("sync = 0") }
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
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            out.append(byte)
        }
        return out
    }
}
