internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// One request, one answer, over one connection; any fault ends it for good.
///
/// There is no second attempt: an answer that comes too late would be taken for
/// the next one, and whoever lost a connection makes a new one.
final class EnclaveExchange: Sendable {
    /// One answer, its header decoded.
    struct Reply: ~Copyable {
        let header: Latchkey_EnclaveReply
        let tail: SecretBytes
    }

    /// One answer of a plain form.
    struct PlainReply<Answer>: ~Copyable {
        let answer: Answer
        let tail: SecretBytes
    }

    private struct State {
        var number: UInt64 = 0
        var isBroken = false
    }

    private let channel: MessageChannel
    private let clock: any KeychainClock
    private let state = Mutex(State())

    init(_ socket: PacketSocket, _ clock: any KeychainClock) throws(KeychainError) {
        do throws(SystemCallError) {
            channel = try MessageChannel(socket, asking: EnclaveProtocol.exchangeLimit, on: clock)
        } catch {
            throw .enclaveUnreachable(error.description)
        }
        self.clock = clock
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: `errSecNotAvailable`, reason `enclaveUnreachable`, or `enclaveSilent`
    ///   where the time ran out, or the reason that the enclave gave.
    ///
    /// - Parameters:
    ///   - tail: a secret that goes with it.
    ///   - endsOnRefusal: whether a refusal says that nothing more will be answered.
    ///   - patience: how long it is waited for.
    func ask(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, tail: SharedSecret? = nil, endsOnRefusal: Bool = true,
        patience: Duration = EnclaveProtocol.exchangeLimit
    ) throws(KeychainError) -> Reply {
        let number = try nextNumber()
        let reply: Reply
        do throws(FrameError) {
            reply = try exchange(request, number, tail, patience)
        } catch {
            if error == .timedOut { throw endInSilence(after: patience) }
            throw fault("\(error)")
        }
        guard !reply.header.hasFailure else {
            guard endsOnRefusal else { throw reply.header.failure.keychainError }
            state.withLock { $0.isBroken = true }
            throw KeychainError(enclaveFailure: reply.header.failure)
        }
        return reply
    }

    /// Sends a request whose answer is of a plain form, as on the way of every read and add
    /// (``UnwrapFields``, ``WrapFields``).
    ///
    /// - Parameter encoded: the request under the number that it is given.
    /// - Throws: as ``ask(_:tail:endsOnRefusal:patience:)``; an answer of another form ends
    ///   the connection.
    func askPlainly<Answer: PlainAnswer>(
        for kind: Answer.Type, _ encoded: (UInt64) -> [UInt8]
    ) throws(KeychainError) -> PlainReply<Answer> {
        let number = try nextNumber()
        let header: [UInt8]
        let tail: SecretBytes
        do throws(FrameError) {
            let deadline = Deadline(after: EnclaveProtocol.exchangeLimit, on: clock)
            try channel.send(encoded(number), until: deadline)
            guard let frame = try channel.receive(until: deadline) else { throw FrameError.truncated }
            header = frame.header
            tail = frame.takeTail()
        } catch {
            if error == .timedOut { throw endInSilence(after: EnclaveProtocol.exchangeLimit) }
            throw fault("\(error)")
        }
        if let answer = Answer(plain: header) {
            guard answer.number == number else { throw fault("\(FrameError.malformed)") }
            return PlainReply(answer: answer, tail: tail)
        }
        guard let reply = MessageCoding.decode(Latchkey_EnclaveReply.self, header), reply.number == number,
            reply.hasFailure
        else { throw fault("an answer of the wrong form") }
        state.withLock { $0.isBroken = true }
        throw KeychainError(enclaveFailure: reply.failure)
    }

    /// Sends a request whose answer may take for ever; nil where `cancelled` was
    /// signalled first, and the connection has ended then.
    func ask(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> Reply? {
        let number = try nextNumber()
        do throws(FrameError) {
            try send(request, number, until: Deadline(after: EnclaveProtocol.exchangeLimit, on: clock))
            guard try isAnswered(cancelled) else {
                _ = fault("given up")
                return nil
            }
            let reply = try receive(number, until: Deadline(after: EnclaveProtocol.exchangeLimit, on: clock))
            guard !reply.header.hasFailure else { throw FrameError.malformed }
            return reply
        } catch { throw fault("\(error)") }
    }

    private func isAnswered(_ cancelled: EventSignal) throws(FrameError) -> Bool {
        do throws(SystemCallError) {
            return try waitForAny(of: [channel.socket.descriptor, cancelled.descriptor]) == 0
        } catch { throw .system(error) }
    }

    private func endInSilence(after patience: Duration) -> KeychainError {
        state.withLock { $0.isBroken = true }
        return KeychainError(.notAvailable, reason: .enclaveSilent, underlying: "no answer within \(patience)")
    }

    /// Ends the connection because of what came over it.
    func fault(_ what: String) -> KeychainError {
        state.withLock { $0.isBroken = true }
        return .enclaveUnreachable(what)
    }

    private func nextNumber() throws(KeychainError) -> UInt64 {
        let number = state.withLock { state -> UInt64? in
            guard !state.isBroken else { return nil }
            state.number += 1
            return state.number
        }
        guard let number else { throw .enclaveUnreachable("the connection failed before") }
        return number
    }

    private func exchange(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, _ number: UInt64, _ tail: SharedSecret?,
        _ patience: Duration
    ) throws(FrameError) -> Reply {
        let deadline = Deadline(after: patience, on: clock)
        try send(request, number, tail, until: deadline)
        return try receive(number, until: deadline)
    }

    private func send(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, _ number: UInt64, _ tail: SharedSecret? = nil,
        until deadline: Deadline
    ) throws(FrameError) {
        var message = Latchkey_EnclaveRequest()
        message.number = number
        message.request = request
        guard let tail else { return try channel.send(MessageCoding.encode(message), until: deadline) }
        try channel.send(MessageCoding.encode(message), tail.bytes, until: deadline)
    }

    private func receive(_ number: UInt64, until deadline: Deadline) throws(FrameError) -> Reply {
        guard let frame = try channel.receive(until: deadline) else { throw .truncated }
        guard let header = MessageCoding.decode(Latchkey_EnclaveReply.self, frame.header), header.number == number
        else { throw .malformed }
        return Reply(header: header, tail: frame.tail.copy())
    }
}
