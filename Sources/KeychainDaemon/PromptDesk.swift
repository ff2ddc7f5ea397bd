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
    /// What was told before a person had to be asked is not told again.
    let progress = SearchProgress()

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
        var queue = PromptQueue<PromptedCall>()
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

    /// How many calls wait for a person, with the one that is before them.
    var count: Int { state.withLock { $0.queue.count } }

    /// From here on the connection is ours until ``next`` is called. Whoever has to give
    /// way, this call or another one, hears that nobody can be asked.
    func add(_ call: PromptedCall, then next: @escaping @Sendable (ClientConnection, Ending?) -> Void) {
        let place = PromptQueue.Place(
            connection: call.connection.number, process: call.program.process, program: call.program.name, call: call)
        let admission = state.withLock { state in
            if state.thread == nil {
                let thread = WorkerThread { [self] in work(next) }
                state.thread = thread
                thread.start()
            }
            return state.queue.add(place)
        }
        switch admission {
        case .taken: arrivals.signal()
        case .takenInPlaceOf(let other):
            arrivals.signal()
            turnAway(other, "other programs wait for a person as well", next)
        case .processWaits: turnAway(call, "the program waits for a person already", next)
        case .full: turnAway(call, "several programs wait for a person already", next)
        }
    }

    private func turnAway(
        _ call: PromptedCall, _ why: String, _ next: (ClientConnection, Ending?) -> Void
    ) {
        var ending: Ending?
        do throws(Ending) {
            try server.refuse(call, KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: why)))
        } catch { ending = error }
        next(call.connection, ending)
    }

    /// Nobody waits for the connection's calls any more: a prompt that is open for one
    /// goes away.
    func forget(_ connection: ClientConnection) {
        let gone = state.withLock { state in
            if state.queue.current?.connection == connection.number { withdrawn.signal() }
            return state.queue.remove(connection.number)
        }
        for call in gone { server.forget(call) }
    }

    /// A prompt that is open goes away. Of what waits nothing was done; the next daemon has a
    /// person asked.
    func stopAsking() {
        state.withLock { state in
            state.isStopping = true
            withdrawn.signal()
        }
        dismissAll()
    }

    /// After the stop was signalled, and with no worker left.
    func waitUntilDone() {
        state.withLock { $0.thread }?.waitUntilDone()
        // What a worker still added.
        dismissAll()
    }

    private func dismissAll() {
        for call in state.withLock({ $0.queue.removeAll() }) {
            do throws(Ending) { try server.dismiss(call) } catch {
                // It does not read: it hears of our end alone.
                continue
            }
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    /// The next call that is before a person from now on.
    private func takeNext() -> PromptedCall? {
        state.withLock { state in
            guard !state.isStopping else {
                state.queue.leave()
                return nil
            }
            let call = state.queue.takeNext()
            if call != nil { withdrawn.drain() }
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
            } catch {
                // Nobody has decided: our end took the prompt away.
                guard !isStopping else { return try server.dismiss(call) }
                return try server.refuse(call, error)
            }
            if try server.answerAgain(call) { return }
        }
        try server.refuse(call, KeychainEngine.tooManyRounds)
    }
}
