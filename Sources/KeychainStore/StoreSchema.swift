package import KeychainModel

/// The SQL of the store, made from the schema table (architecture section 4).
/// Names and order are promises on disk: a change is a numbered migration.
package enum StoreSchema {
    /// `PRAGMA user_version` of what this program writes.
    package static let format = 7
    /// `PRAGMA application_id`: "LKEY".
    package static let applicationID: Int32 = 0x4C4B_4559
    /// The format of a row's seals. 2: the secret's is not bound to the generation of
    /// the class key, so that the row key can be wrapped anew by itself. 3: the row key
    /// of a constrained item is bound to the names that a person is shown.
    package static let rowFormat = 3

    /// Attributes that stand in columns of their own, in the clear.
    static let clear: Set<AttributeCode> = [.accessible, .synchronizable, .tombstone, .uuid]

    /// The blind columns of a class, in the schema's order.
    package static func blindAttributes(of itemClass: ItemClass) -> [SchemaAttribute] {
        switch itemClass {
        case .genericPassword: blindOfGenericPasswords
        case .internetPassword: blindOfInternetPasswords
        case .certificate: blindOfCertificates
        case .key: blindOfKeys
        case .identity: blindOfIdentities
        }
    }

    /// How many columns the table of a class has: the number of the row and seven, the blind ones,
    /// the pair's, and four.
    package static func columnCount(of itemClass: ItemClass) -> Int {
        12 + blindAttributes(of: itemClass).count + (pair(of: itemClass) == nil ? 0 : 1)
    }

    private static let blindOfGenericPasswords = blind(.genericPassword)
    private static let blindOfInternetPasswords = blind(.internetPassword)
    private static let blindOfCertificates = blind(.certificate)
    private static let blindOfKeys = blind(.key)
    private static let blindOfIdentities = blind(.identity)

    private static func blind(_ itemClass: ItemClass) -> [SchemaAttribute] {
        Schema.of(itemClass).attributes.filter { $0.traits.contains(.queryable) && !clear.contains($0.code) }
    }

    package static func column(_ code: AttributeCode) -> String { StatementText.columns[code] ?? "b_\(code)" }

    /// The two attributes that real queries give together.
    package static func pair(of itemClass: ItemClass) -> (AttributeCode, AttributeCode)? {
        switch itemClass {
        case .genericPassword: (.service, .account)
        case .internetPassword: (.server, .account)
        case .certificate, .key, .identity: nil
        }
    }

    /// Columns of a row in the order of ``SealedRow``.
    static let rowColumns = "rowid, uuid, persistref, fmt, gen, pdmn, sync, tomb, metadata"
    static let secretColumns = "wrapped_key, secret"

    /// What makes an empty store.
    package static var statements: [String] {
        ItemClass.stored.flatMap(table) + [
            "CREATE TABLE store (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE metadata_keys (class INTEGER PRIMARY KEY, gen INTEGER NOT NULL, wrapped BLOB NOT NULL, \
            "check" BLOB NOT NULL)
            """,
            """
            CREATE TABLE damaged (number INTEGER PRIMARY KEY AUTOINCREMENT, class TEXT NOT NULL, cause TEXT NOT NULL, \
            moved REAL NOT NULL, rowid_was INTEGER, uuid BLOB, persistref BLOB, fmt INTEGER, gen INTEGER, pdmn TEXT, \
            sync INTEGER, tomb INTEGER, pkey BLOB, blind BLOB, metadata BLOB, wrapped_key BLOB, secret BLOB)
            """,
        ] + damageRecords + changeLog + keyGenerations + lookups + secondCopies
    }

    /// What format 2 has and format 1 had not: metadata keys that did not open,
    /// and which rows were taken out of a database that was set aside.
    static let damageRecords = [
        """
        CREATE TABLE damaged_keys (number INTEGER PRIMARY KEY AUTOINCREMENT, class INTEGER NOT NULL, \
        moved REAL NOT NULL, gen INTEGER, wrapped BLOB, "check" BLOB)
        """,
        """
        CREATE TABLE salvaged (file TEXT NOT NULL, class TEXT NOT NULL, rowid_was INTEGER NOT NULL, \
        PRIMARY KEY (file, class, rowid_was)) WITHOUT ROWID
        """,
    ]

    /// What format 3 has besides: what happened to items, for observers, and the
    /// name of this history (``ChangePosition``).
    static let changeLog = [
        """
        CREATE TABLE changes (number INTEGER PRIMARY KEY, class TEXT NOT NULL, agrp BLOB, kind INTEGER NOT NULL, \
        items INTEGER NOT NULL)
        """,
        "INSERT INTO store (name, value) VALUES ('history', randomblob(16))",
    ]

    /// What format 4 has: a metadata key for each generation of a class key. (The
    /// table is made anew, because SQLite changes no primary key.)
    static let keyGenerations = [
        """
        CREATE TABLE metadata_keys_4 (class INTEGER NOT NULL, gen INTEGER NOT NULL, wrapped BLOB NOT NULL, \
        "check" BLOB NOT NULL, PRIMARY KEY (class, gen)) WITHOUT ROWID
        """,
        "INSERT INTO metadata_keys_4 SELECT class, gen, wrapped, \"check\" FROM metadata_keys",
        "DROP TABLE metadata_keys",
        "ALTER TABLE metadata_keys_4 RENAME TO metadata_keys",
    ]

    /// What format 6 has besides: the blind values of lookup attributes, from which an
    /// item's go with it.
    static let lookups = ItemClass.stored.filter(hasLookups).flatMap { itemClass in
        let (name, table) = (itemClass.rawValue, lookupTable(of: itemClass))
        return [
            "CREATE TABLE \(table) (pair BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (pair, item)) WITHOUT ROWID",
            "CREATE INDEX \(table)_item ON \(table)(item)",
            """
            CREATE TRIGGER \(table)_gone AFTER DELETE ON \(name) BEGIN \
            DELETE FROM \(table) WHERE item = OLD.rowid; END
            """,
        ]
    }

    /// What format 7 has besides: the records of `store` and the metadata keys a second time, in pages
    /// of their own (``StoreCopies``). Without either page nothing at all would open.
    static let secondCopies = [
        "CREATE TABLE \(storeCopy) (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
        "INSERT INTO \(storeCopy) SELECT name, value FROM store",
        """
        CREATE TABLE \(keysCopy) (class INTEGER NOT NULL, gen INTEGER NOT NULL, wrapped BLOB NOT NULL, \
        "check" BLOB NOT NULL, PRIMARY KEY (class, gen)) WITHOUT ROWID
        """,
        "INSERT INTO \(keysCopy) SELECT class, gen, wrapped, \"check\" FROM metadata_keys",
    ]

    static let storeCopy = "store_copy"
    static let keysCopy = "metadata_keys_copy"
    /// The first format that says in the table `store`, too, which one it is.
    static let firstToldFormat = 7

    /// Whether items of a class can have lookup attributes.
    package static func hasLookups(_ itemClass: ItemClass) -> Bool { Schema.of(itemClass)[.lookup] != nil }

    static func lookupTable(of itemClass: ItemClass) -> String { "\(itemClass.rawValue)_lookups" }

    private static func table(_ itemClass: ItemClass) -> [String] {
        let name = itemClass.rawValue
        let blind = blindAttributes(of: itemClass).map { "\(column($0.code)) BLOB" }.joined(separator: ", ")
        let pair = pair(of: itemClass) == nil ? "" : "b_pair BLOB, "
        let create = """
            CREATE TABLE \(name) (rowid INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB NOT NULL, \
            persistref BLOB NOT NULL, fmt INTEGER NOT NULL, gen INTEGER NOT NULL, pdmn TEXT NOT NULL, \
            sync INTEGER NOT NULL, tomb INTEGER NOT NULL, \(blind), \(pair)pkey BLOB NOT NULL, \
            metadata BLOB NOT NULL, wrapped_key BLOB, secret BLOB)
            """
        return [create] + indexes(itemClass)
    }

    /// Only what real queries lead with: each further index slows every add.
    private static func indexes(_ itemClass: ItemClass) -> [String] {
        let name = itemClass.rawValue
        return keys(of: itemClass).map { key in
            let kind = key.isUnique ? "UNIQUE INDEX" : "INDEX"
            let partial = key.leavesOutNothing ? "" : " WHERE \(key.column) IS NOT NULL"
            return "CREATE \(kind) \(key.name) ON \(name)(\(key.column))\(partial)"
        }
    }

    /// An index over one column of a table.
    struct IndexKey {
        let name: String
        let column: String
        var isUnique = false
        /// Sparse columns have rows without a value, which need no entry.
        var leavesOutNothing = true
    }

    /// The indexes of a class's table, in the order in which they are made.
    static func keys(of itemClass: ItemClass) -> [IndexKey] {
        let name = itemClass.rawValue
        var result = ["pkey", "persistref"].map { IndexKey(name: "\(name)_\($0)", column: $0, isUnique: true) }
        if pair(of: itemClass) != nil { result.append(IndexKey(name: "\(name)_pair", column: "b_pair")) }
        for attribute in Schema.of(itemClass).attributes where attribute.traits.contains(.indexed) {
            result.append(
                IndexKey(
                    name: "\(name)_\(attribute.code)", column: column(attribute.code),
                    leavesOutNothing: attribute.defaultValue != nil))
        }
        return result
    }
}
