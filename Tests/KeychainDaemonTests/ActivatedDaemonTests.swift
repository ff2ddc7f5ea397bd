import KeychainDaemon
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A daemon on a socket that somebody else keeps.
@Suite struct ActivatedDaemonTests {
    private func daemon(on socket: inout PacketSocket?) throws -> DaemonUnderTest {
        var lent: PacketSocket?
        let daemon = try DaemonUnderTest { configuration in
            // What the folder's owner does before anything is started.
            do {
                let run = try PrivateDirectory(configuration.locations.runDirectory, creating: true)
                let listener = try PacketSocket.listen(at: Rendezvous.socketName, in: run.descriptor)
                try listener.setNonBlocking(true)
                lent = listener
            } catch {
                Issue.record("\(error)")
            }
            configuration.activation = lent
        }
        socket = lent
        return daemon
    }

    @Test func anIdleDaemonLeavesTheSocketWhereItIs() throws {
        var socket: PacketSocket?
        let daemon = try daemon(on: &socket)
        let run = try PrivateDirectory(daemon.locations.runDirectory, creating: false)
        #expect(try daemon.serves())
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while daemon.connectionCount > 0 { try #require(!deadline.hasPassed) }
        daemon.clock.advance(by: .seconds(601))
        #expect(try daemon.hasLeft())
        #expect(run.holdsSocket(Rendezvous.socketName))
        // Who comes now waits for the next daemon, and is not turned away.
        _ = try PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)
        #expect(try #require(socket).accept() != nil)
    }

    /// Somebody removes the socket: the daemon makes its own, and takes that away again.
    @Test func aRemovedSocketIsMadeAnewAndGoesWithTheDaemon() throws {
        var socket: PacketSocket?
        let daemon = try daemon(on: &socket)
        let run = try PrivateDirectory(daemon.locations.runDirectory, creating: false)
        #expect(try daemon.serves())
        try run.remove(Rendezvous.socketName)
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while !run.holdsSocket(Rendezvous.socketName) { try #require(!deadline.hasPassed) }
        #expect(try daemon.serves())
        daemon.stop()
        #expect(!run.holdsSocket(Rendezvous.socketName))
    }
}
