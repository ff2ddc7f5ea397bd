internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Tells clients whose request takes long (a write that waits for its turn, a
/// slow disk) that it is still at work, so that a client's five seconds without a
/// word mean what they say.
final class ProgressReports: Sendable {
    private struct Work {
        let connection: ClientConnection
        let request: UInt64
        let began: Duration
        var heard: Duration
    }

    private struct State {
        var open: [UInt64: Work] = [:]
        /// The housekeeper will look by itself.
        var isWatched = false
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

    /// - Returns: whether the housekeeper has to be told that there is something to watch.
    func begin(_ connection: ClientConnection, _ request: UInt64) -> Bool {
        let now = clock.monotonic
        return state.withLock { state in
            state.open[connection.number] = Work(connection: connection, request: request, began: now, heard: now)
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// Before the last message of an answer: nothing is said after it.
    func end(_ connection: ClientConnection) {
        state.withLock { _ = $0.open.removeValue(forKey: connection.number) }
    }

    /// Says what is due.
    ///
    /// - Returns: when to look again; nil where nothing is at work.
    func send(at now: Duration) -> Deadline? {
        state.withLock { state in
            for (number, work) in state.open where now - work.heard >= interval && now - work.began < longest {
                say(work)
                state.open[number]?.heard = now
            }
            state.isWatched = !state.open.isEmpty
            return state.isWatched ? Deadline(at: now + interval, on: clock) : nil
        }
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
