internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Logging
internal import Synchronization

/// Follows the enclave's state on a thread of its own: lets go of what closed, and
/// puts items under new class keys where there are any.
///
/// The enclave tells a person that the keychain is locked once this has heard of it.
final class DeviceWatch: Sendable {
    private let engine: KeychainEngine
    private let board: DeviceBoard
    private let audit: AuditBook
    private let clock: any KeychainClock
    private let logger: Logger
    private let stop: EventSignal
    private let state = Mutex<DeviceState?>(nil)
    private let thread = Mutex<[WorkerThread]>([])
    /// There may be items under older class keys.
    private let renewal: EventSignal
    private let isStopping = Atomic(false)
    private let afterInspection: @Sendable () -> Void

    /// After a connection that ended; the enclave is started anew with the next call.
    private static let pause: Duration = .milliseconds(200)
    /// After a renewal that a full disk or a silent enclave ended.
    private static let pauseOfRenewal: Duration = .seconds(10)

    /// Without a call for so long, rows are looked at that nobody asks for.
    private static let pauseOfInspection: Duration = .seconds(2)
    /// Between two steps of that, while nobody calls.
    private static let pauseOfSteps: Duration = .milliseconds(100)

    /// - Parameters:
    ///   - stop: signalled when the daemon leaves.
    ///   - afterInspection: told once all rows were looked at.
    init(
        _ engine: KeychainEngine, _ board: DeviceBoard, _ audit: AuditBook, clock: any KeychainClock,
        _ logger: Logger, until stop: EventSignal, afterInspection: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        self.engine = engine
        self.board = board
        self.audit = audit
        self.clock = clock
        self.logger = logger
        self.stop = stop
        self.afterInspection = afterInspection
        renewal = try EventSignal()
    }

    /// Whether a person's keychain would be closed by leaving.
    var mustStay: Bool {
        guard let state = state.withLock({ $0 }) else { return false }
        return state.hasPasscode && state.lock != .beforeFirstUnlock
    }

    /// Returns once the first state was heard of, or could not be.
    func start() {
        let heard: EventSignal?
        do throws(SystemCallError) { heard = try EventSignal() } catch { heard = nil }
        let threads = [
            WorkerThread { [self] in follow { heard?.signal() } }, WorkerThread { [self] in renew() },
        ]
        thread.withLock { $0 = threads }
        for thread in threads { thread.start() }
        guard let heard else { return }
        do throws(SystemCallError) {
            _ = try waitForAny(of: [heard.descriptor], until: Deadline(after: .seconds(5), on: SystemClock()))
        } catch { return }
    }

    /// After the stop was signalled.
    func waitUntilDone() {
        isStopping.store(true, ordering: .releasing)
        for thread in thread.withLock({ $0 }) { thread.waitUntilDone() }
    }

    private func follow(heard: () -> Void) {
        while !isStopping.load(ordering: .acquiring) {
            var wasFollowed = false
            do throws(KeychainError) {
                try engine.followDevice(until: stop) { described in
                    wasFollowed = true
                    settle(described)
                    heard()
                }
                return stop.signal()
            } catch {
                heard()
                // One that ended is started anew; where that fails nobody knows the state.
                if !wasFollowed { board.lose(error) }
                logger.notice("the enclave's state is not heard", metadata: ["cause": "\(error.reason.explanation)"])
            }
            do throws(SystemCallError) {
                if try waitForAny(of: [stop.descriptor], until: Deadline(after: Self.pause, on: clock)) != nil {
                    return stop.signal()
                }
            } catch { return }
        }
    }

    /// What is about to close is told to programs, and used until they have heard of
    /// it; of what has closed nothing is left when they are told.
    private func settle(_ now: DeviceState) {
        let former = state.withLock { state in
            defer { state = now }
            return state
        }
        if let former, former.number != now.number { audit.tellOfEnclave() }
        defer { board.tell(now) }
        guard !now.isClosing else { return }
        do throws(KeychainError) { try engine.deviceChanged() } catch {
            logger.warning("not everything was let go of", metadata: ["cause": "\(error.reason.explanation)"])
        }
        // A lock, and what was read before it, is in the record before anybody is told of
        // it, if the disk is well; nothing is open meanwhile.
        if former?.lock == .unlocked, now.lock != .unlocked { audit.synchronize() }
        renewal.signal()
    }

    /// What keeps it from that keeps nobody from the rest.
    private func mendCopies() {
        do throws(KeychainError) {
            if let event = try engine.mendCopies() { logger.error("\(event)") }
        } catch {
            logger.notice("records wait for their copies", metadata: ["cause": "\(error.reason.explanation)"])
        }
    }

    private func renew() {
        // One write wakes one waiter.
        defer { stop.signal() }
        var again: Deadline?
        var inspection = QuietInspection()
        var pause = Self.pauseOfInspection
        while true {
            do throws(SystemCallError) {
                let events = [stop.descriptor, renewal.descriptor]
                let event: Int?
                let isForInspection = again == nil && !inspection.isOver
                let looking = isForInspection ? Deadline(after: pause, on: clock) : nil
                if let deadline = again ?? looking {
                    event = try waitForAny(of: events, until: deadline)
                } else {
                    event = try waitForAny(of: events)
                }
                guard event != 0 else { return }
                if event == nil, isForInspection {
                    pause = look(&inspection) ? Self.pauseOfSteps : Self.pauseOfInspection
                    continue
                }
            } catch { return }
            renewal.drain()
            again = nil
            if inspection.waitsForUnlock {
                inspection.goOn()
                pause = Self.pauseOfInspection
            }
            do throws(KeychainError) {
                mendCopies()
                try engine.goOnSalvaging()
                try engine.renewRows { isStopping.load(ordering: .acquiring) }
            } catch {
                logger.notice("items wait for new keys", metadata: ["cause": "\(error.reason.explanation)"])
                again = Deadline(after: Self.pauseOfRenewal, on: clock)
            }
        }
    }

    /// - Returns: false where somebody had called.
    private func look(_ inspection: inout QuietInspection) -> Bool {
        defer { if inspection.isOver { afterInspection() } }
        do throws(KeychainError) { return try inspection.step(engine) } catch {
            logger.notice(
                "not every item was looked at",
                metadata: ["cause": "\(error.underlying ?? error.reason.explanation)"])
            return false
        }
    }
}
