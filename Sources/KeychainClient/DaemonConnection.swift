package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// One connection to a daemon, after the hello. Used by one thread at a time.
package final class DaemonConnection: @unchecked Sendable {
    // @unchecked: `nextNumber` is touched only by the one thread that took the
    // connection out of the pool (``DaemonConnectionPool``'s lock).
    private let channel: MessageChannel
    private let identity: SocketIdentity
    private let clock: any KeychainClock
    private let patience: Duration
    package let session: SessionInformation
    private var nextNumber: UInt64 = 1

    /// Checks the server, then says hello (architecture section 5).
    ///
    /// - Throws: `errSecNotAvailable` with `serverUntrusted`, `versionMismatch`,
    ///   `noAnswer`, or what the daemon refused the connection for.
    package init(
        _ socket: PacketSocket, trust: ServerTrust, clock: any KeychainClock, patience: Duration, version: String
    ) throws(KeychainError) {
        self.clock = clock
        self.patience = patience
        do throws(ServerRefusal) { try trust.check(socket) } catch {
            throw KeychainError(.notAvailable, reason: .serverUntrusted, underlying: "\(error)")
        }
        do throws(SystemCallError) {
            channel = try MessageChannel(socket, asking: patience, on: clock, looksBefore: true)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        guard let identity = SocketIdentity(socket) else {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "its socket was closed")
        }
        self.identity = identity
        session = try Self.hello(channel, Deadline(after: patience, on: clock), version)
    }

    deinit { loseWhereAnothers() }

    /// Whether its descriptor is still what was connected. What another part of the program
    /// opened under its number is neither written to nor closed: a secret would go there.
    private var isStillOurs: Bool { identity.isStill(channel.socket) }

    private func loseWhereAnothers() { if !isStillOurs { channel.socket.descriptor.giveUp() } }

    private func checkOurs() throws(Interruption) {
        guard isStillOurs else {
            channel.socket.descriptor.giveUp()
            throw Interruption(
                error: KeychainError(
                    .notAvailable, reason: .daemonUnreachable, underlying: "the program closed the keychain's socket"),
                requestWasSent: false)
        }
    }

    private static func hello(
        _ channel: MessageChannel, _ deadline: Deadline, _ version: String
    ) throws(KeychainError) -> SessionInformation {
        do throws(FrameError) {
            guard let greeting = try channel.receive(until: deadline) else { throw FrameError.closed }
            guard greeting.header.isEmpty, greeting.tail.count == 32 else {
                return try refusal(greeting)
            }
            // Any descriptor will do: that one comes at all shows that this is no
            // write(2) into an inherited standard output.
            let proof = try proofDescriptor()
            try channel.send(
                HelloFields.encoded(version: version), greeting.tail, descriptor: proof, until: deadline)
            guard let answer = try channel.receive(until: deadline) else { throw FrameError.closed }
            return try refusal(answer)
        } catch {
            throw fault(error, mayHaveHappened: false)
        }
    }

    /// Decodes the daemon's answer to the hello, or its refusal.
    private static func refusal(_ frame: borrowing Frame) throws(FrameError) -> SessionInformation {
        let outcome: Result<SessionInformation, KeychainError>
        do throws(WireFault) { outcome = try HelloFields.decoded(frame.header) } catch { throw .malformed }
        switch outcome {
        case .success(let session): return session
        case .failure(let error): throw .refused(error)
        }
    }

    private static func proofDescriptor() throws(FrameError) -> Descriptor {
        do throws(SystemCallError) { return try EventSignal().descriptor } catch { throw .system(error) }
    }

    static func fault(_ error: FrameError, mayHaveHappened: Bool) -> KeychainError {
        switch error {
        case .refused(let refusal): refusal
        case .timedOut:
            KeychainError(
                .notAvailable, reason: .noAnswer(mayHaveHappened: mayHaveHappened),
                underlying: "the daemon did not answer in time")
        case .oversized:
            KeychainError(
                .dataTooLarge,
                reason: .tooLarge(what: "the request", limit: WireLimit.message, size: WireLimit.message + 1))
        default:
            KeychainError(
                .notAvailable, reason: mayHaveHappened ? .noAnswer(mayHaveHappened: true) : .daemonUnreachable,
                underlying: error == .closed ? "the daemon ended the connection" : "\(error)")
        }
    }

    /// Why a call got no answer, and whether the request had left, for all that is known: that of
    /// which the daemon said as it ended that it had not looked at it counts as one that had not.
    package struct Interruption: Error {
        package let error: KeychainError
        package let requestWasSent: Bool

        /// The other end went away (a deadline that passed is an answer of its own): a read can be
        /// asked again, a write only while it had not left.
        func isWorthRetrying(isWrite: Bool) -> Bool {
            error.reason == .daemonUnreachable && (!isWrite || !requestWasSent)
        }
    }

    /// Ends it, whatever is waited for on another thread.
    func shutDown() { if isStillOurs { channel.socket.shutDown() } }

    /// Sends a request and reads its whole answer; the deadline starts anew with
    /// every message that comes.
    package func perform(_ request: KeychainRequest) throws(Interruption) -> Result<KeychainAnswer, KeychainError> {
        try checkOurs()
        let number = nextNumber
        nextNumber += 1
        do throws(FrameError) {
            let deadline = Deadline(after: patience, on: clock)
            if !request.items.isEmpty {
                try channel.send(request.encoded(number: number), Self.values(of: request), until: deadline)
            } else if let value = request.value {
                try channel.send(request.encoded(number: number), value.bytes, until: deadline)
            } else {
                try channel.send(request.encoded(number: number), until: deadline)
            }
        } catch {
            throw Interruption(error: Self.fault(error, mayHaveHappened: false), requestWasSent: false)
        }
        return try readAnswer(number, isWrite: request.isWrite)
    }

    private static func values(of request: KeychainRequest) throws(FrameError) -> SecretBytes {
        do throws(SystemCallError) { return try SecretBytes.joined(request.items.compactMap(\.value)) } catch {
            throw .system(error)
        }
    }

    /// Asks what is answered only once there is something to tell, and waits for that,
    /// however long it takes; nil where `cancelled` was signalled first. The connection
    /// is worth nothing then.
    package func wait(
        for request: KeychainRequest, orUntil cancelled: EventSignal
    ) throws(Interruption) -> Result<KeychainAnswer?, KeychainError> {
        try checkOurs()
        let number = nextNumber
        nextNumber += 1
        var decoder = AnswerDecoder(number: number)
        var wasSent = false
        do throws(FrameError) {
            try channel.send(request.encoded(number: number), until: Deadline(after: patience, on: clock))
            wasSent = true
            while true {
                // Anew after each word that the request is still at work.
                if try isOver(cancelled) { return .success(nil) }
                guard let frame = try channel.receive(until: Deadline(after: patience, on: clock)) else {
                    throw FrameError.closed
                }
                do throws(KeychainError) {
                    if try decoder.take(frame.header, tail: frame.tail) { return .success(decoder.answer) }
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw Interruption(error: Self.fault(error, mayHaveHappened: false), requestWasSent: wasSent)
        }
    }

    /// Waits for a message; true where `cancelled` was signalled first.
    private func isOver(_ cancelled: EventSignal) throws(FrameError) -> Bool {
        do throws(SystemCallError) {
            return try waitForAny(of: [cancelled.descriptor, channel.socket.descriptor]) == 0
        } catch {
            throw .system(error)
        }
    }

    /// The daemon ended, and had done nothing of what it was asked for.
    private static let dismissal = Interruption(
        error: KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "the daemon was ending"),
        requestWasSent: false)

    /// A program that has closed itself to others since its first hello (`latchkey` does) is not
    /// known again, and what it asks for would be asked in nobody's name. Nothing was done.
    static let becameAnother = KeychainError(
        .notAvailable, reason: .daemonUnreachable,
        underlying: "the daemon ended, and the next one cannot tell which program this is")

    private func readAnswer(
        _ number: UInt64, isWrite: Bool
    ) throws(Interruption) -> Result<KeychainAnswer, KeychainError> {
        var decoder = AnswerDecoder(number: number)
        while true {
            let frame: Frame
            do throws(FrameError) {
                guard let next = try channel.receive(until: Deadline(after: patience, on: clock)) else {
                    throw FrameError.closed
                }
                frame = next
            } catch {
                throw Interruption(error: Self.fault(error, mayHaveHappened: isWrite), requestWasSent: true)
            }
            do throws(KeychainError) {
                if try decoder.take(frame.header, tail: frame.tail) { return .success(decoder.answer) }
            } catch {
                guard error.reason == .noAnswer(mayHaveHappened: false) else { return .failure(error) }
                throw Self.dismissal
            }
        }
    }
}
