internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// Brings back what was set aside and opens after all: rows of the table
/// `damaged`, of malformed databases and of logs. Authenticity comes from the seals alone;
/// a row whose place a newer item has stays where it is, and what has an older form of the same
/// item, because its database lost the log, gets the newer one.
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

    /// Whether nobody has been through these files to the end.
    private var isFirst = false
    /// What one of them says of items that it lacked itself (``StoreRecord/behind``): they are
    /// in none of its rows.
    private var shortfall: [UInt8]?

    private var isOver: Bool { engine.isClosing.load(ordering: .acquiring) || extent.isOver }

    /// So many rows that SQLite found are kept in mind; of the others pages may count one twice.
    private static let mostTried = 1 << 20

    // MARK: Sources

    /// The database that this one took the place of (or several, where one of them
    /// never served; newest first), then the table `damaged`.
    ///
    /// Older files are left alone: what opened in them came into the database that
    /// followed, and what was deleted there must not come back. Where that database
    /// says itself that it was not through with them, they are gone through as well:
    /// as long as it was not, nothing was deleted from it.
    mutating func run() throws(KeychainError) {
        let (predecessors, begun) = try engine.store.read { reader throws(KeychainError) in
            (try reader.record(.predecessor), try reader.record(.salvaging))
        }
        isFirst = begun != nil
        // Those that were gone through before: something may have been deleted since.
        var names = (begun ?? predecessors).map { StoreRecord.names(in: $0) } ?? []
        let present = try Set(StoreSetAside.files(in: engine.directory))
        var next = 0
        var incomplete: [String] = []
        while next < names.count {
            let name = names[next]
            next += 1
            let before = counts
            if present.contains(name) || present.contains(name + "-wal") {
                try takeFile(name, &names)
            } else {
                counts.unreadableFiles += 1
            }
            if isOver { return counts.isCutShort = true }
            if counts.leftBehind > before.leftBehind { incomplete.append(name) }
        }
        if let lockedClass {
            // Not through: what is locked is not damaged (``KeychainEngine/goOnSalvaging()``).
            engine.salvageAwaits.withLock { $0 = lockedClass }
        } else {
            try finish(incomplete)
            for name in names { StoreSetAside.dropTestimony(of: name, in: engine.directory) }
        }
        try takeDamaged()
    }

    /// Every file was gone through; what is still in one of them is kept in mind
    /// until a person accepts that.
    private func finish(_ incomplete: [String]) throws(KeychainError) {
        // What a person accepts after the first time is accepted.
        let shortfall = isFirst ? shortfall : nil
        try engine.store.write { transaction throws(KeychainError) in
            try transaction.remove(.salvaging)
            if let shortfall { try transaction.put(shortfall, as: .behind) }
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

    /// First as far as SQLite finds its way, then page by page.
    ///
    /// - Parameter names: gets the files that this one was not through with.
    private mutating func takeFile(_ name: String, _ names: inout [String]) throws(KeychainError) {
        counts.files += 1
        let remains = try StoreRemains(name, in: engine.directory)
        let lacksAny = try remains.map { remains throws(KeychainError) in
            try remains.lacksKeys() ? true : remains.lacksRecords()
        }
        let isLogTaken = StoreRemains.takesWholeLog(name, in: engine.directory, until: { isOver })
        var pages = lacksAny ?? true || !isLogTaken ? try scan(name) : nil
        if let behind = try remains?.shortfall() ?? pages?.shortfall { shortfall = behind }
        if let lack = try lack(of: name, remains, &pages) { shortfall = shortfall ?? lack }
        let known = try remains?.unfinishedPredecessors() ?? []
        for earlier in known.isEmpty ? pages?.unfinishedPredecessors ?? [] : known where !names.contains(earlier) {
            names.append(earlier)
            try inherit(earlier, from: remains, names)
        }
        try loadKeys(remains, pages)
        // SQLite finds older forms of what a log holds that it does not take to its end.
        if !isLogTaken, var pages {
            for itemClass in ItemClass.stored { try take(itemClass, from: &pages, name, []) }
        }
        var tried: [ItemClass: Set<Int64>] = [:]
        var incomplete: [ItemClass] = []
        for itemClass in ItemClass.stored {
            let isWhole = try remains.map { remains throws(KeychainError) in
                try take(itemClass, from: remains, &tried[itemClass, default: []])
            }
            if isWhole != true { incomplete.append(itemClass) }
        }
        if !incomplete.isEmpty || !isLogTaken { counts.unreadableFiles += 1 }
        if incomplete.isEmpty { return }
        if pages == nil {
            pages = try scan(name)
            try loadKeys(remains, pages)
        }
        guard var pages else { return }
        for itemClass in incomplete { try take(itemClass, from: &pages, name, tried[itemClass] ?? []) }
    }

    /// What of it was acknowledged and is in nothing that can be read of the file, by its witness.
    private func lack(
        of name: String, _ remains: StoreRemains?, _ pages: inout PageScan?
    ) throws(KeychainError) -> [UInt8]? {
        guard let testimony = StoreSetAside.testimony(of: name, in: engine.directory) else { return nil }
        if let remains, try remains.isOfAnother(history: testimony.history) == true { return nil }
        let found = try remains.map { remains throws(KeychainError) in try remains.lastChange() } ?? nil
        guard let lack = testimony.shortfall(of: found) else { return nil }
        // SQLite may find no way to the list, or to the log.
        if pages == nil { pages = try scan(name) }
        guard let last = pages?.lastChange else { return lack }
        return testimony.shortfall(of: max(found ?? last, last))
    }

    private func scan(_ name: String) throws(KeychainError) -> PageScan? {
        try PageScan(name, in: engine.directory, until: { isOver })
    }

    /// - Parameter tried: gets the rows that SQLite found its way to.
    /// - Returns: whether nothing was out of reach.
    private mutating func take(
        _ itemClass: ItemClass, from remains: StoreRemains, _ tried: inout Set<Int64>
    ) throws(KeychainError) -> Bool {
        var batch = Batch()
        let isWhole = try remains.forEachRow(of: itemClass) { row throws(KeychainError) in
            if isOver { return }
            if tried.count < Self.mostTried { tried.insert(row.rowid) }
            guard try !wasTaken(row.rowid, itemClass, remains.name) else { return counts.present += 1 }
            guard let metadata = open(row, itemClass) else { return }
            batch.add(Find(origin: .file(remains.name), itemClass: itemClass, row: row, metadata: metadata))
            if batch.isFull { try restore(batch.take()) }
        }
        try restore(batch.take())
        return isWhole
    }

    /// The rows of a class that SQLite finds no way to. Of several forms of one row the newest
    /// counts; of one that is not whole nobody knows how new it is.
    private mutating func take(
        _ itemClass: ItemClass, from pages: inout PageScan, _ file: String, _ tried: Set<Int64>
    ) throws(KeychainError) {
        var batch = Batch()
        var forms = Forms()
        try pages.forEachRow(of: itemClass) { rowid throws(KeychainError) in
            if isOver || tried.contains(rowid) { return false }
            return try !wasTaken(rowid, itemClass, file)
        } _: { rowid, found throws(KeychainError) in
            if rowid != forms.rowid {
                settle(forms, &batch)
                forms = Forms(rowid: rowid)
                if batch.isFull { try restore(batch.take()) }
            }
            guard case .row(let row) = found, let opened = metadata(of: row, itemClass, &forms) else { return }
            forms.add(Find(origin: .file(file), itemClass: itemClass, row: row, metadata: opened))
        }
        settle(forms, &batch)
        try restore(batch.take())
    }

    private mutating func settle(_ forms: Forms, _ batch: inout Batch) {
        // A form that is locked may be newer than all that open.
        if let lockedClass = forms.lockedClass {
            passOver(lockedClass)
        } else if let newest = forms.newest {
            batch.add(newest)
        } else if forms.rowid != nil {
            counts.unopened += 1
        }
    }

    /// nil for a form that does not open, or whose class is locked.
    private func metadata(of row: SealedRow, _ itemClass: ItemClass, _ forms: inout Forms) -> ItemMetadata? {
        switch look(at: row, itemClass) {
        case .opened(let metadata): return metadata
        case .locked(let protectionClass):
            forms.lockedClass = protectionClass
            return nil
        case .unopened: return nil
        }
    }

    /// Durably, before the first row comes: the file becomes a predecessor of ours,
    /// and what was taken over from it counts as taken.
    private func inherit(
        _ earlier: String, from remains: StoreRemains?, _ names: [String]
    ) throws(KeychainError) {
        let taken = try remains?.rowsTaken(from: earlier) ?? []
        try engine.store.write { transaction throws(KeychainError) in
            try transaction.put(StoreRecord.bytes(of: names), as: .predecessor)
            for (itemClass, rowid) in taken { try transaction.noteSalvaged(rowid, of: itemClass, from: earlier) }
        }
    }

    private func wasTaken(_ rowid: Int64, _ itemClass: ItemClass, _ file: String) throws(KeychainError) -> Bool {
        try engine.store.read { reader throws(KeychainError) in
            try reader.wasSalvaged(rowid, of: itemClass, from: file)
        }
    }

    private mutating func takeDamaged() throws(KeychainError) {
        try loadKeys(nil, nil)
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

    /// What one try at a row's metadata shows.
    private enum Look {
        case opened(ItemMetadata)
        case locked(ProtectionClass)
        case unopened
    }

    /// The metadata of a row under any key that it may have been sealed with.
    private func look(at row: SealedRow, _ itemClass: ItemClass) -> Look {
        guard let protectionClass = ProtectionClass(rawValue: row.protection) else { return .unopened }
        guard let keys = candidates[protectionClass] else { return .locked(protectionClass) }
        for key in keys {
            do throws(CryptoError) {
                return .opened(try engine.sealer.openMetadata(of: row, itemClass, under: key.key))
            } catch { continue }
        }
        return .unopened
    }

    private mutating func open(_ row: SealedRow, _ itemClass: ItemClass) -> ItemMetadata? {
        switch look(at: row, itemClass) {
        case .opened(let metadata): return metadata
        case .locked(let protectionClass): passOver(protectionClass)
        case .unopened: counts.unopened += 1
        }
        return nil
    }

    private mutating func passOver(_ protectionClass: ProtectionClass) {
        counts.locked += 1
        lockedClass = protectionClass
    }

    private mutating func loadKeys(_ remains: StoreRemains?, _ pages: PageScan?) throws(KeychainError) {
        candidates = [:]
        for protectionClass in ProtectionClass.allCases {
            candidates[protectionClass] = try keys(protectionClass, remains, pages)
        }
    }

    /// nil while the class is locked.
    private func keys(
        _ protectionClass: ProtectionClass, _ remains: StoreRemains?, _ pages: PageScan?
    ) throws(KeychainError) -> [MetadataKey]? {
        var records = try remains?.metadataKeys(of: protectionClass) ?? []
        for record in pages?.metadataKeys(of: protectionClass) ?? [] where !records.contains(record) {
            records.append(record)
        }
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
        let secrets = try engine.openSecrets(finds.map { Candidate($0.row, $0.metadata) }, itemClass)
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
        let (rows, salvage) = (whole, self)
        let restored = try engine.store.write { transaction throws(KeychainError) -> Int in
            var count = 0
            for (find, stored) in rows {
                if try salvage.insert(find, stored, transaction) { count += 1 }
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
        switch try engine.renewed([(Candidate(find.row, find.metadata), draft)], under: key).first {
        case .row(let stored): return stored
        case .locked, .gone, nil: return nil
        }
    }

    /// False where its place is taken by what is newer, or is another item.
    private func insert(
        _ find: Find, _ stored: RowToStore, _ transaction: StoreTransaction
    ) throws(KeychainError) -> Bool {
        let holder = try transaction.reader.row(withPrimaryKey: stored.primaryKey, in: find.itemClass)
        let isReferred = try transaction.reader.hasPersistentReference(find.row.persistref, in: find.itemClass)
        var isTaken = holder != nil || isReferred
        if let holder, isFormer(holder, of: find) {
            var stored = stored
            stored.row.rowid = holder.rowid
            try transaction.replace(stored, in: find.itemClass)
            isTaken = false
        } else if !isTaken {
            _ = try transaction.insert(stored, in: find.itemClass)
        }
        switch find.origin {
        case .file(let name): try transaction.noteSalvaged(find.row.rowid, of: find.itemClass, from: name)
        case .damaged(let number) where isTaken: try transaction.supersede(damaged: number)
        case .damaged(let number): try transaction.removeDamaged(number)
        }
        return !isTaken
    }

    /// Whether a row is the same item as it was before: a database that lost its log has it so.
    private func isFormer(_ holder: SealedRow, of find: Find) -> Bool {
        guard case .file = find.origin, isFirst, holder.persistref == find.row.persistref,
            case .opened(let metadata) = look(at: holder, find.itemClass)
        else { return false }
        let former = Find(origin: find.origin, itemClass: find.itemClass, row: holder, metadata: metadata)
        return find.isLater(than: former)
    }
}

extension SalvageCounts {
    /// Grows with whatever did not come back.
    fileprivate var leftBehind: Int { unreadableFiles + unopened + locked }
}
