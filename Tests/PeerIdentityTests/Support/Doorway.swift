import Glibc
import KeychainPlatform
import KeychainProtocol
import Puppets
import Testing

@testable import PeerIdentity

/// A listening socket in a folder of its own, with somebody who greets.
final class Doorway: Sendable {
    let folder: WorkFolder
    private let listener: PacketSocket

    /// - Parameter forEveryone: lets other users connect, for tests that have some.
    init(forEveryone: Bool = false) throws {
        folder = try WorkFolder(mode: forEveryone ? 0o755 : 0o700)
        listener = try PacketSocket.listen(at: "socket", in: folder.open())
        if forEveryone { try #require(unsafe chmod(path, 0o777) == 0) }
    }

    var path: String { folder.file("socket") }

    func accept() throws -> PacketSocket {
        let limit = Deadline(after: .seconds(50), on: SystemClock())
        try #require(try wait(for: listener.descriptor.raw, to: .receive, until: limit) == .ready, "nobody connected")
        return try #require(try listener.accept())
    }

    /// Takes the next connection and only looks at who it is.
    func identify(_ features: KernelFeatures, proc: ProcRoot? = nil) throws -> PeerIdentity {
        try PeerIdentity(
            of: PeerProcess.identify(accept(), features: features, proc: proc ?? .system()), naming: .forTests)
    }

    /// Takes the next connection through the whole hello, in the daemon's order.
    func greet(
        _ features: KernelFeatures, clock: any KeychainClock = SystemClock(), afterChallenge: () -> Void = {}
    ) throws -> (peer: GreetedPeer, channel: MessageChannel) {
        let deadline = Deadline(after: .seconds(50), on: clock)
        let channel = try MessageChannel(accept())
        let process = try PeerProcess.identify(channel.socket, features: features, proc: .system())
        let identity = PeerIdentity(of: process, naming: .forTests)
        var exchange = HelloExchange(with: process, nonce: Random.bytes(HelloExchange.nonceByteCount))
        let hasSpoken = channel.socket.hasArrived
        let nonce = try exchange.handle(.identified(hasSpoken: hasSpoken)).challenge()
        try channel.send(nonce: nonce, until: deadline)
        afterChallenge()
        let answer = try channel.receiveAnswer(until: deadline)
        let header = try exchange.handle(answer.map(HelloExchange.Event.answered) ?? .closed).acceptance()
        return (GreetedPeer(process: process, identity: identity, header: header), channel)
    }

    /// The refusal that the next connection meets.
    func refusal(
        _ features: KernelFeatures, clock: any KeychainClock = SystemClock(), afterChallenge: () -> Void = {}
    ) throws -> PeerRefusal? {
        do {
            _ = try greet(features, clock: clock, afterChallenge: afterChallenge)
            return nil
        } catch let refusal as PeerRefusal {
            return refusal
        }
    }
}

/// A peer that answered.
struct GreetedPeer {
    let process: PeerProcess
    let identity: PeerIdentity
    let header: [UInt8]
}

extension HelloExchange.Outcome {
    fileprivate func challenge() throws(PeerRefusal) -> [UInt8] {
        switch self {
        case .challenge(let nonce): return nonce
        case .refuse(let refusal): throw refusal
        case .accept: throw .malformed
        }
    }

    fileprivate func acceptance() throws(PeerRefusal) -> [UInt8] {
        switch self {
        case .accept(let header): return header
        case .refuse(let refusal): throw refusal
        case .challenge: throw .malformed
        }
    }
}

/// The hello over real frames, as the daemon has it.
extension MessageChannel {
    fileprivate func send(nonce: [UInt8], until deadline: Deadline) throws(PeerRefusal) {
        do throws(FrameError) { try send([], SecretBytes(copying: nonce), until: deadline) } catch {
            throw PeerRefusal(error)
        }
    }

    fileprivate func receiveAnswer(until deadline: Deadline) throws(PeerRefusal) -> HelloAnswer? {
        do throws(FrameError) {
            guard let frame = try receive(until: deadline) else { return nil }
            return HelloAnswer(
                header: frame.header, tail: frame.tail.insecureArray(), descriptor: frame.descriptor,
                sender: frame.sender)
        } catch {
            throw PeerRefusal(error)
        }
    }
}

extension PeerRefusal {
    init(_ error: FrameError) {
        self =
            switch error {
            case .timedOut: .tooLate
            case .unexpectedDescriptor: .tooManyDescriptors
            case .system(let error) where error.isBrokenConnection: .closedEarly
            case .system(let error): .system(error)
            case .malformed, .oversized, .truncated, .refused: .malformed
            }
    }
}

extension AdHocNaming {
    /// A digest that is enough to tell paths apart, and a reader of the one
    /// line that these tests write.
    static let forTests = AdHocNaming(
        readBundleIdentifier: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.hasPrefix("bundle ") ? String(text.dropFirst(7)) : nil
        },
        digest: digestForTests)

    static let digestForTests: @Sendable ([UInt8]) -> [UInt8] = { bytes in
        var state: (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
        for byte in bytes {
            state.0 = (state.0 ^ UInt64(byte)) &* 0x100_0000_01B3
            state.1 = (state.1 &+ state.0) &* 0x100_0000_01B3
        }
        return [state.0, state.1].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    /// The ad hoc rung of a path in our own world.
    static func rung(forPath path: String) -> IdentityRung { rung(forBytes: Array(path.utf8)) }

    static func rung(forBytes bytes: [UInt8]) -> IdentityRung {
        let digits = Array("0123456789abcdef")
        return .path(digest: String(digestForTests(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }))
    }
}

extension KernelFeatures {
    /// What this kernel has, and what Debian 12's has.
    static let tried: [KernelFeatures] = [(try? KernelFeatures.probed()) ?? .linux61, .linux61]
}
