internal import Foundation
internal import GRDB
package import KeychainModel

/// What the table `store` says by name, beside the store's id.
package enum StoreRecord: String, Sendable, CaseIterable {
    /// Since when the brake on damage is on (``bytes(of:)``).
    case brake
    /// The number of the newest row of `damaged` that a person has accepted.
    case accepted
    /// The names, a line each, of the files that were set aside for this database:
    /// the only ones whose rows are taken over. An older one's were, by the database that followed it, and may
    /// have been deleted since.
    case predecessor
    /// There as long as the predecessor has not been gone through to its end.
    case salvaging
    /// There where something of a predecessor did not come back and nobody has
    /// accepted that.
    case incomplete
    /// There where the database lacked, at an opening, what had been acknowledged before
    /// (``StoreWitness``), and nobody has accepted that: the number of its last change then
    /// (``bytes(of:)``).
    case behind
    /// The name of the history that the table `changes` holds.
    case history
    /// `user_version` once more (``bytes(of:)``), from format 7 on: a header of the file that says
    /// another one is damaged.
    case format

    /// File names, a line each.
    package static func bytes(of names: [String]) -> [UInt8] { Array(names.joined(separator: "\n").utf8) }

    package static func names(in bytes: [UInt8]) -> [String] {
        (String(validating: bytes, as: UTF8.self) ?? "").split(separator: "\n").map(String.init)
    }

    /// A number as 8 bytes, big-endian: the IEEE 754 double.
    package static func bytes(of number: Double) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (56 - 8 * UInt64($0))) }
    }

    package static func number(in bytes: [UInt8]) -> Double? {
        guard bytes.count == 8 else { return nil }
        return Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension StoreReader {
    /// The first of its copies that can be one.
    package func record(_ name: StoreRecord) throws(KeychainError) -> [UInt8]? {
        try records(named: name.rawValue).first(where: name.canBe)
    }

    /// Whether something was lost with a file, and nobody has accepted that.
    package func lacksItems() throws(KeychainError) -> Bool {
        if try record(.incomplete) != nil { return true }
        return try record(.behind) != nil
    }

    package func number(_ name: StoreRecord) throws(KeychainError) -> Double? {
        try record(name).flatMap { StoreRecord.number(in: $0) }
    }
}

extension StoreTransaction {
    package func put(_ bytes: [UInt8], as name: StoreRecord) throws(KeychainError) {
        try translating {
            try StoreCopies.put(bytes, as: name.rawValue, db)
        }
    }

    package func remove(_ name: StoreRecord) throws(KeychainError) {
        try translating {
            for table in StoreCopies.recordTables {
                try db.execute(sql: "DELETE FROM \(table) WHERE name = ?", arguments: [name.rawValue])
            }
        }
    }

    /// Keeps a metadata key that does not open, byte for byte and in both its copies, before
    /// another takes its place.
    package func setAsideMetadataKey(
        of protectionClass: ProtectionClass, generation: UInt32, at moment: Double
    ) throws(KeychainError) {
        try translating {
            try db.execute(
                sql: "INSERT INTO damaged_keys (class, moved, gen, wrapped, \"check\") "
                    + "SELECT class, ?, gen, wrapped, \"check\" FROM \(StoreCopies.bothKeys) "
                    + "WHERE class = ? AND gen = ?",
                arguments: [moment, Int(protectionClass.number), generation])
        }
    }

    /// Forgets the metadata keys of a class below a generation, in both copies.
    package func removeMetadataKeys(
        of protectionClass: ProtectionClass, below generation: UInt32
    ) throws(KeychainError) {
        try translating {
            for table in StoreCopies.keyTables {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE class = ? AND gen < ?",
                    arguments: [Int(protectionClass.number), generation])
            }
        }
    }
}
