internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// A call that waits for a person.
struct PromptedCall: Sendable {
    let connection: ClientConnection
    let request: UInt64
    let call: KeychainRequest
    let authorization: Authorization
    let program: CallingProgram
    /// nil: it is made in the program's own name.
    let deputy: DeputyCall?

    /// In which a person has to agree now: first to the call being made at all, then
    /// to what it uses.
    var asking: CallContext {
        if let presence = deputy?.presence, presence.needsPerson { return presence }
        return authorization.context
    }
}

/// Where calls wait for a person, one prompt at a time: no worker waits with them.
final class PromptDesk: Sendable {
    private struct State {
        var waiting: [PromptedCall] = []
        /// The connection whose call is before a person.
        var current: UInt64?
        var isStopping = false
        var thread: WorkerThread?
    }

    private let engine: KeychainEngine
    private let server: RequestServer
    private let asker: any PersonAsker
    private let stop: EventSignal
    private let arrivals: EventSignal
    /// Nobody waits for what is before a person now.
    private let withdrawn: EventSignal
    private let state = Mutex(State())

    /// More than that hear at once that nobody can be asked: a person answers one
    /// prompt after the other, and none of them waits for ever.
    private static let longestQueue = 4

    /// - Parameter stop: signalled when the daemon leaves.
    init(
        _ engine: KeychainEngine, _ server: RequestServer, asker: any PersonAsker, until stop: EventSignal
    ) throws(SystemCallError) {
        self.engine = engine
        self.server = server
        self.asker = asker
        self.stop = stop
        arrivals = try EventSignal()
        withdrawn = try EventSignal()
    }

    /// From here on the connection is ours until ``next`` is called.
    ///
    /// - Returns: false where too many wait already.
    func add(
        _ call: PromptedCall, then next: @escaping @Sendable (ClientConnection, Ending?) -> Void
    ) -> Bool {
        let isTaken = state.withLock { state -> Bool in
            guard state.waiting.count < Self.longestQueue else { return false }
            state.waiting.append(call)
            if state.thread == nil {
                let thread = WorkerThread { [self] in work(next) }
                state.thread = thread
                thread.start()
            }
            return true
        }
        if isTaken { arrivals.signal() }
        return isTaken
    }

    /// Nobody waits for the connection's calls any more: a prompt that is open for one
    /// goes away.
    func forget(_ connection: ClientConnection) {
        let gone = state.withLock { state in
            if state.current == connection.number { withdrawn.signal() }
            let gone = state.waiting.filter { $0.connection.number == connection.number }
            state.waiting.removeAll { $0.connection.number == connection.number }
            return gone
        }
        for call in gone { server.forget(call) }
    }

    /// After the stop was signalled; a prompt that is open goes away.
    func waitUntilDone() {
        let thread = state.withLock { state in
            state.isStopping = true
            withdrawn.signal()
            return state.thread
        }
        thread?.waitUntilDone()
    }

    /// The next call that is before a person from now on.
    private func takeNext() -> PromptedCall? {
        state.withLock { state in
            state.current = nil
            guard !state.isStopping, !state.waiting.isEmpty else { return nil }
            let call = state.waiting.removeFirst()
            withdrawn.drain()
            state.current = call.connection.number
            return call
        }
    }

    private func work(_ next: (ClientConnection, Ending?) -> Void) {
        // One write wakes one waiter.
        defer { stop.signal() }
        while true {
            do throws(SystemCallError) {
                guard try waitForAny(of: [stop.descriptor, arrivals.descriptor]) == 1 else { return }
            } catch { return }
            arrivals.drain()
            while let call = takeNext() {
                var ending: Ending?
                do throws(Ending) { try settle(call) } catch { ending = error }
                next(call.connection, ending)
            }
        }
    }

    /// Asks, and makes the call again, until it has its answer.
    private func settle(_ call: PromptedCall) throws(Ending) {
        // While it waited a person may have agreed for another call of its program.
        if call.deputy != nil, try server.answerAgain(call) { return }
        for _ in 0..<KeychainEngine.mostRounds {
            do throws(KeychainError) {
                try engine.askPerson(for: call.asking, by: asker, call.program, until: withdrawn.descriptor)
            } catch { return try server.refuse(call, error) }
            if try server.answerAgain(call) { return }
        }
        try server.refuse(call, KeychainEngine.tooManyRounds)
    }
}
