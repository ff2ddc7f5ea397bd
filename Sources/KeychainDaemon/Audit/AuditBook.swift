internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainService
internal import Logging
internal import Synchronization

/// The audit record of a daemon: takes what is to be recorded without keeping anybody
/// waiting, and has it on the disk a second later, at a lock and at the end.
///
/// Where it cannot be written (a full disk, a silent enclave) calls go on: a keychain
/// that refuses to work because of its record would be an easy prey for whoever fills
/// the disk. What waits is bounded; how much had no place is recorded itself, the log,
/// `latchkey log` and `latchkey doctor` say since when. The enclave is told how much
/// waits (``KeychainEngine/noteUnwritten(_:by:)``), for the case that this process ends
/// before there is room.
final class AuditBook: AuditSink {
    /// How long a line waits at the most, if the disk is well.
    static let interval: Duration = .seconds(1)
    /// How long a failure waits for the next attempt at the most; each wait is twice the
    /// last. What comes meanwhile is not counted where the process is killed.
    static let longestPause: Duration = .seconds(10)

    private struct State {
        var buffer = AuditBuffer()
        /// Something within the enclave is to be told as well.
        var saysOwn = false
        var waiting: [EventSignal] = []
        var failedSince: Double?
        /// Events that the writer has, and maybe the disk.
        var unsettled: UInt64 = 0
        /// Until the next attempt.
        var pause = AuditBook.interval
        var isEnding = false
        /// Events that an attempt is made to write just now.
        var underWay: UInt64 = 0
        var told = Told.nothing

        var unwritten: UInt64 { buffer.eventCount + unsettled + underWay }
    }

    /// What the enclave was told of events that wait.
    private enum Told: Equatable {
        /// Not even that this process is another one.
        case nothing
        case count(UInt64)
        /// It did not answer, and may have heard it.
        case unknown
    }

    private let engine: KeychainEngine
    /// False in a measurement of what the record costs alone.
    let isKept: Bool
    private let clock: any KeychainClock
    private let logger: Logger
    private let state = Mutex(State())
    /// Tells the enclave this process from those before.
    private let teller = UInt64.random(in: .min ... .max)
    /// There is a first line.
    private let arrivals: EventSignal
    /// Nobody waits for the second to be over.
    private let urgent: EventSignal
    private let thread = Mutex<WorkerThread?>(nil)

    init(
        _ engine: KeychainEngine, isKept: Bool, clock: any KeychainClock, _ logger: Logger
    ) throws(KeychainError) {
        self.engine = engine
        self.isKept = isKept
        self.clock = clock
        self.logger = logger
        do throws(SystemCallError) {
            arrivals = try EventSignal()
            urgent = try EventSignal()
        } catch {
            throw KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
        }
    }

    private func folder() throws(KeychainError) -> AuditFolder {
        do throws(DirectoryRefusal) {
            return try AuditFolder(in: PrivateDirectory(engine.dataDirectory, creating: false))
        } catch {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }

    func digest(_ itemClass: ItemClass, _ name: String, _ account: String?) -> [UInt8] {
        engine.auditDigest(itemClass, name: name, account: account)
    }

    /// Since when nothing could be written, in seconds since 2001-01-01T00:00:00Z.
    var failedSince: Double? { state.withLock { $0.failedSince } }

    private var unwritten: AuditPage.Unwritten? {
        state.withLock { state in
            state.failedSince.map { AuditPage.Unwritten(count: state.unwritten, since: $0) }
        }
    }

    // MARK: Taking

    func released(_ item: ReleasedItem, to party: AuditParty, inPersonsName: Bool) {
        let moment = clock.wallClock
        let (isFirst, isMuch) = state.withLock { state in
            let isFirst = state.buffer.isEmpty
            state.buffer.note(item, to: party, inPersonsName: inPersonsName, at: moment)
            return (isFirst, state.buffer.lineCount == AuditBuffer.urgent)
        }
        if isFirst { arrivals.signal() }
        if isMuch { urgent.signal() }
    }

    func note(_ event: AuditRecord.Event, _ change: (inout AuditRecord) -> Void = { _ in }) {
        guard isKept else { return }
        var record = AuditRecord(event, at: clock.wallClock)
        change(&record)
        let isFirst = state.withLock { state in
            let isFirst = state.buffer.isEmpty
            state.buffer.note(record)
            return isFirst
        }
        if isFirst { arrivals.signal() }
    }

    // MARK: Writing

    func start() {
        let thread = WorkerThread { [self] in work() }
        self.thread.withLock { $0 = thread }
        thread.start()
    }

    /// Once nobody notes anything any more: what is left is written.
    func waitUntilDone() {
        state.withLock { $0.isEnding = true }
        urgent.signal()
        thread.withLock { $0 }?.waitUntilDone()
    }

    /// Something happened within the enclave that is to be in the record now.
    func tellOfEnclave() {
        guard isKept else { return }
        state.withLock { $0.saysOwn = true }
        urgent.signal()
    }

    /// Returns once what was noted before is on the disk, or cannot be written; two
    /// seconds at the most.
    func synchronize() {
        do throws(SystemCallError) {
            let done = try EventSignal()
            state.withLock { $0.waiting.append(done) }
            urgent.signal()
            _ = try waitForAny(of: [done.descriptor], until: Deadline(after: .seconds(2), on: SystemClock()))
        } catch { return }
    }

    private func work() {
        var writer: AuditWriter?
        while true {
            do throws(SystemCallError) {
                if try waitForAny(of: [urgent.descriptor, arrivals.descriptor]) == 1 {
                    arrivals.drain()
                    let pause = state.withLock { $0.pause }
                    _ = try waitForAny(of: [urgent.descriptor], until: Deadline(after: pause, on: clock))
                }
            } catch {
                logger.error("the audit record ends", metadata: ["cause": "\(error)"])
                return
            }
            urgent.drain()
            if write(&writer) { return }
        }
    }

    /// - Returns: whether it was the last time.
    private func write(_ writer: inout AuditWriter?) -> Bool {
        let taken = state.withLock { state in
            defer {
                (state.underWay, state.unsettled) = (state.unwritten, 0)
                state.buffer = AuditBuffer()
                state.waiting = []
                state.saysOwn = false
            }
            return state
        }
        // Digests are made while nobody waits for the lock.
        var buffer = taken.buffer
        var lines = buffer.take(at: clock.wallClock, digest: digest)
        do throws(AuditWriter.Failure) {
            try write(&lines, saysOwn: taken.saysOwn, &writer)
            hasWritten()
        } catch {
            let unsettled = writer?.unsettledCount ?? 0
            hasFailed(error, giving: lines, unsettled, back: taken.saysOwn)
        }
        for waiting in taken.waiting { waiting.signal() }
        return taken.isEnding
    }

    private func write(
        _ lines: inout [AuditRecord], saysOwn: Bool, _ writer: inout AuditWriter?
    ) throws(AuditWriter.Failure) {
        if writer == nil || failedSince != nil {
            let folder: AuditFolder
            do throws(KeychainError) { folder = try self.folder() } catch { throw .keychain(error) }
            if writer == nil { writer = AuditWriter(engine, folder) } else { writer?.folder = folder }
        }
        // The next block is to say what the process before this one took with it.
        if state.withLock({ $0.told == .nothing }) { tell(unwritten: 0) }
        try writer?.write(&lines, saysOwn: saysOwn)
    }

    /// Where the enclave does not answer the next attempt tells it again.
    private func tell(unwritten count: UInt64) {
        guard state.withLock({ $0.told != .count(count) }) else { return }
        let told: Told
        do throws(KeychainError) {
            try engine.noteUnwritten(count, by: teller)
            told = .count(count)
        } catch {
            told = .unknown
            logger.debug("the enclave was not told what is not recorded", metadata: ["cause": "\(error.reason)"])
        }
        state.withLock { $0.told = told }
    }

    private func hasWritten() {
        let failed = state.withLock { state in
            defer {
                (state.failedSince, state.pause) = (nil, Self.interval)
                (state.unsettled, state.underWay) = (0, 0)
            }
            return state.failedSince
        }
        if failed != nil { logger.notice("the audit record is written again") }
        tell(unwritten: 0)
    }

    private func hasFailed(
        _ failure: AuditWriter.Failure, giving lines: [AuditRecord], _ unsettled: UInt64, back saysOwn: Bool
    ) {
        let now = clock.wallClock
        let isFirst = state.withLock { state in
            state.buffer.giveBack(lines)
            (state.unsettled, state.underWay) = (unsettled, 0)
            state.saysOwn = state.saysOwn || saysOwn
            defer {
                state.pause = state.failedSince == nil ? Self.interval : min(state.pause * 2, Self.longestPause)
                state.failedSince = state.failedSince ?? now
            }
            return state.failedSince == nil
        }
        if isFirst {
            logger.error("the audit record cannot be written", metadata: ["cause": "\(failure.cause)"])
        }
        tell(unwritten: state.withLock { $0.unwritten })
        // Again after a while; nothing new may come for long.
        arrivals.signal()
    }

    // MARK: Reading

    /// - Throws: `errSecInteractionNotAllowed` while the keychain is locked.
    func page(_ query: AuditQuery) throws(KeychainError) -> AuditPage {
        if query.from == nil { synchronize() }
        var page = try AuditReader(engine, try folder()).page(query)
        page.unwritten = unwritten
        return page
    }
}

extension AuditWriter.Failure {
    fileprivate var cause: String {
        switch self {
        case .disk(let error): "\(error)"
        case .keychain(let error): error.reason.explanation
        }
    }
}
