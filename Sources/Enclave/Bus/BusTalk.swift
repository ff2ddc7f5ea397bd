internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// What came of a talk with the system bus.
enum BusEvent: Sendable, Hashable {
    case word(BusWord)
    /// Nothing more comes.
    case ended(why: String)
}

/// One request to the system bus with everything that follows, on a thread of its own:
/// the enclave's loop waits for none of it.
final class BusTalk: Sendable {
    /// For the first word: longer than the other process gives itself.
    private static let patience = BusProtocol.longestPreparation + .seconds(5)

    private struct Line {
        var unsaid: [BusRequest] = []
        var isOver = false
    }

    private let line = Mutex(Line())
    private let wake: EventSignal

    /// - Parameter heard: on the talk's thread; `ended` once, and last.
    /// - Throws: where there is no thread for it.
    init(
        _ request: BusRequest, through door: any SystemBusDoor, clock: any KeychainClock,
        _ heard: @escaping @Sendable (BusEvent) -> Void
    ) throws(SystemCallError) {
        wake = try EventSignal()
        try BackgroundThread.start { [self] in
            heard(.ended(why: talk(request, door, clock) { heard(.word($0)) }))
        }
    }

    /// Something that belongs to the request.
    func say(_ request: BusRequest) {
        line.withLock { $0.unsaid.append(request) }
        wake.signal()
    }

    /// Nobody listens any more.
    func end() {
        line.withLock { $0.isOver = true }
        wake.signal()
    }

    /// - Returns: why it is over.
    private func talk(
        _ request: BusRequest, _ door: any SystemBusDoor, _ clock: any KeychainClock, _ heard: (BusWord) -> Void
    ) -> String {
        do {
            let channel = try MessageChannel(try Self.open(door))
            let deadline = Deadline(after: Self.patience, on: clock)
            try Self.send(request, on: channel, until: deadline)
            guard try waitForAny(of: [channel.socket.descriptor, wake.descriptor], until: deadline) != nil else {
                return "latchkey-bus says nothing"
            }
            return try go(on: channel, clock, heard)
        } catch let error as SystemCallError where error.isNoSuchFile {
            return "latchkey-bus is not installed beside the enclave"
        } catch let ended as NothingStarts {
            return ended.why
        } catch {
            return "latchkey-bus: \(error)"
        }
    }

    /// What would start the program has ended.
    private struct NothingStarts: Error {
        let why = ProgramSpawner.advice(BusProgram.programName)
    }

    private static func open(_ door: any SystemBusDoor) throws -> PacketSocket {
        do throws(SystemCallError) { return try door.open() } catch {
            guard error.isBrokenConnection else { throw error }
            throw NothingStarts()
        }
    }

    private func go(
        on channel: MessageChannel, _ clock: any KeychainClock, _ heard: (BusWord) -> Void
    ) throws -> String {
        while true {
            if try waitForAny(of: [channel.socket.descriptor, wake.descriptor]) == 1 {
                wake.drain()
                let line = line.withLock { line in
                    defer { line.unsaid = [] }
                    return line
                }
                if line.isOver { return "it is over" }
                for request in line.unsaid {
                    try Self.send(request, on: channel, until: Deadline(after: Self.patience, on: clock))
                }
                continue
            }
            guard let frame = try channel.receive(until: Deadline(after: Self.patience, on: clock)) else {
                return "latchkey-bus has ended"
            }
            guard let word = BusProtocol.decodeWord(header: frame.header, tail: frame.tail) else {
                return "latchkey-bus says what it never says"
            }
            if case .failed(let why) = word { return why }
            heard(word)
        }
    }

    private static func send(
        _ request: BusRequest, on channel: MessageChannel, until deadline: Deadline
    ) throws(FrameError) {
        try channel.send(BusProtocol.encode(request), SecretBytes(count: 0), until: deadline)
    }
}

/// The talks of an enclave, whose words its loop takes.
final class BusDesk: Sendable {
    private struct State {
        var last: UInt64 = 0
        var heard: [(turn: UInt64, event: BusEvent)] = []
    }

    /// Readable once there are words.
    let signal: EventSignal
    private let door: any SystemBusDoor
    private let clock: any KeychainClock
    private let state = Mutex(State())

    init(_ door: any SystemBusDoor, clock: any KeychainClock) throws(SystemCallError) {
        signal = try EventSignal()
        self.door = door
        self.clock = clock
    }

    /// nil where there is no thread for it.
    func begin(_ request: BusRequest) -> BusTurn? {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        do throws(SystemCallError) {
            let talk = try BusTalk(request, through: door, clock: clock) { [self] event in
                state.withLock { $0.heard.append((number, event)) }
                signal.signal()
            }
            return BusTurn(number: number, talk: talk)
        } catch { return nil }
    }

    /// What was heard, in order, by the number of the turn.
    func take() -> [(turn: UInt64, event: BusEvent)] {
        signal.drain()
        return state.withLock { state in
            defer { state.heard = [] }
            return state.heard
        }
    }
}

/// A talk that is under way; it ends with whoever holds this.
final class BusTurn {
    let number: UInt64
    private let talk: BusTalk

    fileprivate init(number: UInt64, talk: BusTalk) {
        self.number = number
        self.talk = talk
    }

    deinit { talk.end() }

    func say(_ request: BusRequest) { talk.say(request) }
}
