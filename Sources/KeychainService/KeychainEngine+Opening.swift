internal import Enclave
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// Where the keys of a store lie.
package enum KeyPlace: Sendable {
    /// In the folder `enclave` of the data directory.
    case dataDirectory
    /// With whoever opens the engine (tests, whose keys are in memory).
    case elsewhere
}

/// A database that opened, and what had to be set aside for that.
struct OpenedStore {
    let store: Store
    /// As the database, or the marker beside it, says: two where the database says two things, one
    /// of which is damaged (``StoreCopies``); none in a new one.
    let storeIDs: [[UInt8]]
    let setAside: StoreSetAside?
    /// The files that it takes the place of, newest first: more than one where a
    /// database was malformed that had not served yet.
    let predecessors: [String]
    /// The name under which a log lies now that was not the database's.
    let strayLog: String?
    /// What of the database's own log was put right.
    let mendedLog: StoreLog.Mended?
    /// Whether bytes of the database's header were wrong.
    let isHeaderMended: Bool

    private init(
        _ directory: PrivateDirectory, settingAside marker: StoreSetAside?, at moment: Double
    ) throws(KeychainError) {
        var headerBytes = 0
        if marker == nil {
            // What is to be set aside may be anything.
            try Store.refuseStrangers(in: directory)
            headerBytes = try StoreSetAside.mendHeader(in: directory)
        }
        // First: where the name of the log was changed it is nobody's; and a database that reads as
        // malformed without what its log holds is none.
        mendedLog = try StoreSetAside.mendLog(in: directory, at: moment)
        // Where the marker's is away already, what lies here is the next one.
        let hasMoved = try marker?.hasMoved(in: directory) ?? true
        let isWhole = mendedLog != nil && !hasMoved && marker?.before.isEmpty == true
        if isWhole, let marker { try marker.finish(in: directory) }
        let moved = isWhole ? nil : marker
        try moved?.move(in: directory)
        if marker != nil { headerBytes = try StoreSetAside.mendHeader(in: directory) }
        strayLog = try StoreSetAside.keepStrayLog(in: directory, at: moment)
        store = try Store(in: directory)
        isHeaderMended = headerBytes > 0 || store.isHeaderWrong
        let named = try store.read { reader throws(KeychainError) in try reader.storeIDs() }
        storeIDs = named.isEmpty ? marker?.storeID.map { [$0] } ?? [] : named
        setAside = moved
        predecessors = moved.map { [$0.name] + $0.before } ?? []
    }

    /// Opens the database. One that SQLite calls malformed, or that is gone from
    /// beside its keys, is an error once: whoever opens it is told before a new one
    /// is made in its place, and the old one set aside whole, by the next opening.
    ///
    /// - Throws: as ``Store/init(in:)``; `storeMalformed`, once; `keybagUnreadable`
    ///   where the database is malformed and there is no keybag either: nothing is
    ///   touched then.
    static func open(
        in directory: PrivateDirectory, _ place: KeyPlace, at moment: Double
    ) throws(KeychainError) -> OpenedStore {
        let pending = try StoreSetAside.pending(in: directory, at: moment)
        let holdsKeys = try holdsKeys(directory, place)
        // Tables are there before any key is: without them, but with keys, there is
        // no new store but one that lost its database. SQLite would take it for new
        // and delete the log.
        if pending == nil, place == .dataDirectory, holdsKeys, try StoreHeader.isEmpty(in: directory) {
            _ = try StoreSetAside.mark(in: directory, storeID: nil, at: moment)
            throw KeychainError(
                .notAvailable, reason: .storeMalformed, underlying: "the database is gone, its keys are there")
        }
        do throws(KeychainError) { return try OpenedStore(directory, settingAside: pending, at: moment) } catch {
            guard error.reason == .storeMalformed else { throw error }
            // A malformed database does not tell its store: the keybag does. Where
            // that is missing as well, a new one would shut the old rows out.
            guard holdsKeys else {
                throw KeychainError(
                    .notAvailable, reason: .keybagUnreadable,
                    underlying: "the database is malformed, the keybag is missing")
            }
            guard pending != nil else {
                _ = try StoreSetAside.mark(in: directory, storeID: nil, at: moment)
                throw error
            }
        }
        // The new database of an earlier setting aside, which was told.
        let marker = try StoreSetAside.mark(in: directory, storeID: nil, at: moment)
        return try OpenedStore(directory, settingAside: marker, at: moment)
    }

    private static func holdsKeys(
        _ directory: PrivateDirectory, _ place: KeyPlace
    ) throws(KeychainError) -> Bool {
        if place == .elsewhere { return true }
        return try looking(at: EnclaveFiles.folderName, in: directory) { () throws(SystemCallError) in
            try EnclaveFiles.holdKeybag(in: directory)
        }
    }

    /// Connects to the enclave of the store that the database names, in one of two copies: its
    /// keybag says which is right.
    ///
    /// - Throws: `storeMismatch` where it is another store's in either.
    func connect(_ opener: KeychainEngine.EnclaveOpener) throws(KeychainError) -> any EnclaveConnector {
        guard let last = storeIDs.last else { return try opener(.anyOrNew) }
        for id in storeIDs.dropLast() {
            do throws(KeychainError) { return try opener(.named(id)) } catch {
                guard error.reason == .storeMismatch else { throw error }
            }
        }
        return try opener(.named(last))
    }
}

extension KeychainEngine {
    /// What a log should say about how this engine opened; names no item.
    package var openingEvent: String? {
        let events = [
            settingAsideEvent, strayLogEvent, mendedLogEvent, mendedHeaderEvent, mendedCopiesEvent, witnessEvent,
        ].compactMap { $0 }
        return events.isEmpty ? nil : events.joined(separator: "; ")
    }

    private var strayLogEvent: String? {
        strayLog.map { "a write-ahead log that is not the database's last is set aside as \($0)" }
    }

    private var mendedLogEvent: String? {
        mendedLog.map { mended in
            "bytes of the write-ahead log had changed since they were written (the disk, or memory): \(mended.count) "
                + "of its parts were put right" + (mended.kept.map { "; as it was it is kept as \($0)" } ?? "")
        }
    }

    private var mendedHeaderEvent: String? {
        guard isHeaderMended else { return nil }
        return "bytes of the database's header had changed since they were written (the disk, or memory), and were "
            + "put right"
    }

    private var mendedCopiesEvent: String? { Self.mendedCopiesEvent(mendedAtOpening.withLock { $0 }) }

    private static func mendedCopiesEvent(_ count: Int) -> String? {
        if count == 0 { return nil }
        return "bytes of the database had changed since they were written (the disk, or memory): of the records "
            + "that stand in it twice \(count) were put right from their other copy"
    }

    /// Puts right what is damaged in one of its two copies and open now. To be called after each
    /// change of what ``deviceState()`` tells.
    ///
    /// - Returns: what a log should say; nil where nothing was damaged. Names no item.
    package func mendCopies() throws(KeychainError) -> String? {
        do throws(KeychainError) { return Self.mendedCopiesEvent(try keys.mendCopies(at: clock.wallClock)) } catch {
            throw noteMalformation(error)
        }
    }

    /// What stands twice, at the opening. A full disk or a silent enclave leaves it to the next one:
    /// the copy that is whole is read.
    func mendCopiesAtOpening() {
        do throws(KeychainError) {
            let records = try store.mendRecords(storeID: storeID)
            mendedAtOpening.withLock { $0 += records }
            let keys = try keys.mendCopies(at: clock.wallClock)
            mendedAtOpening.withLock { $0 += keys }
        } catch { noteMalformation(error) }
    }

    private var witnessEvent: String? {
        guard case .behind(let log) = standing else { return nil }
        let kept = log.map { ", kept as \($0)" } ?? ""
        return "the database lacks what was acknowledged before: it was replaced by an older one, or its log was lost, "
            + "cut or changed" + kept
    }

    private var settingAsideEvent: String? {
        guard let setAside else { return nil }
        let counts = salvagedAtOpening.withLock { $0 } ?? SalvageCounts()
        return
            "the database was malformed and is set aside as \(setAside.name); items brought back: \(counts.restored), "
            + "not opening: \(counts.unopened)" + (counts.isCutShort ? ", not finished" : "")
    }

    /// Whether the store's lock is where others look for it, and says who has the store.
    package var hasLock: Bool { lock.isInPlace && lock.isUnchanged }

    /// Holds the store's lock where others look for it, after its file was removed or
    /// replaced: a second daemon would take the store for one that nobody has. Not where more
    /// than that has gone: the folder is being emptied, or is another store's by now.
    package func putLockBack() {
        guard !isAway, !isLastPlace else { return }
        // Another process that has the file gives it up where it cannot have the store.
        do throws(SystemCallError) { _ = try lock.putBack() } catch { return }
    }

    /// Whether its folder was removed or moved.
    package var isAway: Bool { !directory.isInPlace }

    /// What is the matter where the folder was moved, whole.
    var moved: KeychainError? {
        guard let place = directory.movedTo else { return nil }
        do throws(SystemCallError) {
            guard try EnclaveFiles.holdKeybag(in: directory), try directory.holds(Store.fileName) else { return nil }
        } catch { return nil }
        return KeychainError(.notAvailable, reason: .folderMoved(to: place))
    }

    /// Whether something that it has open lies in its folder no more, so that it can be read
    /// for as long as daemon and enclave run.
    package var isLastPlace: Bool { !isAway && (store.placeFault != nil || lacksKeybag) }

    /// What cannot be looked at may be there; in a folder that was moved it is nowhere.
    private var lacksKeybag: Bool {
        guard hadKeybag, !isAway else { return hadKeybag }
        do throws(SystemCallError) { return try !EnclaveFiles.holdKeybag(in: directory) } catch { return false }
    }

    /// A change for which the enclave makes no key, and so does not look, is none that lasts
    /// either where the keys do not. Asked how it is, it writes anew what it can.
    ///
    /// - Throws: `errSecNotAvailable`, reason `keysAway`.
    func refuseWithoutKeys() throws(KeychainError) {
        guard lacksKeybag,
            try enclave.use({ enclave throws(KeychainError) in try enclave.describe() }).placeFault != nil
        else { return }
        throw KeychainError(
            .notAvailable, reason: .keysAway,
            underlying: "the folder enclave is not as it was opened: put it back")
    }

    /// Whether another store lies in the place of this one's folder, or of its files.
    package var isSupplanted: Bool {
        if directory.isInPlace { return store.placeFault == .replaced && !lock.isInPlace }
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath("\(directory.path)/\(Store.fileName)"), followingLink: true).isRegularFile
        } catch { return false }
    }

    /// Whether the database turned out malformed under this engine: it answers
    /// nothing more, and the next opening sets the file aside.
    package var isMalformed: Bool { malformation.withLock { $0 } }

    /// Whether the database has to be opened anew: this engine answers nothing more.
    package var isSpent: Bool { isMalformed || store.hasLostItsLog }

    /// Keeps in mind, and beside the file, that SQLite called it malformed.
    ///
    /// - Returns: what is the matter: without its log a whole database reads as a broken one,
    ///   or as a broken disk; of files that went with the whole folder, where that is.
    @discardableResult
    func noteMalformation(_ error: KeychainError) -> KeychainError {
        if error.reason == .databaseAway || error.reason == .keysAway, let moved { return moved }
        guard error.reason == .storeMalformed || error.reason == .inputOutput else { return error }
        do throws(KeychainError) { try store.checkLog() } catch {
            if error.reason == .logChanged { return error }
        }
        if error.reason == .storeMalformed { markMalformed() }
        return error
    }

    private func markMalformed() {
        let isFirst = malformation.withLock { known in
            defer { known = true }
            return !known
        }
        guard isFirst else { return }
        // Where the marker cannot be written the next opening has to find out by
        // itself; nothing is lost by that.
        do throws(KeychainError) {
            _ = try StoreSetAside.mark(in: directory, storeID: storeID, at: clock.wallClock)
        } catch { return }
    }

    /// - Throws: `errSecNotAvailable`, reason `storeMalformed` or `logChanged`, once it is known.
    func refuseIfMalformed() throws(KeychainError) {
        if isMalformed { throw KeychainError(.notAvailable, reason: .storeMalformed) }
        if store.hasLostItsLog { throw KeychainError(.notAvailable, reason: .logChanged) }
    }
}
