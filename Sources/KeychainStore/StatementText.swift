internal import KeychainModel

/// The text of the statements that every call needs, put together once: making
/// it anew costs as much as running it.
final class StatementText: Sendable {
    let select: String
    let selectWithSecrets: String
    /// The same by the lookup attribute that is called `first`: its rows in their order, with
    /// no list of them put together before. (CROSS JOIN: SQLite keeps the order of the two;
    /// sqlite.org/optoverview.html, "Manual Control Of Query Plans Using CROSS JOIN".)
    let selectByLookup: String
    let selectByLookupWithSecrets: String
    let insert: String
    let insertIfFree: String
    let replace: String
    let replaceMetadata: String
    let delete: String
    /// Where an item is seen: its group, and whether it is a tombstone.
    let standing: String
    /// Of its lookup attributes: one more, and away with all.
    let addLookup: String
    let removeLookups: String
    let lookups: String
    /// Another one beside `first`.
    let hasLookup: String
    let hasNoLookup: String
    /// How many items have one, up to a number.
    let countOfLookup: String
    let selectByPrimaryKey: String
    /// By the index of the pair: of the rows of a service (or server) and account the one whose column
    /// has a primary key, whatever the index of those says. Empty where there is no pair.
    let selectByPairAndKey: String
    /// Of the first rows of an account (as many as the second argument says) those of a server.
    let selectByAccount: String
    /// With all blind columns, and without the secret.
    let walkColumns: String
    /// For each index a count that is 0 where a row is not found by it under what its column says.
    let entries: [(index: String, text: String)]

    private init(_ itemClass: ItemClass) {
        let columns = StoreSchema.columnsToStore(itemClass)
        let list = columns.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let settings = columns.map { "\($0) = ?" }.joined(separator: ", ")
        let name = itemClass.rawValue
        select = "SELECT \(StoreSchema.rowColumns) FROM \(name)"
        selectWithSecrets = "SELECT \(StoreSchema.rowColumns), \(StoreSchema.secretColumns) FROM \(name)"
        let (ofItem, joined) = (
            "SELECT \(name).\(StoreSchema.rowColumns)",
            " FROM \(StoreSchema.lookupTable(of: itemClass)) AS first CROSS JOIN \(name) ON \(name).rowid = first.item"
        )
        selectByLookup = ofItem + joined
        selectByLookupWithSecrets = "\(ofItem), \(StoreSchema.secretColumns)\(joined)"
        insert = "INSERT INTO \(name) (\(list)) VALUES (\(places))"
        insertIfFree = insert + " ON CONFLICT (pkey) DO NOTHING"
        replace = "UPDATE \(name) SET \(settings) WHERE rowid = ?"
        let kept = columns.filter { !StoreSchema.secretParts.contains($0) }.map { "\($0) = ?" }.joined(separator: ", ")
        replaceMetadata = "UPDATE \(name) SET \(kept) WHERE rowid = ?"
        delete = "DELETE FROM \(name) WHERE rowid = ?"
        let lookups = StoreSchema.lookupTable(of: itemClass)
        addLookup = "INSERT INTO \(lookups) (pair, item) VALUES (?, ?)"
        removeLookups = "DELETE FROM \(lookups) WHERE item = ?"
        self.lookups = "SELECT pair FROM \(lookups) WHERE item = ?"
        hasLookup = "EXISTS (SELECT 1 FROM \(lookups) WHERE pair = ? AND item = first.item)"
        hasNoLookup = "NOT EXISTS (SELECT 1 FROM \(lookups) WHERE item = \(name).rowid)"
        countOfLookup = "SELECT count(*) FROM (SELECT 1 FROM \(lookups) WHERE pair = ? LIMIT ?)"
        selectByPrimaryKey = select + " WHERE pkey = ?"
        selectByPairAndKey =
            StoreSchema.pair(of: itemClass) == nil
            ? "" : "SELECT rowid FROM \(name) INDEXED BY \(name)_pair WHERE b_pair = ? AND +pkey = ?"
        selectByAccount = Self.selectByAccount(itemClass)
        let blind = StoreSchema.blindAttributes(of: itemClass).map { StoreSchema.column($0.code) }
        let pair = StoreSchema.pair(of: itemClass) == nil ? [] : ["b_pair"]
        let all = ([StoreSchema.rowColumns, "pkey"] + pair + blind).joined(separator: ", ")
        walkColumns = "SELECT \(all) FROM \(name) NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ?"
        entries = StoreSchema.keys(of: itemClass).map { ($0.name, Self.entry($0, itemClass)) }
        standing = "SELECT \(StoreSchema.column(.accessGroup)), tomb FROM \(name) WHERE rowid = ?"
    }

    /// By the index of the account, whatever SQLite knows of how many there are.
    private static func selectByAccount(_ itemClass: ItemClass) -> String {
        let name = itemClass.rawValue
        guard let (first, second) = StoreSchema.pair(of: itemClass) else { return "" }
        let account = StoreSchema.column(second)
        return """
            SELECT \(name).\(StoreSchema.rowColumns) FROM (SELECT rowid AS item FROM \(name) \
            INDEXED BY \(name)_\(second) WHERE \(account) = ? LIMIT ?) CROSS JOIN \(name) \
            ON \(name).rowid = item WHERE \(name).\(StoreSchema.column(first)) = ?
            """
    }

    /// The row is found by its number, and the entry by what the row's column says.
    private static func entry(_ key: StoreSchema.IndexKey, _ itemClass: ItemClass) -> String {
        let name = itemClass.rawValue
        // An index that leaves rows out has no entry of one without a value.
        let exempt = key.leavesOutNothing ? "" : "own.\(key.column) IS NULL OR "
        let equal = key.leavesOutNothing ? "IS" : "="
        return """
            SELECT \(exempt)EXISTS (SELECT 1 FROM \(name) AS entry INDEXED BY \(key.name) \
            WHERE entry.\(key.column) \(equal) own.\(key.column) AND entry.rowid = own.rowid) \
            FROM \(name) AS own NOT INDEXED WHERE own.rowid = ?
            """
    }

    private static let genericPassword = StatementText(.genericPassword)
    private static let internetPassword = StatementText(.internetPassword)
    private static let certificate = StatementText(.certificate)
    private static let key = StatementText(.key)

    /// Has no table: whoever asks for it has been refused before, and SQLite
    /// refuses it again.
    private static let identity = StatementText(.identity)

    static func of(_ itemClass: ItemClass) -> StatementText {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .identity: identity
        case .key: key
        }
    }

    static let columns = Dictionary(
        ItemClass.stored.flatMap { Schema.of($0).attributes }.map { ($0.code, "b_\($0.code)") },
        uniquingKeysWith: { first, _ in first })
}

extension StoreSchema {
    /// The columns that a change of metadata alone leaves as they are.
    static let secretParts = ["wrapped_key", "secret"]

    /// What ``StoreTransaction`` writes of a row, in the order in which it binds.
    static func columnsToStore(_ itemClass: ItemClass) -> [String] {
        let blind = blindAttributes(of: itemClass).map { column($0.code) }
        let pair = pair(of: itemClass) == nil ? [] : ["b_pair"]
        return [
            "uuid", "persistref", "fmt", "gen", "pdmn", "sync", "tomb", "pkey", "metadata", "wrapped_key", "secret",
        ]
            + blind + pair
    }
}
