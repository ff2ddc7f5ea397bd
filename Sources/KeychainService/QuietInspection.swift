package import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

/// One pass over every row of a store, in small steps while nobody calls: a changed bit in a column
/// or an index makes an item "not found", which nobody would look for with `latchkey doctor --verify`.
///
/// Opens the metadata alone, with keys that the daemon has: the enclave is not asked for row keys,
/// no value is read. Rows whose class is locked are passed over.
package struct QuietInspection: Sendable {
    /// Rows of one step: a few milliseconds.
    static let rowsOfAStep = 256
    /// Of a larger store every page would be read for it.
    static let mostRows: Int64 = 100_000

    private var classes = ArraySlice(ItemClass.stored)
    private var last: Int64 = .min
    private var callsSeen = -1
    private var isChecked = false
    /// Whether rows were passed over because their class is locked.
    package private(set) var leftLocked = false
    private var damaged = 0

    /// So many damaged rows at the most are set aside that nobody asked for: half of what the brake
    /// lets through, so that no look of ours keeps anybody from writing.
    private static let mostDamaged = 8

    package init() {}

    /// Whether it has been through all rows.
    package var isOver: Bool { classes.isEmpty }

    /// Looks at the next rows, unless there were calls since the last step. What does not open is set
    /// aside as a reader would, what leads to a row is written anew.
    ///
    /// - Returns: whether it looked.
    /// - Throws: where something could not be written or read: this pass is over then.
    @discardableResult
    package mutating func step(_ engine: KeychainEngine) throws(KeychainError) -> Bool {
        guard let itemClass = classes.first, isIdle(engine) else { return false }
        let rows: ArraySlice<ItemClass>
        do throws(KeychainError) {
            try engine.refuseIfMalformed()
            rows = try engine.calls.during { () throws(KeychainError) in try look(itemClass, engine) }
        } catch {
            classes = []
            throw engine.noteMalformation(error)
        }
        classes = rows
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

    /// - Returns: the classes that are left.
    private mutating func look(
        _ itemClass: ItemClass, _ engine: KeychainEngine
    ) throws(KeychainError) -> ArraySlice<ItemClass> {
        let after = last
        if !isChecked {
            isChecked = true
            let most = try engine.store.read { reader throws(KeychainError) in try reader.mostRows() }
            guard most <= Self.mostRows else { throw Self.tooMany }
        }
        let (end, found, damage, isLocked) = try engine.store.read { reader throws(KeychainError) in
            try Self.suspects(itemClass, after: after, engine, reader)
        }
        if isLocked { leftLocked = true }
        damaged += damage.count
        guard damaged <= Self.mostDamaged else { throw Self.muchDamage }
        try engine.settle(damage)
        for candidate in found {
            do throws(KeychainError) { try engine.lead(to: candidate, itemClass) } catch {
                // Another row has its place: a person has to look (`latchkey doctor`).
                guard error.status == .duplicateItem else { throw error }
            }
        }
        guard let end else {
            last = .min
            return classes.dropFirst()
        }
        last = end
        return classes
    }

    /// Rows to which something is wrong in one batch, and its last number; nil at the end.
    private static func suspects(
        _ itemClass: ItemClass, after rowid: Int64, _ engine: KeychainEngine, _ reader: StoreReader
    ) throws(KeychainError) -> (end: Int64?, found: [Candidate], damage: [DamageReport], isLocked: Bool) {
        var found: [Candidate] = []
        var damage: [DamageReport] = []
        var isLocked = false
        let rows = try reader.walkColumns(itemClass, after: rowid, atMost: rowsOfAStep)
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
