internal import Foundation
internal import KeychainClient
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Connections that go wrong, of this process.
struct HostileClients: Sendable {
    let keychain: Keychain

    /// Connected and dropped: before the hello, after it, and in the middle of a request.
    func openAndDrop(_ count: Int) throws {
        for number in 0..<count {
            let socket: PacketSocket
            do throws(SystemCallError) { socket = try connect() } catch { throw LoadFailure("connect: \(error)") }
            switch number % 3 {
            case 0: continue
            case 1: _ = try? MessageChannel(socket).receive(until: Deadline(after: .seconds(5), on: SystemClock()))
            default: try? askAndGo(socket)
            }
        }
    }

    private func connect() throws(SystemCallError) -> PacketSocket {
        do { return try keychain.connect() } catch {
            throw error as? SystemCallError ?? SystemCallError("\(error)", errno: 0)
        }
    }

    private func askAndGo(_ socket: PacketSocket) throws {
        let channel = try MessageChannel(socket)
        try greet(channel)
        let query = QueryDictionary([
            ("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)),
        ])
        try channel.send(KeychainRequest(.copy, query: query).encoded(number: 1), until: Self.soon)
    }

    /// What is measured is others' latency, not how soon these are greeted beside them.
    private static var soon: Deadline { Deadline(after: .seconds(60), on: SystemClock()) }

    private func greet(_ channel: MessageChannel) throws {
        guard let greeting = try channel.receive(until: Self.soon), greeting.tail.count == 32 else {
            throw FrameError.closed
        }
        var hello = Latchkey_ClientHello()
        hello.lowestProtocol = ProtocolVersion.lowest
        hello.highestProtocol = ProtocolVersion.highest
        try channel.send(hello.wireBytes, greeting.tail, descriptor: try EventSignal().descriptor, until: Self.soon)
        _ = try channel.receive(until: Self.soon)
    }

    /// Asks on sixteen connections for more than a socket holds, and never reads.
    func neverRead() throws -> [MessageChannel] {
        try (0..<16).map { _ in
            let channel = try MessageChannel(try keychain.connect())
            try greet(channel)
            let query = QueryDictionary(Keychain.item("wide") + [("r_Attributes", .bool(true))])
            for number in 0..<64 {
                do throws(FrameError) {
                    try channel.send(
                        KeychainRequest(.copy, query: query).encoded(number: UInt64(number)),
                        until: Deadline(after: .zero, on: SystemClock()))
                } catch { break }
            }
            return channel
        }
    }
}
