internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity

/// Why a connection did not get as far as its nonce.
enum GreetingFailure: Error {
    case refused(PeerRefusal)
    case foreignUser(UInt32)
    /// Too many connections of the process or the user.
    case busy
    /// The nonce did not go out; the number has to be given back.
    case unsent(UInt64, Int32)
    /// It hung up without a word, and so asked for nothing: as whoever wants to know which process
    /// listens here (`latchkeyd --stop`).
    case left

    var keychainError: KeychainError {
        switch self {
        case .refused(let refusal): KeychainError(.notAvailable, reason: refusal.reason)
        case .foreignUser: KeychainError(.notAvailable, reason: .identityRefused(why: "it runs as another user"))
        case .busy: KeychainError(.notAvailable, reason: .busy)
        case .unsent, .left: KeychainError(.notAvailable, reason: .daemonUnreachable)
        }
    }
}

/// Looks at whoever connects, sends the nonce, and judges the answer
/// (architecture section 5). Never waits: the answer is read when it is there.
struct Greeter: Sendable {
    private let configuration: DaemonConfiguration
    private let proc: ProcRoot
    private let naming: AdHocNaming
    private let audit: AuditBook

    init(_ configuration: DaemonConfiguration, _ audit: AuditBook) throws(PeerRefusal) {
        self.configuration = configuration
        self.audit = audit
        proc = try ProcRoot.system()
        naming = AdHocNaming(
            readBundleIdentifier: { InfoPropertyList.bundleIdentifier(in: $0) },
            digest: { KeyDerivation.digest($0) })
    }

    /// The look, and the nonce that can only be answered after it.
    func challenge(_ socket: PacketSocket, _ number: (Int32) -> UInt64?) throws(GreetingFailure) -> ClientConnection {
        let peer: PeerProcess
        do throws(PeerRefusal) {
            peer = try PeerProcess.identify(socket, features: configuration.features, proc: proc)
        } catch {
            throw .refused(error)
        }
        guard peer.userID == ProcessEnvironment.effectiveUserID else { throw .foreignUser(peer.userID) }
        let identity = PeerIdentity(of: peer, naming: naming)
        var exchange = HelloExchange(with: peer, nonce: Random.bytes(HelloExchange.nonceByteCount))
        let hasSpoken = socket.hasArrived
        // Behind that: it may hang up at any time.
        if hasSpoken, socket.hasEndedInSilence { throw .left }
        guard case .challenge(let nonce) = exchange.handle(.identified(hasSpoken: hasSpoken)) else {
            throw .refused(.spokeFirst)
        }
        guard let number = number(peer.processID) else { throw .busy }
        let deadline = Deadline(after: configuration.limits.patience, on: configuration.clock)
        do throws(FrameError) {
            let channel = try Self.channel(socket)
            try channel.send([], SecretBytes(copying: nonce), until: deadline)
            return ClientConnection(
                number: number, channel: channel, peer: peer, identity: identity, exchange: exchange,
                greetingDeadline: deadline)
        } catch {
            throw .unsent(number, peer.processID)
        }
    }

    private static func channel(_ socket: PacketSocket) throws(FrameError) -> MessageChannel {
        do throws(SystemCallError) { return try MessageChannel(socket) } catch { throw .system(error) }
    }

    /// Judges the answer and says what the client is worth.
    ///
    /// - Throws: why the connection ends.
    func judge(_ frame: borrowing Frame, of connection: ClientConnection, _ exchange: HelloExchange) throws(PeerRefusal)
    {
        var exchange = exchange
        let answer = HelloAnswer(
            header: frame.header, tail: frame.tail.insecureArray(), descriptor: frame.descriptor, sender: frame.sender)
        switch exchange.handle(.answered(answer)) {
        case .accept(let header): try welcome(header, connection)
        case .refuse(let refusal): throw refusal
        case .challenge: throw .malformed
        }
    }

    private func welcome(_ header: [UInt8], _ connection: ClientConnection) throws(PeerRefusal) {
        let hello: Latchkey_ClientHello
        do throws(WireFault) { hello = try decodeMessage(header) } catch { throw .malformed }
        let deadline = Deadline(after: configuration.limits.patience, on: configuration.clock)
        guard hello.lowestProtocol <= ProtocolVersion.highest, hello.highestProtocol >= ProtocolVersion.lowest else {
            refuse(connection.channel, KeychainError(.notAvailable, reason: .versionMismatch), deadline)
            throw .malformed
        }
        let entitlements = rights(of: connection)
        let session = session(of: connection, entitlements)
        let version = min(hello.highestProtocol, ProtocolVersion.highest)
        do throws(FrameError) {
            try connection.channel.send(
                Latchkey_ServerHello(session, protocolVersion: version).wireBytes, until: deadline)
        } catch {
            throw .malformed
        }
        connection.stage = .serving(Authorization(entitlements, recordedAs: audit.recipient(of: connection)))
    }

    /// Tells a client why it is refused; it may be gone already.
    func refuse(_ channel: MessageChannel, _ error: KeychainError, _ deadline: Deadline) {
        var message = Latchkey_ServerHello()
        message.failure = Latchkey_Failure(error)
        do throws(FrameError) { try channel.send(message.wireBytes, until: deadline) } catch { return }
    }

    /// The same on a socket that was not greeted.
    func refuse(_ socket: PacketSocket, _ error: KeychainError) {
        do throws(FrameError) {
            refuse(try Self.channel(socket), error, Deadline(after: .zero, on: configuration.clock))
        } catch { return }
    }

    func rights(of connection: ClientConnection) -> Entitlements {
        switch configuration.rights {
        case .byIdentity: connection.identity.entitlements
        case .fixed(let entitlements): entitlements
        case .decided(let decide): decide(connection.peer.processID)
        }
    }

    private func session(of connection: ClientConnection, _ entitlements: Entitlements) -> SessionInformation {
        SessionInformation(
            groups: entitlements.accessGroups.map(\.name), nameableGroups: entitlements.nameableGroups,
            strength: connection.identity.strength, isTemporary: configuration.isTemporary,
            identity: connection.identity.name, missingFeatures: connection.identity.missingFeatures.map(\.rawValue),
            serverVersion: RunningProgram.isInPlace ? LatchkeyVersion.text : LatchkeyVersion.replaced)
    }
}
