internal import Foundation
internal import GRDB
package import KeychainModel
package import KeychainPlatform
internal import Synchronization

/// What a change did, as the table `changes` says it (FORMATS.md, "Changes").
package enum ChangeKind: Int64, Sendable {
    case added = 1
    case changed = 2
    case removed = 3
    case setAside = 4
}

/// Gathers what one piece of a commit does to items, by class, group and kind, and
/// writes it down in the same commit: nothing is told that did not last, and nothing
/// lasts that is not told.
///
/// Of one thread. ``StoreTransaction`` fills it by itself.
final class ChangeNotes {
    private struct Note {
        let itemClass: ItemClass
        /// The group's blind value.
        let group: [UInt8]?
        let kind: ChangeKind
        var items: Int64
    }

    /// Few: one call changes items of one class, mostly of one group.
    private var notes: [Note] = []

    func add(_ kind: ChangeKind, _ itemClass: ItemClass, group: [UInt8]?) {
        for index in notes.indices.reversed()
        where notes[index].kind == kind && notes[index].itemClass == itemClass && notes[index].group == group {
            notes[index].items += 1
            return
        }
        notes.append(Note(itemClass: itemClass, group: group, kind: kind, items: 1))
    }

    /// An item that stands elsewhere than before, or begins or ceases to be one.
    func add(from old: ChangeLog.Standing?, to new: ChangeLog.Standing?, _ itemClass: ItemClass) {
        let (before, after) = (old.flatMap(\.visible), new.flatMap(\.visible))
        switch (before, after) {
        case (nil, nil): return
        case (nil, let after?): add(.added, itemClass, group: after.group)
        case (let before?, nil): add(.removed, itemClass, group: before.group)
        case (let before?, let after?) where before.group == after.group:
            add(.changed, itemClass, group: after.group)
        case (let before?, let after?):
            add(.removed, itemClass, group: before.group)
            add(.added, itemClass, group: after.group)
        }
    }

    /// The number of the last line, nil where there was nothing to write.
    func write(to db: Database) throws -> Int64? {
        var newest: Int64?
        for note in notes {
            var statement = try PreparedStatement(
                db, "INSERT INTO changes (class, agrp, kind, items) VALUES (?, ?, ?, ?)")
            try statement.bind(note.itemClass.rawValue)
            try statement.bind(note.group)
            try statement.bind(note.kind.rawValue)
            try statement.bind(note.items)
            try statement.run()
            let number = db.lastInsertedRowID
            newest = number
            try Self.forget(before: number, db)
        }
        return newest
    }

    /// A line that tells nobody anything, for a commit that changed no item: each commit has a
    /// number that grows (``StoreWitness``).
    static func writeNothing(to db: Database) throws -> Int64 {
        let statement = try PreparedStatement(db, "INSERT INTO changes (class, kind, items) VALUES ('', 0, 0)")
        try statement.run()
        let number = db.lastInsertedRowID
        try forget(before: number, db)
        return number
    }

    /// The oldest go by the thousand, so that hardly any change pays for it.
    private static func forget(before newest: Int64, _ db: Database) throws {
        guard newest % ChangeLog.step == 0, newest > ChangeLog.kept else { return }
        var statement = try PreparedStatement(db, "DELETE FROM changes WHERE number <= ?")
        try statement.bind(newest - ChangeLog.kept)
        try statement.run()
    }
}

/// The history of a store, as far as it is kept.
package enum ChangeLog {
    /// Entries that are kept at least. An observer that was away for longer hears
    /// that anything may have happened.
    package static let kept: Int64 = 16_384
    /// The oldest go so many at a time.
    package static let step: Int64 = 1024

    /// Where an item is seen: tombstones nowhere.
    struct Standing {
        let group: [UInt8]?
        let isTombstone: Bool

        var visible: Standing? { isTombstone ? nil : self }
    }

    /// One line of it.
    package struct Entry: Sendable, Hashable {
        package let number: Int64
        package let itemClass: ItemClass
        /// The group's blind value.
        package let group: [UInt8]?
        package let kind: ChangeKind
        package let items: Int
    }
}

extension RowToStore {
    func standing(in itemClass: ItemClass) -> ChangeLog.Standing {
        ChangeLog.Standing(
            group: StoreSchema.groupIndex(of: itemClass).flatMap { blind[$0] }, isTombstone: row.isTombstone)
    }
}

extension StoreSchema {
    private static let groupIndexes = Dictionary(
        uniqueKeysWithValues: ItemClass.stored.map { itemClass in
            (itemClass, blindAttributes(of: itemClass).firstIndex { $0.code == .accessGroup })
        })

    /// Where the group's blind value stands among ``blindAttributes(of:)``.
    static func groupIndex(of itemClass: ItemClass) -> Int? { groupIndexes[itemClass] ?? nil }
}

extension StoreReader {
    /// Which history this is (16 bytes), and its first and last number; the last is
    /// one below the first where nothing happened yet.
    ///
    /// - Parameter witnessed: of two copies of the name that differ the one that counts, if it is
    ///   one of them.
    package func changeBounds(
        preferring witnessed: [UInt8]? = nil
    ) throws(KeychainError) -> (history: [UInt8], first: Int64, last: Int64) {
        let histories = try records(named: StoreRecord.history.rawValue).filter {
            $0.count == ChangePosition.historySize
        }
        guard let history = histories.first(where: { $0 == witnessed }) ?? histories.first else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the name of the change log")
        }
        return try translating {
            // Either alone is one look at an end of the tree, both together a scan
            // (sqlite.org/optoverview.html, "The MIN/MAX optimization").
            let statement = try PreparedStatement(
                db, "SELECT (SELECT min(number) FROM changes), (SELECT max(number) FROM changes)")
            guard try statement.step(), let first = statement.number(0), let last = statement.number(1) else {
                return (history, 1, 0)
            }
            return (history, first, last)
        }
    }

    /// Entries after a number, in order, of at most `limit` lines.
    ///
    /// - Returns: nil where there are none; else also the number of the last line.
    package func changes(
        after number: Int64, atMost limit: Int
    ) throws(KeychainError) -> (entries: [ChangeLog.Entry], last: Int64)? {
        try translating {
            var statement = try PreparedStatement(
                db, "SELECT number, class, agrp, kind, items FROM changes WHERE number > ? ORDER BY number LIMIT ?")
            try statement.bind(number)
            try statement.bind(Int64(limit))
            var found: [ChangeLog.Entry] = []
            var last: Int64?
            while try statement.step() {
                last = statement.number(0) ?? last
                // What no version of ours wrote tells nobody anything.
                guard let itemClass = statement.text(1).flatMap(ItemClass.init), let number = statement.number(0),
                    let kind = statement.number(3).flatMap(ChangeKind.init), let items = statement.number(4)
                else { continue }
                found.append(
                    ChangeLog.Entry(
                        number: number, itemClass: itemClass, group: statement.bytes(2), kind: kind,
                        items: Int(clamping: items)))
            }
            return last.map { (found, $0) }
        }
    }
}

extension StoreTransaction {
    /// The history ends here, and another begins: what observers know of the store
    /// says nothing of it any more.
    package func beginNewHistory() throws(KeychainError) {
        try translating {
            try db.execute(sql: "DELETE FROM changes")
            let name = try Data.fetchOne(db, sql: "SELECT randomblob(\(ChangePosition.historySize))") ?? Data()
            try StoreCopies.put(Array(name), as: StoreRecord.history.rawValue, db)
        }
    }
}

/// Wakes observers after commits that changed items.
package final class ChangeBell: Sendable {
    private let listeners = Mutex<[EventSignal]>([])

    /// The signal of one observer, which rings until it is given back.
    package func listen() throws(SystemCallError) -> EventSignal {
        let signal = try EventSignal()
        listeners.withLock { $0.append(signal) }
        return signal
    }

    package func leave(_ signal: EventSignal) { listeners.withLock { $0.removeAll { $0 === signal } } }

    package func ring() { listeners.withLock { for signal in $0 { signal.signal() } } }
}
