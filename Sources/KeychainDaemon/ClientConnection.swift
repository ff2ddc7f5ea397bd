internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity

/// One client's connection: greeted, then served request by request.
///
/// At any moment one worker has it on loan (its descriptor is one-shot in the
/// epoll), or none has; deadlines are looked at by the housekeeper alone.
final class ClientConnection: @unchecked Sendable {
    // @unchecked: `stage` is touched only by the worker that has the connection
    // on loan, and by the main thread once no worker is left; `number`, `channel`, `peer` and
    // `greetingDeadline` never change.
    let number: UInt64
    let channel: MessageChannel
    let peer: PeerProcess
    let identity: PeerIdentity
    /// By when the hello must be over.
    let greetingDeadline: Deadline
    var stage: Stage
    /// Looks for the next request before the connection is given back to the epoll.
    let lingering = BriefWait()
    /// What a person agreed to on this connection, which stands for an LAContext.
    let context = CallContext()

    var isGreeting: Bool { if case .greeting = stage { true } else { false } }

    enum Stage {
        case greeting(HelloExchange)
        case serving(Authorization)
    }

    init(
        number: UInt64, channel: MessageChannel, peer: PeerProcess, identity: PeerIdentity, exchange: HelloExchange,
        greetingDeadline: Deadline
    ) {
        self.number = number
        self.channel = channel
        self.peer = peer
        self.identity = identity
        self.greetingDeadline = greetingDeadline
        stage = .greeting(exchange)
    }

    var descriptor: Descriptor { channel.socket.descriptor }

    /// The number of a request that lies in the socket, of which nothing else is looked at;
    /// nil where none does.
    func takeUnserved() -> UInt64? {
        do throws(FrameError) {
            guard let arrival = try channel.receiveNow(admits: { _ in false }), case .frame(let frame) = consume arrival
            else { return nil }
            return KeychainRequest.number(header: frame.header)
        } catch { return nil }
    }

    /// Who it is for the log: never more than process, user and strongest rung.
    var logName: String { "pid \(peer.processID) uid \(peer.userID) \(identity.name)" }
}
