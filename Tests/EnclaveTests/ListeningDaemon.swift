import KeychainMessages
import KeychainPlatform
import KeychainProtocol
import SwiftProtobuf
import Testing

@testable import Enclave

/// A daemon's connection, message by message.
final class ListeningDaemon {
    private let channel: MessageChannel
    private var number: UInt64 = 0

    /// Says that a block is on the disk, and does not wait for the answer.
    func confirm(_ block: SealedAuditBlock) throws { try send(.confirmAudit(Latchkey_SealedAuditBlock(block))) }

    func leave() { channel.socket.shutDown() }

    var isEnded: Bool { get throws { try channel.isEnded } }

    init(_ server: RunningServer) throws {
        channel = try server.bareConnection()
        try send(.open(.with { $0.protocol = EnclaveProtocol.version }))
        _ = try #require(try channel.receiveReply())
    }

    private func send(_ request: Latchkey_EnclaveRequest.OneOf_Request) throws {
        number += 1
        let message = Latchkey_EnclaveRequest.with {
            $0.number = number
            $0.request = request
        }
        try channel.send(MessageCoding.encode(message), until: MessageChannel.soon)
    }

    /// Asks for what follows a state, and so says that it was heard.
    func ask(after state: UInt64) throws { try send(.awaitState(state)) }

    func state() throws -> DeviceState {
        let reply = try #require(try channel.receiveReply()).header
        return try #require(DeviceState(reply.description_p.state))
    }
}
