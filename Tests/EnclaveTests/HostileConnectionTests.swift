import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Testing

@testable import Enclave

/// Whatever comes over a connection, it ends that connection at worst.
@Suite struct HostileConnectionTests {
    private typealias Request = Latchkey_EnclaveRequest

    private static func encoded(_ change: (inout Latchkey_EnclaveRequest) -> Void) -> [UInt8] {
        var request = Latchkey_EnclaveRequest()
        request.number = 1
        change(&request)
        return MessageCoding.encode(request)
    }

    private static func open(version: UInt32 = EnclaveProtocol.version, store: [UInt8] = []) -> [UInt8] {
        encoded {
            $0.open.protocol = version
            $0.open.storeID = Data(store)
        }
    }

    /// Datagrams that are no frame at all.
    private static let datagrams: [[UInt8]] = [
        [0], [0x4C], [UInt8](repeating: 0, count: 8), [0x4D, 0, 0, 0, 0, 0, 0, 0], [0x4C, 2, 0, 0, 0, 0, 0, 0],
        [0x4C, 0, 1, 0, 0, 0, 0, 0], [0x4C, 0, 0, 0, 1, 0, 0, 0], [0x4C, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x4C, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 0x4C, count: 70_000),
    ]

    /// Frames that are no first message.
    private static let firstMessages: [[UInt8]] = [
        [], [0xFF], [UInt8](repeating: 0, count: 1000), encoded { _ in }, encoded { $0.describe = true },
        encoded { $0.wrap = .init() }, encoded { $0.unwrapMetadataKey = .init() },
        open(store: [1, 2, 3]), open(store: [UInt8](repeating: 0, count: 17)),
    ]

    /// Frames that are no request once the store is open.
    private static let laterMessages: [[UInt8]] = [
        [], [0xFF], encoded { _ in }, open(),
        encoded { $0.wrap.rows = Array(repeating: RowBinding.row().message, count: 257) },
        encoded { $0.wrap.rows = [.with { $0.classNumber = 5 }] },
        encoded { $0.unwrap.packed = Data([0]) },
        encoded { $0.unwrap.packed = Data([5] + [UInt8](repeating: 0, count: 16)) },
        encoded { $0.unwrap.packed = Data([1] + [UInt8](repeating: 0, count: 15)) },
        encoded { $0.unwrap.packed = Data([1, 0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)) },
        encoded { $0.unwrap.packed = Data([1] + [UInt8](repeating: 0xFF, count: 16)) },
        encoded { $0.unwrap.packed = Data([UInt8](repeating: 1, count: 17) + [0]) },
        encoded { $0.wrapMetadataKey.classNumber = 0 },
        encoded { $0.unwrapMetadataKey.classNumber = 262 },
    ]

    @Test(arguments: datagrams)
    func whatIsNoFrameEndsItsConnectionAlone(datagram: [UInt8]) throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let hostile = try server.bareConnection()
        try hostile.socket.send(datagram)
        #expect(try hostile.isEnded)
        _ = try enclave.describe()
    }

    @Test(arguments: firstMessages)
    func whatDoesNotOpenAStoreEndsItsConnectionAlone(message: [UInt8]) throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let hostile = try server.bareConnection()
        try hostile.send(message, until: MessageChannel.soon)
        #expect(try hostile.isEnded)
        _ = try enclave.describe()
    }

    @Test(arguments: laterMessages)
    func whatIsNoRequestEndsItsConnectionAlone(message: [UInt8]) throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let hostile = try server.bareConnection()
        try hostile.send(Self.open(), until: MessageChannel.soon)
        #expect(try hostile.receiveReply()?.tailByteCount == 32)
        try hostile.send(message, until: MessageChannel.soon)
        #expect(try hostile.isEnded)
        _ = try enclave.describe()
    }

    @Test func aTailIsNotWanted() throws {
        let server = try RunningServer()
        let hostile = try server.bareConnection()
        try hostile.send(Self.open(), SecretBytes(count: 1), until: MessageChannel.soon)
        #expect(try hostile.isEnded)
    }

    @Test func anotherVersionOfTheProtocolIsToldSo() throws {
        let server = try RunningServer()
        let hostile = try server.bareConnection()
        try hostile.send(Self.open(version: EnclaveProtocol.version + 1), until: MessageChannel.soon)
        let reply = try #require(try hostile.receiveReply())
        #expect(KeychainError(enclaveFailure: reply.header.failure).reason == .versionMismatch)
        #expect(try hostile.isEnded)
        #expect(try server.home.contents().isEmpty)
    }

    @Test func unsealedMemoryIsNotRead() throws {
        let server = try RunningServer()
        let hostile = try server.bareConnection()
        let file = try server.home.temporary.folder("files").openFile("message", creating: true)
        try hostile.socket.send([0x4C, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], descriptor: file)
        #expect(try hostile.isEnded)
    }

    @Test func aRequestOfMegabytesIsReadWhole() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let rows = (0..<20).map { _ in RowBinding.row(accessControl: [UInt8](repeating: 1, count: 64 * 1024)) }
        #expect(try enclave.makeRowKeys(for: rows).allSatisfy { $0.fate == .needsAuthentication })
    }

    @Test func anyMutationOfARequestIsAnsweredOrEnded() throws {
        let server = try RunningServer()
        let steady = try server.connect()
        let made = try MadeKey(in: steady)
        let whole = Self.encoded { request in
            request.unwrap.packed = Data(PackedRows.encode([(binding: made.binding, wrapped: made.wrapped)]))
        }
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var bytes = whole
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            let hostile = try server.bareConnection()
            try hostile.send(Self.open(), until: MessageChannel.soon)
            _ = try hostile.receiveReply()
            try hostile.send(bytes, until: MessageChannel.soon)
            _ = try hostile.receiveReply()
        }
        #expect(try made.opens(in: steady))
    }
}
