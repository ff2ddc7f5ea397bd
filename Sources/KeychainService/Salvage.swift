internal import Enclave
internal import KeychainCrypto
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// Brings back what was set aside and opens after all: rows of the table
/// `damaged` and of malformed databases. Authenticity comes from the seals alone;
/// a row whose place a newer item has stays where it is.
struct Salvage {
    private let engine: KeychainEngine
    private let extent: Extent
    private(set) var counts = SalvageCounts()
    /// A class whose rows were passed over because it is locked: nobody knows what they are.
    private var lockedClass: ProtectionClass?
    /// Metadata keys that may open rows; a locked class is missing.
    private var candidates: [ProtectionClass: [MetadataKey]] = [:]

    /// How far it goes.
    enum Extent {
        /// Until everything was looked at.
        case whole
        /// No further batch is begun after it.
        case until(Deadline)

        var isOver: Bool {
            switch self {
            case .whole: false
            case .until(let deadline): deadline.hasPassed
            }
        }
    }

    init(_ engine: KeychainEngine, _ extent: Extent) {
        self.engine = engine
        self.extent = extent
    }

    private var isOver: Bool { engine.isClosing.load(ordering: .acquiring) || extent.isOver }

    /// Where a row comes from.
    private enum Origin {
        case file(String)
        case damaged(number: Int64)
    }

    private struct Find {
        let origin: Origin
        let itemClass: ItemClass
        let row: SealedRow
        let metadata: ItemMetadata
    }

    // MARK: Sources

    /// The database that this one took the place of (or several, where one of them
    /// never served; newest first), then the table `damaged`.
    ///
    /// Older files are left alone: what opened in them came into the database that
    /// followed, and what was deleted there must not come back. Where that database
    /// says itself that it was not through with them, they are gone through as well:
    /// as long as it was not, nothing was deleted from it.
    mutating func run() throws(KeychainError) {
        let noted = try engine.store.read { reader throws(KeychainError) in try reader.record(.predecessor) }
        var names = noted.map { StoreRecord.names(in: $0) } ?? []
        let present = try Set(StoreSetAside.files(in: engine.directory))
        var next = 0
        var incomplete: [String] = []
        while next < names.count {
            let name = names[next]
            next += 1
            let before = counts
            if present.contains(name) { try takeFile(name, &names) } else { counts.unreadableFiles += 1 }
            if isOver { return counts.isCutShort = true }
            if counts.leftBehind > before.leftBehind { incomplete.append(name) }
        }
        if let lockedClass {
            // Not through: what is locked is not damaged (``KeychainEngine/goOnSalvaging()``).
            engine.salvageAwaits.withLock { $0 = lockedClass }
        } else {
            try finish(incomplete)
        }
        try takeDamaged()
    }

    /// Every file was gone through; what is still in one of them is kept in mind
    /// until a person accepts that.
    private func finish(_ incomplete: [String]) throws(KeychainError) {
        try engine.store.write { transaction throws(KeychainError) in
            try transaction.remove(.salvaging)
            if incomplete.isEmpty {
                try transaction.remove(.incomplete)
            } else {
                try transaction.put(StoreRecord.bytes(of: incomplete), as: .incomplete)
            }
        }
        let lacksItems = try engine.store.read { reader throws(KeychainError) in try engine.lacksItems(reader) }
        engine.lacksItems.store(lacksItems, ordering: .releasing)
        engine.salvageAwaits.withLock { $0 = nil }
        engine.mayBringBack.store(false, ordering: .releasing)
    }

    /// - Parameter names: gets the files that this one was not through with.
    private mutating func takeFile(_ name: String, _ names: inout [String]) throws(KeychainError) {
        counts.files += 1
        guard let remains = try StoreRemains(name, in: engine.directory) else {
            counts.unreadableFiles += 1
            return
        }
        for earlier in try remains.unfinishedPredecessors() where !names.contains(earlier) {
            names.append(earlier)
            try inherit(earlier, from: remains, names)
        }
        try loadKeys(remains)
        var isWhole = true
        for itemClass in ItemClass.stored {
            var batch: [Find] = []
            var byteCount = 0
            isWhole =
                try remains.forEachRow(of: itemClass) { row throws(KeychainError) in
                    if isOver { return }
                    guard try !wasTaken(row, itemClass, name) else { return counts.present += 1 }
                    guard let metadata = open(row, itemClass) else { return }
                    batch.append(Find(origin: .file(name), itemClass: itemClass, row: row, metadata: metadata))
                    byteCount += row.secret?.count ?? 0
                    guard batch.count >= WalkStep().rows || byteCount >= WalkStep().bytes else { return }
                    try restore(batch)
                    (batch, byteCount) = ([], 0)
                } && isWhole
            try restore(batch)
        }
        if !isWhole { counts.unreadableFiles += 1 }
    }

    /// Durably, before the first row comes: the file becomes a predecessor of ours,
    /// and what was taken over from it counts as taken.
    private func inherit(
        _ earlier: String, from remains: StoreRemains, _ names: [String]
    ) throws(KeychainError) {
        let taken = try remains.rowsTaken(from: earlier)
        try engine.store.write { transaction throws(KeychainError) in
            try transaction.put(StoreRecord.bytes(of: names), as: .predecessor)
            for (itemClass, rowid) in taken { try transaction.noteSalvaged(rowid, of: itemClass, from: earlier) }
        }
    }

    private func wasTaken(_ row: SealedRow, _ itemClass: ItemClass, _ file: String) throws(KeychainError) -> Bool {
        try engine.store.read { reader throws(KeychainError) in
            try reader.wasSalvaged(row.rowid, of: itemClass, from: file)
        }
    }

    private mutating func takeDamaged() throws(KeychainError) {
        try loadKeys(nil)
        var last: Int64 = 0
        while true {
            let after = last
            let rows = try engine.store.read { reader throws(KeychainError) in
                try reader.damaged(after: after, atMost: WalkStep())
            }
            guard let end = rows.last else { return }
            if isOver { return counts.isCutShort = true }
            last = end.number
            for itemClass in ItemClass.stored {
                var batch: [Find] = []
                for found in rows where found.itemClass == itemClass {
                    guard let metadata = open(found.row, itemClass) else { continue }
                    batch.append(
                        Find(
                            origin: .damaged(number: found.number), itemClass: itemClass, row: found.row,
                            metadata: metadata))
                }
                try restore(batch)
            }
        }
    }

    // MARK: Opening

    /// The metadata of a row under any key that it may have been sealed with.
    private mutating func open(_ row: SealedRow, _ itemClass: ItemClass) -> ItemMetadata? {
        guard let protectionClass = ProtectionClass(rawValue: row.protection) else {
            counts.unopened += 1
            return nil
        }
        guard let keys = candidates[protectionClass] else {
            passOver(protectionClass)
            return nil
        }
        for key in keys {
            do throws(CryptoError) {
                return try engine.sealer.openMetadata(of: row, itemClass, under: key.key)
            } catch { continue }
        }
        counts.unopened += 1
        return nil
    }

    private mutating func passOver(_ protectionClass: ProtectionClass) {
        counts.locked += 1
        lockedClass = protectionClass
    }

    private mutating func loadKeys(_ remains: StoreRemains?) throws(KeychainError) {
        candidates = [:]
        for protectionClass in ProtectionClass.allCases {
            candidates[protectionClass] = try keys(protectionClass, remains)
        }
    }

    /// nil while the class is locked.
    private func keys(
        _ protectionClass: ProtectionClass, _ remains: StoreRemains?
    ) throws(KeychainError) -> [MetadataKey]? {
        var records = try remains?.metadataKeys(of: protectionClass) ?? []
        records += try engine.store.read { reader throws(KeychainError) in
            let current = try reader.metadataKeys(of: protectionClass)
            return try current + reader.damagedKeys(of: protectionClass)
        }
        var found: [MetadataKey] = []
        for record in records {
            switch try engine.keys.open(record, protectionClass, keeping: false) {
            case .key(let key): found.append(key)
            case .locked: return nil
            case .damaged, .noClassKey, .absent, .effaced: continue
            }
        }
        return found
    }

    // MARK: Restoring

    /// Puts rows whose secret opens as well into their tables, in one transaction.
    private mutating func restore(_ finds: [Find]) throws(KeychainError) {
        guard let itemClass = finds.first?.itemClass else { return }
        let secrets = try engine.openSecrets(finds.map { ($0.row, $0.metadata) }, itemClass)
        var whole: [(Find, RowToStore)] = []
        for (find, secret) in zip(finds, secrets) {
            switch secret {
            case .payload:
                if let stored = try resealed(find) { whole.append((find, stored)) } else { passOver(find) }
            case .locked: passOver(find)
            // Nobody can agree to it here.
            case .needsAuthentication, .wrongApplicationPassword: counts.locked += 1
            case .damaged, .effaced: counts.unopened += 1
            }
        }
        guard !whole.isEmpty else { return }
        let rows = whole
        let restored = try engine.store.write { transaction throws(KeychainError) -> Int in
            var count = 0
            for (find, stored) in rows {
                if try Self.insert(find, stored, transaction) { count += 1 }
            }
            return count
        }
        counts.restored += restored
        counts.present += rows.count - restored
    }

    private mutating func passOver(_ find: Find) {
        if let protectionClass = ProtectionClass(rawValue: find.row.protection) { passOver(protectionClass) }
    }

    /// The row under today's metadata key of its class, its secret as it was.
    private func resealed(_ find: Find) throws(KeychainError) -> RowToStore? {
        guard let protectionClass = ProtectionClass(rawValue: find.row.protection) else { return nil }
        let key: MetadataKey
        do throws(KeychainError) {
            key = try engine.keys.forWriting(protectionClass, at: engine.clock.wallClock)
        } catch {
            guard error.status == .interactionNotAllowed || error.status == .authFailed else { throw error }
            return nil
        }
        let draft = ItemDraft(of: find.row, find.itemClass, find.metadata)
        switch try engine.renewed([((find.row, find.metadata), draft)], under: key).first {
        case .row(let stored): return stored
        case .locked, .gone, nil: return nil
        }
    }

    /// False where its place is taken: what is there now is newer.
    private static func insert(
        _ find: Find, _ stored: RowToStore, _ transaction: StoreTransaction
    ) throws(KeychainError) -> Bool {
        let holder = try transaction.reader.row(withPrimaryKey: stored.primaryKey, in: find.itemClass)
        let isReferred = try transaction.reader.hasPersistentReference(find.row.persistref, in: find.itemClass)
        let isTaken = holder != nil || isReferred
        if !isTaken { _ = try transaction.insert(stored, in: find.itemClass) }
        switch find.origin {
        case .file(let name): try transaction.noteSalvaged(find.row.rowid, of: find.itemClass, from: name)
        case .damaged(let number) where isTaken: try transaction.supersede(damaged: number)
        case .damaged(let number): try transaction.removeDamaged(number)
        }
        return !isTaken
    }
}

extension KeychainEngine {
    /// Goes on bringing back what was locked, once it is open. To be called after each change of
    /// what ``deviceState()`` tells, on a thread that may take long.
    package func goOnSalvaging() throws(KeychainError) {
        guard let awaited = salvageAwaits.withLock({ $0 }), try deviceState().openClasses.contains(awaited)
        else { return }
        _ = try doctor(.salvage)
    }

    /// Whether what may come back is locked, so that waiting alone brings nothing.
    var lockedSalvage: KeychainError? {
        guard let awaited = salvageAwaits.withLock({ $0 }) else { return nil }
        do throws(KeychainError) {
            return try deviceState().openClasses.contains(awaited) ? nil : MetadataKeys.lockedError(awaited)
        } catch { return error }
    }

    /// Whether something was lost with a file, and nobody has accepted that.
    func lacksItems(_ reader: StoreReader) throws(KeychainError) -> Bool {
        if isBehindUnnoted.load(ordering: .acquiring) { return true }
        return try reader.lacksItems()
    }

    /// How long an opening may be held up; `latchkey doctor --salvage` does the rest.
    private static let patienceAtOpening: Duration = .seconds(3)

    /// A program that finds nothing makes new items in the old ones' place; so
    /// what opens comes back before the first call is answered.
    func salvageAfterSettingAside() {
        let isUnderWay: Bool
        do throws(KeychainError) {
            isUnderWay = try store.read { reader throws(KeychainError) in
                lacksItems.store(try lacksItems(reader), ordering: .releasing)
                return try reader.record(.salvaging) != nil
            }
        } catch {
            noteMalformation(error)
            return
        }
        guard isUnderWay else { return }
        mayBringBack.store(true, ordering: .releasing)
        var salvage = Salvage(self, .until(Deadline(after: Self.patienceAtOpening, on: clock)))
        // What is not done yet goes on while the store serves (``needsSalvage``).
        do throws(KeychainError) { try salvage.run() } catch { noteMalformation(error) }
        let counts = salvage.counts
        salvagedAtOpening.withLock { $0 = counts }
    }
}

extension SalvageCounts {
    /// Grows with whatever did not come back.
    fileprivate var leftBehind: Int { unreadableFiles + unopened + locked }
}
