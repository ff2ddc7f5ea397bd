internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Tells clients whose request takes long (a write that waits for its turn, a
/// slow disk, workers that are all taken) that it is not forgotten, so that a
/// client's five seconds without a word mean what they say.
final class ProgressReports: Sendable {
    private struct Work {
        let connection: ClientConnection
        let request: UInt64
        let began: Duration
        var heard: Duration
    }

    private struct State {
        var atWork: [UInt64: Work] = [:]
        /// Requests that no worker has received yet, by connection.
        var queued: [UInt64: Work] = [:]
        /// Until then the housekeeper looks by itself; nil: it has to be told.
        var watchedUntil: Duration?

        /// True where nobody watches yet: then the housekeeper has to be told. Once told it
        /// looks for a whole interval, so that one call after the other does not wake it.
        mutating func watch(until moment: Duration) -> Bool {
            guard watchedUntil == nil else { return false }
            watchedUntil = moment
            return true
        }
    }

    private let clock: any KeychainClock
    private let interval: Duration
    private let longest: Duration
    private let state = Mutex(State())

    init(_ configuration: DaemonConfiguration) {
        clock = configuration.clock
        interval = configuration.limits.patience / 5
        longest = configuration.limits.longestWork
    }

    /// A worker has received the request: what was said of it while it waited
    /// counts. To be called before anything is answered to it.
    ///
    /// - Returns: whether the housekeeper has to be told that there is something to watch.
    func begin(_ connection: ClientConnection, _ request: UInt64) -> Bool {
        let now = clock.monotonic
        return state.withLock { state in
            let waited = state.queued.removeValue(forKey: connection.number)
            state.atWork[connection.number] =
                waited?.request == request
                ? waited : Work(connection: connection, request: request, began: now, heard: now)
            return state.watch(until: now + interval)
        }
    }

    /// Before something else whose deadline is the housekeeper's, and further off than an
    /// interval.
    ///
    /// - Returns: whether the housekeeper has to be told.
    func watch() -> Bool {
        let now = clock.monotonic
        return state.withLock { $0.watch(until: now + interval) }
    }

    /// Before the last message of an answer: nothing is said after it.
    func end(_ connection: ClientConnection) {
        state.withLock { _ = $0.atWork.removeValue(forKey: connection.number) }
    }

    /// Says what is due.
    ///
    /// - Parameter crowd: the connections of which some may have a request that
    ///   waits for a worker; nil where workers are free.
    /// - Returns: when to look again; nil where nothing is at work and nothing waits.
    func send(at now: Duration, among crowd: [ClientConnection]?) -> Deadline? {
        state.withLock { state in
            Self.lookForQueued(among: crowd ?? [], at: now, &state)
            for (number, work) in state.atWork where isDue(work, now) {
                say(work)
                state.atWork[number]?.heard = now
            }
            for (number, work) in state.queued where isDue(work, now) {
                say(work)
                state.queued[number]?.heard = now
            }
            if crowd != nil || !state.atWork.isEmpty {
                state.watchedUntil = now + interval
            } else if let end = state.watchedUntil, end <= now {
                state.watchedUntil = nil
            }
            return state.watchedUntil.map { Deadline(at: $0, on: clock) }
        }
    }

    /// What waits unread is looked at once and stays known until a worker has it.
    ///
    /// Under the lock: whoever receives the request afterwards has to come through
    /// ``begin(_:_:)`` before its answer, so that no word comes behind that.
    private static func lookForQueued(among crowd: [ClientConnection], at now: Duration, _ state: inout State) {
        var queued: [UInt64: Work] = [:]
        for connection in crowd where state.atWork[connection.number] == nil {
            if let known = state.queued[connection.number] {
                queued[connection.number] = known
            } else if let number = connection.channel.waitingHeader().flatMap({ KeychainRequest.number(header: $0) }) {
                queued[connection.number] = Work(connection: connection, request: number, began: now, heard: now)
            }
        }
        state.queued = queued
    }

    private func isDue(_ work: Work, _ now: Duration) -> Bool {
        now - work.heard >= interval && now - work.began < longest
    }

    /// One datagram that is sent at once or not at all.
    private func say(_ work: Work) {
        do throws(FrameError) {
            let message = EncodedMessage.progress(number: work.request)
            try work.connection.channel.send(message.header, until: Deadline(after: .zero, on: clock))
        } catch {
            // It has something to read already, or is gone.
            return
        }
    }
}
