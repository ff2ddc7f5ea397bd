internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What a daemon that was just started says to its starter, on descriptor 3:
/// one message, that it listens or why it does not.
package enum DaemonReport {
    /// - Throws: what the daemon could not do; `errSecNotAvailable` where it
    ///   ended without a word (give back your own copy of its end first) or
    ///   says nothing for as long as `patience`.
    package static func wait(
        on socket: PacketSocket, patience: Duration, clock: any KeychainClock
    ) throws(KeychainError) {
        do throws(FrameError) {
            let channel = try channel(on: socket)
            guard let frame = try channel.receive(until: Deadline(after: patience, on: clock)) else {
                throw FrameError.malformed
            }
            let report: Latchkey_ServerHello
            do throws(WireFault) { report = try decodeMessage(frame.header) } catch { throw .malformed }
            if report.hasFailure { throw FrameError.refused(report.failure.keychainError) }
        } catch {
            throw DaemonConnection.fault(error, mayHaveHappened: false)
        }
    }

    private static func channel(on socket: PacketSocket) throws(FrameError) -> MessageChannel {
        do throws(SystemCallError) { return try MessageChannel(socket) } catch { throw .system(error) }
    }
}
