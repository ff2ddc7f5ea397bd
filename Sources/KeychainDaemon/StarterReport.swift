internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// The one message to whoever started us, on descriptor 3; ``DaemonReport`` is
/// its other end.
package enum StarterReport {
    /// Says that the daemon listens (nil), or why it cannot.
    package static func send(
        _ failure: KeychainError?, on socket: PacketSocket, until deadline: Deadline
    ) throws(FrameError) {
        var message = Latchkey_ServerHello()
        if let failure { message.failure = Latchkey_Failure(failure) }
        defer { socket.shutDown() }
        let channel: MessageChannel
        do throws(SystemCallError) { channel = try MessageChannel(socket) } catch { throw .system(error) }
        try channel.send(message.wireBytes, until: deadline)
    }
}
