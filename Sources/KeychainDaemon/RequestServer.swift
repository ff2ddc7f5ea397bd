internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity

/// Why a connection has to end.
enum Ending: Error {
    case closed
    case malformed
    case notThePeer
    case programChanged
    case unreachable(FrameError)
}

/// Serves one request: decode, perform, answer in messages of at most 256 rows.
struct RequestServer: Sendable {
    private let engine: KeychainEngine
    private let configuration: DaemonConfiguration

    init(_ engine: KeychainEngine, _ configuration: DaemonConfiguration) {
        self.engine = engine
        self.configuration = configuration
    }

    /// - Parameter isTooMuch: the user's requests in work hold too many bytes
    ///   already; this one is answered with "busy".
    func serve(
        _ frame: consuming Frame, of connection: ClientConnection, _ authorization: Authorization, isTooMuch: Bool
    ) throws(Ending) {
        guard connection.peer.accepts(frame.sender) else { throw .notThePeer }
        guard frame.descriptor == nil else { throw .malformed }
        let header = frame.header
        let decoded: (number: UInt64, request: KeychainRequest)
        do throws(WireFault) {
            decoded = try KeychainRequest.decode(header: header, tail: frame.takeTail())
        } catch {
            throw .malformed
        }
        if isTooMuch {
            let busy = KeychainError(.notAvailable, reason: .busy)
            return try send(.failure(busy, number: decoded.number), to: connection, carriesValue: false)
        }
        switch decoded.request.operation {
        case .status: return try serveStatus(decoded.number, connection, authorization)
        case .doctor(let task): return try serveDoctor(task, decoded.number, connection)
        default: break
        }
        try answer(decoded.request, decoded.number, connection, authorization)
    }

    private func serveStatus(
        _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            message = .status(try engine.status(for: authorization.entitlements), number: number)
        } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false)
    }

    private func serveDoctor(
        _ task: DoctorTask, _ number: UInt64, _ connection: ClientConnection
    ) throws(Ending) {
        let call: DoctorCall
        do throws(SystemCallError) { call = try DoctorCall(task, on: engine) } catch {
            let busy = KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
            return try send(.failure(busy, number: number), to: connection, carriesValue: false)
        }
        let outcome = try call.wait(on: configuration.clock) { () throws(Ending) in
            try send(.progress(number: number), to: connection, carriesValue: false)
        }
        let message: EncodedMessage
        do throws(KeychainError) { message = .doctor(try outcome.get(), number: number) } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false)
    }

    private func answer(
        _ request: KeychainRequest, _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        var writer = AnswerWriter(number, connection, self)
        do throws(KeychainError) {
            try engine.perform(request, for: authorization) { shape throws(KeychainError) in
                writer.begin(shape)
            } emit: { row throws(KeychainError) in
                try writer.add(row)
            }
        } catch {
            if let ending = writer.ending { throw ending }
            return try send(.failure(error, number: number), to: connection, carriesValue: false)
        }
        try writer.finish()
    }

    /// Sends one message; one that carries a value only to a program that is
    /// still what it was when it was greeted.
    func send(_ message: consuming EncodedMessage, to connection: ClientConnection, carriesValue: Bool) throws(Ending) {
        if carriesValue, !connection.peer.hasNotExeced() { throw .programChanged }
        let deadline = Deadline(after: configuration.limits.patience, on: configuration.clock)
        do throws(FrameError) {
            try connection.channel.send(message.header, message.tail, until: deadline)
        } catch {
            throw .unreachable(error)
        }
    }
}

/// Collects the rows of one answer and sends them as messages fill up.
struct AnswerWriter: ~Copyable {
    private let number: UInt64
    private let connection: ClientConnection
    private let server: RequestServer
    private var encoder: AnswerEncoder
    private var carriesValue = false
    /// Why sending failed, where it did.
    private(set) var ending: Ending?

    init(_ number: UInt64, _ connection: ClientConnection, _ server: RequestServer) {
        self.number = number
        self.connection = connection
        self.server = server
        encoder = AnswerEncoder(number: number, returns: [], many: false)
    }

    mutating func begin(_ shape: AnswerShape) {
        encoder = AnswerEncoder(number: number, returns: shape.returns, many: shape.many)
    }

    mutating func add(_ row: AnswerRow) throws(KeychainError) {
        if encoder.isFull || !encoder.hasRoom(for: row.value?.bytes.count ?? 0) {
            do throws(Ending) { try flush(more: true) } catch {
                ending = error
                throw KeychainError(.notAvailable, reason: .daemonUnreachable)
            }
        }
        carriesValue = carriesValue || row.value != nil
        encoder.add(row)
    }

    private mutating func flush(more: Bool) throws(Ending) {
        try server.send(encoder.take(more: more), to: connection, carriesValue: carriesValue)
        carriesValue = false
    }

    mutating func finish() throws(Ending) { try flush(more: false) }
}
