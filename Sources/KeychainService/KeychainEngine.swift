package import Enclave
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
package import KeychainStore
internal import Synchronization

/// The keychain itself: parse, authorize, execute. The daemon is this behind a
/// socket, KeychainTesting this in the test's process: one code path.
package final class KeychainEngine: Sendable {
    package let store: Store
    package let dataDirectory: String
    let directory: PrivateDirectory
    /// The lock on the data directory; the daemon writes its rendezvous into it.
    package let lock: FolderLock
    let clock: any KeychainClock
    let enclave: EnclavePool
    let keys: MetadataKeys
    let brake: DamageBrake
    /// The calls that are under way.
    let calls: CallDrain
    /// What an attempt at an application password costs; less in tests.
    let applicationPasswordKibibytes: UInt32
    let malformation = Mutex(false)
    let salvagedAtOpening = Mutex<SalvageCounts?>(nil)
    /// How many records that stand twice the opening put right in one of their copies.
    let mendedAtOpening = Mutex(0)
    /// Hears that a row was led to again.
    let mendedHears = Mutex<(@Sendable (String) -> Void)?>(nil)
    /// One long look at the whole store at a time.
    let doctoring = Mutex(())
    let isClosing = Atomic(false)
    /// Items of the database that was set aside may still come back: nobody is told
    /// that one of them is not there.
    let mayBringBack = Atomic(false)
    /// The class that has to be open for that.
    let salvageAwaits = Mutex<ProtectionClass?>(nil)
    /// Something of a database that was set aside did not come back, and nobody has
    /// accepted that.
    let lacksItems = Atomic(false)
    /// The malformed database that had to be set aside for this opening.
    package let setAside: StoreSetAside?
    /// The log that this opening found beside the database, and set aside, because it was no
    /// log of it.
    let strayLog: String?
    /// What this opening put right of the database's own log.
    let mendedLog: StoreLog.Mended?
    /// Whether this opening put bytes of the database's header right.
    let isHeaderMended: Bool
    /// Whether this opening found less than had been acknowledged.
    let standing: Store.Standing
    /// That it did is noted nowhere but here: a full disk.
    let isBehindUnnoted: Atomic<Bool>
    let sealer: RowSealer
    let blind: BlindIndex
    let opener: RowOpener
    let maker: RowMaker
    package let storeID: [UInt8]
    /// Whether the keys lie in the folder, and did at the opening.
    let hadKeybag: Bool

    /// Connects to the enclave of the store that the database names.
    package typealias EnclaveOpener = (ExpectedStore) throws(KeychainError) -> any EnclaveConnector

    /// Opens the store in a folder (0700, made where it does not exist), taking
    /// its lock: one store is open in one process at a time.
    ///
    /// - Throws: `errSecNotAvailable`, reasons `storeInUse`, `unsuitableFileSystem`,
    ///   `storeNewer`, `storeMismatch`, `storeUnreadable`, `keybagUnreadable`.
    package static func open(
        dataDirectory: String, clock: any KeychainClock, keys: KeyPlace = .dataDirectory,
        applicationPasswordKibibytes: UInt32 = 65_536, enclave: EnclaveOpener
    ) throws(KeychainError) -> KeychainEngine {
        let directory = try opening(dataDirectory) { path throws(DirectoryRefusal) in
            try PrivateDirectory(path, creating: true)
        }
        let lock = try takeLock(directory)
        let engine = try KeychainEngine(directory, lock, keys, enclave, clock, applicationPasswordKibibytes)
        engine.mendCopiesAtOpening()
        engine.leaveOldKeys()
        engine.salvageAfterSettingAside()
        return engine
    }

    private static func opening<R>(
        _ path: String, _ body: (String) throws(DirectoryRefusal) -> R
    ) throws(KeychainError) -> R {
        do throws(DirectoryRefusal) { return try body(path) } catch {
            throw KeychainError(folder: error)
        }
    }

    private static func takeLock(_ directory: PrivateDirectory) throws(KeychainError) -> FolderLock {
        let lock: FolderLock?
        do throws(SystemCallError) { lock = try FolderLock.take(Rendezvous.lockFile, in: directory) } catch {
            throw KeychainError(
                .notAvailable, reason: error.isDiskFull ? .diskFull : .folderUnusable(why: "\(error)"))
        }
        guard let lock else { throw KeychainError(.notAvailable, reason: .storeInUse) }
        return lock
    }

    private init(
        _ directory: PrivateDirectory, _ lock: FolderLock, _ place: KeyPlace, _ opener: EnclaveOpener,
        _ clock: any KeychainClock, _ applicationPasswordKibibytes: UInt32
    ) throws(KeychainError) {
        self.applicationPasswordKibibytes = applicationPasswordKibibytes
        self.lock = lock
        self.clock = clock
        do throws(SystemCallError) { calls = try CallDrain() } catch {
            throw KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
        }
        dataDirectory = directory.path
        self.directory = directory
        // A restore that was decided before a crash.
        try RestoreSwitch.finish(in: directory, at: clock.wallClock)
        let opened = try OpenedStore.open(in: directory, place, at: clock.wallClock)
        store = opened.store
        setAside = opened.setAside
        strayLog = opened.strayLog
        mendedLog = opened.mendedLog
        isHeaderMended = opened.isHeaderMended
        // A keybag is made only where the database is new: one that names its
        // store and finds no keybag is an error, never a reason for new keys.
        enclave = EnclavePool(try opened.connect(opener), clock: clock)
        let keybag = try enclave.use { enclave throws(KeychainError) in (enclave.storeID, enclave.indexKey) }
        storeID = keybag.0
        hadKeybag = try translatingFiles { () throws(SystemCallError) in try EnclaveFiles.holdKeybag(in: directory) }
        do throws(KeychainError) {
            standing = try store.standing(in: directory, at: clock.wallClock, kept: mendedLog?.kept)
            try store.migrate()
            try Self.bind(store, to: keybag.0)
        } catch {
            throw Self.marking(error, in: directory, of: keybag.0, at: clock.wallClock)
        }
        if let aside = opened.setAside {
            // Noted before the marker goes: a crash from here on is carried on by the
            // next opening.
            let names = StoreRecord.bytes(of: opened.predecessors)
            do throws(KeychainError) {
                try store.write { transaction throws(KeychainError) in
                    try transaction.put(names, as: .predecessor)
                    try transaction.put(names, as: .salvaging)
                }
            } catch {
                throw Self.marking(error, in: directory, of: keybag.0, at: clock.wallClock)
            }
            try aside.finish(in: directory)
        }
        do throws(KeychainError) {
            let isNoted = try store.takeUpWitness(standing, in: directory, kept: mendedLog?.kept)
            isBehindUnnoted = Atomic(standing != .whole && !isNoted)
            brake = try DamageBrake(store, clock: clock)
        } catch {
            throw Self.marking(error, in: directory, of: keybag.0, at: clock.wallClock)
        }
        blind = BlindIndex(keybag.1.bytes)
        sealer = RowSealer(storeID: keybag.0)
        keys = MetadataKeys(store, enclave, brake, storeID: keybag.0)
        self.opener = RowOpener(keys: keys, sealer: sealer)
        maker = RowMaker(enclave: enclave, sealer: sealer, blind: blind)
    }

    /// A database that turns out malformed while it is opened is set aside by the next opening.
    private static func marking(
        _ found: KeychainError, in directory: PrivateDirectory, of storeID: [UInt8], at moment: Double
    ) -> KeychainError {
        guard found.reason == .storeMalformed else { return found }
        do throws(KeychainError) {
            _ = try StoreSetAside.mark(in: directory, storeID: storeID, at: moment)
        } catch {
            // Where the marker cannot be written the next opening finds out by itself.
            return error.reason == .inputOutput ? error : found
        }
        return found
    }

    /// Database and keybag carry one store id; a database that lost its first
    /// commit gets the keybag's.
    private static func bind(_ store: Store, to storeID: [UInt8]) throws(KeychainError) {
        let known = try store.read { reader throws(KeychainError) in try reader.storeIDs() }
        guard known.isEmpty || known.contains(storeID) else {
            throw KeychainError(.notAvailable, reason: .storeMismatch)
        }
        if known.isEmpty {
            try store.write { transaction throws(KeychainError) in try transaction.put(storeID: storeID) }
        }
    }

    /// Lets go of pages of the database that nobody reads just now (``Store/letGoOfPages(ofReaders:then:)``).
    package func letGoOfPages(ofReaders: Bool, then: @escaping @Sendable () -> Void) {
        store.letGoOfPages(ofReaders: ofReaders, then: then)
    }

    /// Closes the database; no call may be under way.
    ///
    /// A doctor that nobody waits for any more breaks off after its batch.
    package func close() throws(KeychainError) {
        isClosing.store(true, ordering: .releasing)
        store.bell.ring()
        doctoring.withLock { _ in }
        enclave.close()
        keys.forget()
        try store.close()
        lock.release()
    }

    /// Drops the unwrapped metadata keys; the next call unwraps them anew.
    package func forgetMetadataKeys() { keys.forget() }

    // MARK: Calls

    /// Answers one request; rows are handed to `emit` as they are opened, in
    /// rowid order, all from one state of the store; where a person had to agree after
    /// the first of them, the rest from a later one.
    ///
    /// - Parameter progress: the same whenever the call is made again for that.
    /// - Throws: the status of the spec; nothing was changed then. An error that
    ///   `emit` throws ends the call.
    package func perform(
        _ request: KeychainRequest, for authorization: Authorization, from progress: SearchProgress = SearchProgress(),
        shape: (AnswerShape) throws(KeychainError) -> Void, emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try refuseIfMalformed()
        do throws(KeychainError) {
            try withNewestKeys { () throws(KeychainError) in
                try calls.during { () throws(KeychainError) in
                    try execute(request, authorization, progress, shape, emit)
                }
            }
        } catch {
            throw noteMalformation(error)
        }
    }

    /// How often the class keys may become others in one call.
    private static let mostRenewals = 4

    /// Makes again what met class keys that became others between two of its steps:
    /// nothing was changed or told then.
    func withNewestKeys<R>(_ body: () throws(KeychainError) -> R) throws(KeychainError) -> R {
        for _ in 0..<Self.mostRenewals {
            do throws(KeychainError) { return try body() } catch {
                guard error == MetadataKeys.renewed else { throw error }
                try keys.renew(at: clock.wallClock)
            }
        }
        return try body()
    }

    /// Settles what a change of the passcode left to be done at the next opening.
    private func leaveOldKeys() {
        do throws(KeychainError) {
            let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
            try purgeEffaced(described)
            try retireOldKeys(described)
        } catch {
            // A full disk, a silent enclave: nothing hurts that stays until the next opening.
            noteMalformation(error)
        }
    }

    private func execute(
        _ request: KeychainRequest, _ authorization: Authorization, _ progress: SearchProgress,
        _ shape: (AnswerShape) throws(KeychainError) -> Void,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        switch request.operation {
        case .status, .device, .awaitDevice, .means, .evaluate, .setApplicationPassword, .doctor, .census,
            .changePosition, .changes, .addItems, .audit, .copyEach, .searchEach:
            return
        case .deleteGroups(let groups): try deleteGroups(groups, authorization)
        case .add, .copy, .update, .delete:
            try authorization.checkUnparsed(request)
            switch request.operation {
            case .add: try add(request, authorization, shape, emit)
            case .copy: try copy(request, authorization, progress, shape, emit)
            case .update:
                try refuseWithoutKeys()
                try update(request, authorization)
            default: try delete(request, authorization)
            }
        }
    }

    /// The whole answer at once.
    package func answer(
        _ request: KeychainRequest, for authorization: Authorization
    ) throws(KeychainError) -> KeychainAnswer {
        switch request.operation {
        case .status: return KeychainAnswer(status: try status(for: authorization.entitlements))
        case .device, .awaitDevice:
            var answer = KeychainAnswer()
            answer.device = try deviceState()
            return answer
        case .doctor(let task): return KeychainAnswer(doctor: try doctor(task))
        case .census:
            var answer = KeychainAnswer()
            answer.census = try census(request, for: authorization, telling: .everyGroup)
            return answer
        case .changePosition(let scope):
            var answer = KeychainAnswer()
            answer.changes = try changePosition(in: scope, for: authorization)
            return answer
        case .changes(let position, let scope):
            var answer = KeychainAnswer()
            answer.changes = try changes(after: position, in: scope, for: authorization)
            return answer
        case .addItems:
            var answer = KeychainAnswer()
            answer.outcomes = try addItems(request.items, for: authorization)
            return answer
        case .copyEach(let searches):
            var answer = KeychainAnswer(many: true)
            try copyEach(searches, for: authorization) { row throws(KeychainError) in answer.rows.append(row) }
            return answer
        case .searchEach(let searches):
            var answer = KeychainAnswer(many: true)
            try searchEach(searches, for: authorization) { row throws(KeychainError) in answer.rows.append(row) }
            return answer
        default: return try answerCall(request, for: authorization)
        }
    }

    private func answerCall(
        _ request: KeychainRequest, for authorization: Authorization
    ) throws(KeychainError) -> KeychainAnswer {
        var answer = KeychainAnswer()
        try perform(request, for: authorization) { shape throws(KeychainError) in
            answer.returns = shape.returns
            answer.many = shape.many
        } emit: { row throws(KeychainError) in
            answer.rows.append(row)
        }
        return answer
    }
}

/// How the caller wants its answer.
package struct AnswerShape: Sendable {
    package let returns: ReturnTypes
    package let many: Bool

    package init(returns: ReturnTypes, many: Bool) {
        self.returns = returns
        self.many = many
    }
}

/// The engine as a door sees it: calls of one program, in this process.
package final class EmbeddedKeychain: KeychainTransport {
    private let engine: KeychainEngine
    private let authorization: Authorization
    private let asker: any PersonAsker

    /// - Parameter asker: brings what a person has to agree to before one.
    package init(_ engine: KeychainEngine, entitlements: Entitlements, asker: any PersonAsker = NobodyToAsk()) {
        self.engine = engine
        self.asker = asker
        authorization = Authorization(entitlements)
    }

    package func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        let context = CallContext()
        defer { engine.end(context) }
        return try perform(request, in: context)
    }

    fileprivate func perform(
        _ request: KeychainRequest, in context: CallContext
    ) throws(KeychainError) -> KeychainAnswer {
        for _ in 0..<KeychainEngine.mostRounds {
            do throws(KeychainError) {
                return try engine.answer(request, for: authorization.within(context))
            } catch {
                guard error == KeychainEngine.personNeeded else { throw error }
                try engine.askPerson(for: context, by: asker, Self.program)
            }
        }
        throw KeychainEngine.tooManyRounds
    }

    fileprivate static let program = CallingProgram(
        name: ProcessEnvironment.executablePath ?? "", strength: .program, process: ProcessEnvironment.processID)

    package func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try engine.changes(after: position, in: scope, for: authorization, orUntil: cancelled)
    }

    package func session() throws(KeychainError) -> SessionInformation {
        let entitlements = authorization.entitlements
        return SessionInformation(
            groups: entitlements.accessGroups.map(\.name), nameableGroups: entitlements.nameableGroups,
            strength: .program, isTemporary: true, identity: "embedded", missingFeatures: [],
            serverVersion: LatchkeyVersion.text)
    }

    package func authenticationSession() -> any AuthenticationSession { EmbeddedSession(self) }

    /// An engine alone tells nobody of a lock: whoever locks it keeps the board on which
    /// that is told (the daemon, KeychainTesting).
    package func deviceStates() throws(KeychainError) -> any DeviceStates {
        throw KeychainError(.unimplemented, reason: .notImplemented(what: "following the lock of an embedded engine"))
    }

    /// One LAContext at the engine in this process.
    private final class EmbeddedSession: AuthenticationSession {
        private let keychain: EmbeddedKeychain
        private let context = CallContext()

        init(_ keychain: EmbeddedKeychain) { self.keychain = keychain }

        deinit { end() }

        func means() throws(KeychainError) -> AuthenticationMeans {
            try refuseIfEnded()
            return try keychain.engine.means()
        }

        func evaluate(_ demand: AuthenticationDemand) throws(KeychainError) {
            try refuseIfEnded()
            do throws(KeychainError) { try keychain.engine.evaluate(demand, in: context) } catch {
                guard error == KeychainEngine.personNeeded else { throw error }
                try keychain.engine.askPerson(for: context, by: keychain.asker, EmbeddedKeychain.program)
            }
        }

        func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
            try refuseIfEnded()
            try keychain.engine.setApplicationPassword(password, in: context)
        }

        func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
            try refuseIfEnded()
            return try keychain.perform(request, in: context)
        }

        func end() { keychain.engine.end(context) }

        private func refuseIfEnded() throws(KeychainError) {
            if context.hasEnded { throw KeychainError(.authFailed, reason: .contextInvalid) }
        }
    }
}
