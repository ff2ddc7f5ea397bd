import Glibc
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// What of `/proc` makes two processes members of one terminal session.
@Suite struct TerminalSessionTests {
    private struct Place {
        var session: Int32 = 70_001
        var leadersSession: Int32 = 70_001
        var leaderStart = 500
        var terminal = 34817
        var leadersTerminal = 34817
        /// Whether the leader still runs.
        var hasLeader = true
    }

    private static func stat(_ process: Int32, session: Int32, terminal: Int, start: Int) -> String {
        "\(process) (a) b) S 1 20 \(session) \(terminal) 20 4194304 "
            + (10...21).map(String.init).joined(separator: " ") + " \(start) 0\n"
    }

    /// Of a process that lives as a test says.
    private func session(_ place: Place) throws -> TerminalSession? {
        let door = try Doorway()
        let client = try Puppet(["connect", door.path, "say", "there", "hear"])
        try client.expect("there")
        let fixture = try ProcFixture(of: client)
        try fixture.replace(
            "stat", with: Self.stat(client.processID, session: place.session, terminal: place.terminal, start: 900))
        if place.hasLeader {
            try fixture.add(
                70_001,
                stat: Self.stat(
                    70_001, session: place.leadersSession, terminal: place.leadersTerminal, start: place.leaderStart))
        }
        let peer = try PeerProcess.identify(door.accept(), features: .probed(), proc: fixture.root())
        return peer.terminalSession()
    }

    @Test func processesOfOneSessionHaveTheSame() throws {
        let one = try #require(try session(Place()))
        #expect(try session(Place()) == one)
        // The number was given away, and to the same terminal.
        #expect(try session(Place(leaderStart: 501)) != one)
        let other = try session(Place(terminal: 34818, leadersTerminal: 34818))
        #expect(other != nil && other != one)
    }

    @Test func whatIsNoTerminalSessionIsNone() throws {
        let none = [
            Place(terminal: 0, leadersTerminal: 0), Place(session: 0), Place(hasLeader: false), Place(session: 70_002),
            Place(leadersSession: 70_003), Place(leadersTerminal: 34818), Place(leadersTerminal: 0),
        ]
        for place in none { #expect(try session(place) == nil, "\(place)") }
    }

    @Test func whoHasEndedHasNone() throws {
        let door = try Doorway()
        let client = try Puppet(["connect", door.path, "say", "there", "hear"])
        try client.expect("there")
        let peer = try PeerProcess.identify(door.accept(), features: .probed(), proc: .system())
        kill(client.processID, SIGKILL)
        client.waitForEnd()
        #expect(peer.terminalSession() == nil)
    }
}
