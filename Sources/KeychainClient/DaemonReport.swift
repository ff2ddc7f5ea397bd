internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol

/// What a daemon that is being started tells its starter: that it listens (or
/// that another one does), or why it cannot.
package enum DaemonReport {
    /// Waits for the one message; the end of the socket means that it died.
    ///
    /// - Throws: what the daemon reported, or `errSecNotAvailable` with
    ///   `noAnswer` or `daemonUnreachable`.
    package static func wait(on socket: PacketSocket, until deadline: Deadline) throws(KeychainError) {
        do throws(FrameError) {
            let channel = try channel(socket)
            guard let frame = try channel.receive(until: deadline) else { throw FrameError.closed }
            let report: Latchkey_ServerHello
            do throws(WireFault) { report = try decodeMessage(frame.header) } catch { throw .malformed }
            if report.hasFailure { throw FrameError.refused(report.failure.keychainError) }
        } catch {
            throw DaemonConnection.fault(error, mayHaveHappened: false)
        }
    }

    private static func channel(_ socket: PacketSocket) throws(FrameError) -> MessageChannel {
        do throws(SystemCallError) { return try MessageChannel(socket) } catch { throw .system(error) }
    }
}
