import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

/// A client that was greeted and then sends and reads as the test says.
struct GreetedConnection {
    private let channel: MessageChannel
    private var deadline: Deadline { Deadline(after: .seconds(30), on: SystemClock()) }

    init(_ daemon: DaemonUnderTest) throws {
        channel = try MessageChannel(try daemon.rawConnection())
        let nonce = try received().tail
        var hello = Latchkey_ClientHello()
        hello.lowestProtocol = ProtocolVersion.lowest
        hello.highestProtocol = ProtocolVersion.highest
        try channel.send(
            hello.wireBytes, SecretBytes(copying: nonce), descriptor: try EventSignal().descriptor, until: deadline)
        _ = try received()
    }

    private func received() throws -> (header: [UInt8], tail: [UInt8]) {
        guard let frame = try channel.receive(until: deadline) else { throw FrameError.closed }
        return (frame.header, frame.tail.insecureArray())
    }

    /// Requests whose answers no socket holds; none of them is read.
    func askForEverything() throws {
        let query = QueryDictionary([
            ("class", .string("genp")), ("svce", .string("large")), ("r_Attributes", .bool(true)),
        ])
        for number in 0..<100 {
            do throws(FrameError) {
                try channel.send(
                    KeychainRequest(.copy, query: query).encoded(number: UInt64(number)),
                    until: Deadline(after: .zero, on: SystemClock()))
            } catch {
                return
            }
        }
    }

    /// Asks for a value over and over, as far as the socket has room.
    func askForValue(_ account: String, times: Int) throws {
        for number in 0..<times {
            do throws(FrameError) {
                try channel.send(
                    KeychainRequest(.copy, query: Self.item(account, [("r_Data", .bool(true))]))
                        .encoded(number: UInt64(number)), until: Deadline(after: .zero, on: SystemClock()))
            } catch {
                return
            }
        }
    }

    /// How many answers lie there to be read, and whether the connection has ended
    /// behind them.
    func drainAnswers() throws -> (count: Int, hasEnded: Bool) {
        var (count, ends) = (0, 0)
        while let arrival = try channel.receiveNow() {
            switch consume arrival {
            case .closed:
                // Of requests that were never read the other end's going is a fault,
                // told once and before what still lies there.
                ends += 1
                if ends == 2 { return (count, true) }
            case .frame(let frame): count += frame.tail.count > 0 ? 1 : 0
            }
        }
        return (count, ends > 0)
    }

    func add(_ account: String, byteCount: Int = 8) throws {
        let query = QueryDictionary([
            ("class", .string("genp")), ("svce", .string("slow")), ("acct", .string(account)), ("v_Data", .secret),
        ])
        try channel.send(
            KeychainRequest(.add, query: query).encoded(number: 7), SecretBytes(count: byteCount), until: deadline)
    }

    func changeValue(_ account: String) throws {
        try channel.send(
            KeychainRequest(.update, query: Self.item(account), changes: QueryDictionary([("v_Data", .secret)]))
                .encoded(number: 8), SecretBytes(copying: Array("changed".utf8)), until: deadline)
    }

    static func item(_ account: String, _ more: [(String, RawValue)] = []) -> QueryDictionary {
        QueryDictionary(
            [("class", .string("genp")), ("svce", .string("slow")), ("acct", .string(account))] + more)
    }

    /// How many messages were there, all of them words that the request is not forgotten.
    func drainWords() throws -> Int {
        var count = 0
        while let arrival = try channel.receiveNow() {
            guard case .frame(let frame) = consume arrival else { throw FrameError.closed }
            let message: Latchkey_WireReply = try decodeMessage(frame.header)
            guard message.more, message.rows.isEmpty, !message.hasFailure else { throw FrameError.malformed }
            count += 1
        }
        return count
    }

    func nextMessage() throws -> Latchkey_WireReply { try decodeMessage(try received().header) }

    /// It stays there.
    var hasSomethingToRead: Bool { channel.waitingHeader() != nil }

    func hasNothingToRead() throws -> Bool { try channel.receiveNow() == nil }

    /// What the last message of the answer says.
    struct Outcome {
        let error: KeychainError?
        var isSuccess: Bool { error == nil }
    }

    func answer() throws -> Outcome {
        while true {
            let message = try nextMessage()
            if message.hasFailure { return Outcome(error: message.failure.keychainError) }
            if !message.more { return Outcome(error: nil) }
        }
    }
}
