import KeychainDaemon
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Testing

/// Conversations that go wrong end that connection and nothing else.
@Suite struct ConversationTests {
    /// A client that can be made to break the rules at any step.
    private struct Rogue {
        let socket: PacketSocket
        let channel: MessageChannel
        let deadline = Deadline(after: .seconds(10), on: SystemClock())

        init(_ daemon: DaemonUnderTest) throws {
            socket = try daemon.rawConnection()
            channel = try MessageChannel(socket)
        }

        func nonce() throws -> [UInt8] {
            try next().tail
        }

        func answer(_ nonce: [UInt8], descriptor: Descriptor?) throws {
            var hello = Latchkey_ClientHello()
            hello.lowestProtocol = ProtocolVersion.lowest
            hello.highestProtocol = ProtocolVersion.highest
            try channel.send(hello.wireBytes, SecretBytes(copying: nonce), descriptor: descriptor, until: deadline)
        }

        func greet() throws {
            try answer(try nonce(), descriptor: try EventSignal().descriptor)
            _ = try next()
        }

        /// Header and tail of the daemon's next message.
        func next() throws -> (header: [UInt8], tail: [UInt8]) {
            guard let frame = try channel.receive(until: deadline) else { throw FrameError.malformed }
            return (frame.header, frame.tail.insecureArray())
        }

        /// Open, and nothing has come: neither a message nor the end.
        func hasNothingToRead() throws -> Bool { try channel.receiveNow() == nil }

        /// Reads until the daemon closes; fails the test where it does not.
        func expectEnd(_ location: SourceLocation = #_sourceLocation) throws {
            let isOver = try reachesEnd(channel, deadline)
            #expect(isOver, "the connection is still open", sourceLocation: location)
        }
    }

    @Test func dataBeforeTheNonceIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let socket = try daemon.rawConnection()
        try socket.send([UInt8](repeating: 1, count: 40))
        let rogue = try MessageChannel(socket)
        // Either the daemon saw the data before its nonce, or it takes it for a
        // wrong answer: in both cases nothing is served.
        let isOver = try reachesEnd(rogue, Deadline(after: .seconds(10), on: SystemClock()))
        #expect(isOver)
        #expect(try daemon.serves())
    }

    @Test func wrongNonceIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        var nonce = try rogue.nonce()
        nonce[0] ^= 1
        try rogue.answer(nonce, descriptor: try EventSignal().descriptor)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func answerWithoutDescriptorIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        try rogue.answer(try rogue.nonce(), descriptor: nil)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func silentConnectionEndsAtItsDeadlineAndNotBefore() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        _ = try rogue.nonce()
        daemon.clock.advance(by: .seconds(4))
        #expect(try daemon.serves())
        let isOpen = try rogue.hasNothingToRead()
        #expect(isOpen, "four seconds are within the deadline")
        daemon.clock.advance(by: .seconds(2))
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test(arguments: [
        [], [0x4C], [0x4C, 0, 0, 0, 255, 255, 255, 255], [0x4C, 9, 0, 0, 0, 0, 0, 0], [0x58, 0, 0, 0, 0, 0, 0, 0],
        [0x4C, 1, 0, 0, 0, 0, 0, 0], [0x4C, 1, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8),
        [0x4C, 0, 0, 0, 4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
    ] as [[UInt8]])
    func malformedMessageEndsItsConnectionAlone(_ bytes: [UInt8]) throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        try rogue.greet()
        // An empty datagram is how a sequenced-packet socket shows its end.
        if bytes.isEmpty { rogue.socket.shutDown() } else { try rogue.socket.send(bytes) }
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func unknownOperationEndsItsConnection() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        try rogue.greet()
        var request = Latchkey_WireRequest()
        request.number = 1
        request.operation = .UNRECOGNIZED(77)
        try rogue.channel.send(request.wireBytes, until: rogue.deadline)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    /// One key said twice could say one group to the check and another to the store.
    @Test(arguments: ["agrp", "sync", "class"]) func repeatedKeyEndsItsConnection(_ key: String) throws {
        var own = Entitlements()
        own.keychainAccessGroups = ["own"]
        let daemon = try DaemonUnderTest(rights: .fixed(own))
        let rogue = try Rogue(daemon)
        try rogue.greet()
        var request = Latchkey_WireRequest()
        request.number = 1
        request.operation = .add
        let said = [("class", "genp"), ("agrp", "own"), ("sync", "0"), (key, key == "agrp" ? "victim" : "inet")]
        request.query = said.map { key, text in
            var entry = Latchkey_WireEntry()
            entry.key = key
            entry.value.text = text
            return entry
        }
        try rogue.channel.send(request.wireBytes, until: rogue.deadline)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func descriptorWithARequestEndsItsConnection() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        try rogue.greet()
        try rogue.channel.send(
            KeychainRequest(.status).encoded(number: 1), descriptor: try EventSignal().descriptor, until: rogue.deadline)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func memoryThatItsSenderCouldStillChangeIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        try rogue.greet()
        // An eventfd is no sealed memfd; the header says "the message is in it".
        let prefix: [UInt8] = [0x4C, 1, 0, 0, 4, 0, 0, 0] + [8, 0, 0, 0, 0, 0, 0, 0]
        try rogue.socket.send(prefix, descriptor: try EventSignal().descriptor)
        try rogue.expectEnd()
        #expect(try daemon.serves())
    }

    @Test func newerProtocolIsToldSo() throws {
        let daemon = try DaemonUnderTest()
        let rogue = try Rogue(daemon)
        var hello = Latchkey_ClientHello()
        hello.lowestProtocol = 99
        hello.highestProtocol = 99
        let nonce = try rogue.nonce()
        try rogue.channel.send(
            hello.wireBytes, SecretBytes(copying: nonce), descriptor: try EventSignal().descriptor, until: rogue.deadline)
        let answer: Latchkey_ServerHello = try decodeMessage(try rogue.next().header)
        #expect(answer.failure.keychainError.reason == .versionMismatch)
        try rogue.expectEnd()
    }

    @Test func halfAConversationDoesNotDisturbTheNext() throws {
        let daemon = try DaemonUnderTest()
        for _ in 0..<20 {
            let rogue = try Rogue(daemon)
            _ = try rogue.nonce()
        }
        for _ in 0..<20 {
            let rogue = try Rogue(daemon)
            try rogue.greet()
        }
        #expect(try daemon.serves())
    }
}

/// Whether a connection ends after a few messages at the most.
private func reachesEnd(_ channel: MessageChannel, _ deadline: Deadline) throws -> Bool {
    for _ in 0..<4 {
        do throws(FrameError) { if try isEnd(channel, deadline) { return true } } catch {
            if case .system(let below) = error, below.isBrokenConnection { return true }
            throw error
        }
    }
    return false
}

private func isEnd(_ channel: MessageChannel, _ deadline: Deadline) throws(FrameError) -> Bool {
    guard let frame = try channel.receive(until: deadline) else { return true }
    return frame.header.count < 0
}
