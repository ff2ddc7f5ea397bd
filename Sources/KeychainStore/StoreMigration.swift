internal import GRDB
internal import KeychainModel

/// One step from a format of the database to the next: SQL and nothing else, so
/// that it needs no key.
///
/// A step that has to open rows would run per protection class, once that class
/// is open (ARCHITECTURE.md, "Migrations"); none does yet.
package struct StoreMigration: Sendable {
    /// The format that the step makes out of the one before it.
    package let format: Int
    package let statements: [String]

    package init(to format: Int, _ statements: [String]) {
        self.format = format
        self.statements = statements
    }

    /// Every step there is, in order.
    package static let all = [
        StoreMigration(to: 2, StoreSchema.damageRecords), StoreMigration(to: 3, StoreSchema.changeLog),
        StoreMigration(to: 4, StoreSchema.keyGenerations),
        // Rows of format 3 come with it, which a program of format 4 would call damaged.
        StoreMigration(to: 5, []),
        StoreMigration(to: 6, StoreSchema.lookups),
        StoreMigration(to: 7, StoreSchema.secondCopies),
    ]

    /// Runs what a database lacks in one transaction: after a failure or a crash
    /// it is of its old format, whole. What the header says of the format and of whose
    /// file it is, is put right where the records say something else.
    static func run(_ steps: [StoreMigration], on writer: DatabaseQueue) throws(KeychainError) {
        try translating {
            try writer.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let header = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                    let format = StoreHeader.format(of: header, try StoreCopies.toldFormats(db))
                    if format != header { try db.execute(sql: "PRAGMA user_version = \(format)") }
                    if try Int32.fetchOne(db, sql: "PRAGMA application_id") != StoreSchema.applicationID {
                        try db.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
                    }
                    for step in steps where step.format > format {
                        for statement in step.statements { try db.execute(sql: statement) }
                        try StoreCopies.tell(step.format, db)
                    }
                    return .commit
                }
            }
        }
    }
}
