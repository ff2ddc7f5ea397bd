/// One row as it rests: columns in the clear, and what is sealed.
package struct SealedRow: Sendable, Hashable {
    package var rowid: Int64
    package var uuid: [UInt8]
    package var persistref: [UInt8]
    package var format: Int
    package var generation: UInt32
    package var protection: String
    package var isSynchronizable: Bool
    package var isTombstone: Bool
    package var metadata: [UInt8]
    /// The row key as wrapped by the enclave; nil where there is no data.
    package var wrappedKey: [UInt8]?
    package var secret: [UInt8]?

    /// Which metadata key of its class seals it. (A row without a value that an
    /// earlier program wrote says 0: there was the first alone.)
    package var metadataGeneration: UInt32 { max(1, generation) }

    package init(
        rowid: Int64, uuid: [UInt8], persistref: [UInt8], format: Int, generation: UInt32, protection: String,
        isSynchronizable: Bool, isTombstone: Bool, metadata: [UInt8], wrappedKey: [UInt8]?, secret: [UInt8]?
    ) {
        self.rowid = rowid
        self.uuid = uuid
        self.persistref = persistref
        self.format = format
        self.generation = generation
        self.protection = protection
        self.isSynchronizable = isSynchronizable
        self.isTombstone = isTombstone
        self.metadata = metadata
        self.wrappedKey = wrappedKey
        self.secret = secret
    }
}

/// A row with the values of its blind columns: what an insert writes.
package struct RowToStore: Sendable {
    package var row: SealedRow
    package var primaryKey: [UInt8]
    package var pair: [UInt8]?
    /// Whether the class has a column for pairs at all.
    package var hasPairColumn: Bool
    /// In the order of ``StoreSchema/blindAttributes(of:)``.
    package var blind: [[UInt8]?]
    /// Blind values of its lookup attributes; nil: those that it has stay.
    package var lookups: [[UInt8]]?

    package init(
        row: SealedRow, primaryKey: [UInt8], pair: [UInt8]?, hasPairColumn: Bool, blind: [[UInt8]?],
        lookups: [[UInt8]]?
    ) {
        self.row = row
        self.primaryKey = primaryKey
        self.pair = pair
        self.hasPairColumn = hasPairColumn
        self.blind = blind
        self.lookups = lookups
    }
}

/// The record of a class's metadata key.
package struct MetadataKeyRecord: Sendable, Hashable {
    package let generation: UInt32
    package let wrapped: [UInt8]
    /// 16 bytes that only the right key gives; tells a wrong key from damaged rows.
    package let check: [UInt8]

    package init(generation: UInt32, wrapped: [UInt8], check: [UInt8]) {
        self.generation = generation
        self.wrapped = wrapped
        self.check = check
    }

    /// Whether it has the sizes that every one has: a box of 60 bytes and a check value of 16
    /// (FORMATS.md, "Metadata keys").
    package var isWellFormed: Bool { wrapped.count == 60 && check.count == 16 }
}
