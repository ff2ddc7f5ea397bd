package import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

/// One pass over every row of a store, in small steps while nobody calls: a changed bit in a column
/// or an index makes an item "not found", which nobody would look for with `latchkey doctor --verify`.
///
/// Opens the metadata alone, with keys that the daemon has: the enclave is not asked for row keys,
/// no value is read. Rows whose class is locked are passed over at first; once all others were
/// looked at the pass waits before the first of them until they are open (``goOn()``), and goes on
/// from there each time, however short that is.
package struct QuietInspection: Sendable {
    /// Rows of one step: a few milliseconds.
    package static let rowsOfAStep = 256
    /// Of a larger store every page would be read for it.
    static let mostRows: Int64 = 100_000

    /// What is left: behind a row of the first of these classes.
    private struct Place {
        var classes = ArraySlice(ItemClass.stored)
        var last: Int64 = .min
    }

    private var place = Place()
    /// Before the first rows that were passed over.
    private var leftOut: Place?
    /// Whether it is back at these.
    private var isBack = false
    private var callsSeen = -1
    private var isChecked = false
    /// Whether the next rows are locked.
    package private(set) var waitsForUnlock = false
    private var damaged = 0

    /// So many damaged rows at the most are set aside that nobody asked for: half of what the brake
    /// lets through, so that no look of ours keeps anybody from writing.
    private static let mostDamaged = 8

    private let rowsOfAStep: Int

    package init(rowsOfAStep: Int = QuietInspection.rowsOfAStep) { self.rowsOfAStep = rowsOfAStep }

    /// Whether it has been through all rows, or has to wait before the others.
    package var isOver: Bool { place.classes.isEmpty || waitsForUnlock }

    /// What was locked may be open now.
    package mutating func goOn() { waitsForUnlock = false }

    /// Looks at the next rows, unless there were calls since the last step. What does not open is set
    /// aside as a reader would, what leads to a row is written anew.
    ///
    /// - Returns: whether it looked.
    /// - Throws: where something could not be written or read: this pass is over then.
    @discardableResult
    package mutating func step(_ engine: KeychainEngine) throws(KeychainError) -> Bool {
        guard !waitsForUnlock, let itemClass = place.classes.first, isIdle(engine) else { return false }
        let next: Place
        do throws(KeychainError) {
            try engine.refuseIfMalformed()
            next = try engine.calls.during { () throws(KeychainError) in try look(itemClass, engine) }
        } catch {
            place.classes = []
            throw engine.noteMalformation(error)
        }
        place = next
        if next.classes.isEmpty, let leftOut {
            (place, isBack) = (leftOut, true)
            self.leftOut = nil
        }
        callsSeen = engine.calls.count
        return true
    }

    private mutating func isIdle(_ engine: KeychainEngine) -> Bool {
        let now = engine.calls.count
        defer { callsSeen = now }
        return now == callsSeen
    }

    private static let tooMany = KeychainError(
        .notAvailable, reason: .mayBeSetAside,
        underlying: "there are more than \(mostRows) rows: `latchkey doctor --verify`")
    private static let muchDamage = KeychainError(
        .decode, reason: .mayBeSetAside, underlying: "many rows do not open: `latchkey doctor --verify`")

    /// - Returns: where the next step begins.
    private mutating func look(_ itemClass: ItemClass, _ engine: KeychainEngine) throws(KeychainError) -> Place {
        let after = place.last
        if !isChecked {
            isChecked = true
            let most = try engine.store.read { reader throws(KeychainError) in try reader.mostRows() }
            guard most <= Self.mostRows else { throw Self.tooMany }
        }
        let most = rowsOfAStep
        let (end, found, damage, isLocked) = try engine.store.read { reader throws(KeychainError) in
            try Self.suspects(itemClass, after: after, atMost: most, engine, reader)
        }
        damaged += damage.count
        guard damaged <= Self.mostDamaged else { throw Self.muchDamage }
        try engine.settle(damage)
        for candidate in found {
            do throws(KeychainError) { try engine.lead(to: candidate, itemClass) } catch {
                // Another row has its place: a person has to look (`latchkey doctor`).
                guard error.status == .duplicateItem else { throw error }
            }
        }
        if isLocked, isBack {
            waitsForUnlock = true
            return place
        }
        if isLocked, leftOut == nil { leftOut = place }
        guard let end else { return Place(classes: place.classes.dropFirst()) }
        return Place(classes: place.classes, last: end)
    }

    /// Rows to which something is wrong in one batch, and its last number; nil at the end.
    private static func suspects(
        _ itemClass: ItemClass, after rowid: Int64, atMost most: Int, _ engine: KeychainEngine, _ reader: StoreReader
    ) throws(KeychainError) -> (end: Int64?, found: [Candidate], damage: [DamageReport], isLocked: Bool) {
        var found: [Candidate] = []
        var damage: [DamageReport] = []
        var isLocked = false
        let rows = try reader.walkColumns(itemClass, after: rowid, atMost: most)
        for var stored in rows {
            switch try engine.opener.open(stored.row, itemClass, reader) {
            case .effaced: continue
            case .locked: isLocked = true
            case .damaged(let cause):
                damage.append(DamageReport(itemClass: itemClass, row: stored.row, cause: cause))
            case .item(let metadata):
                if StoreSchema.hasLookups(itemClass) {
                    stored.lookups = try reader.lookups(of: stored.row.rowid, in: itemClass)
                }
                let lacking = try reader.indexesWithout(stored.row.rowid, of: itemClass)
                let agree = engine.maker.columns(of: stored, agreeWith: metadata, itemClass)
                if !lacking.isEmpty || !agree { found.append(Candidate(stored.row, metadata)) }
            }
        }
        return (rows.last?.row.rowid, found, damage, isLocked)
    }
}
