import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Puppets
import Testing

/// The attacks of PeerIdentityTests on the daemon that is shipped, over its
/// real socket.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: ShippedDaemon.isWithinReach, "the programs are not where this user can run them"))
struct ShippedAttackTests {
    private let daemon: ShippedDaemon

    init() throws {
        daemon = try ShippedDaemon()
        _ = try daemon.client.perform(Bait.store)
    }

    private func expectOthersAreServed(_ location: SourceLocation = #_sourceLocation) throws {
        let answer = try daemon.newClient().perform(Bait.copyValue)
        let bytes = answer.rows.first?.value?.bytes.insecureArray()
        #expect(bytes == Array(Bait.value.utf8), sourceLocation: location)
        #expect(try ExecAttack.honestClient(of: daemon) == "told", sourceLocation: location)
    }

    @Test(arguments: ExecAttack.allCases)
    func noValueComesAndOthersAreServed(_ attack: ExecAttack) throws {
        #expect(try ExecAttack.honestClient(of: daemon) == "told", "the question is one that gets the value")
        #expect(try attack.mount(on: daemon) == "refused")
        let log = try daemon.log()
        #expect(log.contains(attack.verdict), "\(log)")
        try expectOthersAreServed()
    }

    /// Documents N4 of the threat model.
    @Test func attributesAreStillServedAfterAnExec() throws {
        #expect(try ExecAttack.attributesAfterTheHello(of: daemon) == "told", "it is refused now: tell THREAT_MODEL.md")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be two users"))
    func anotherUserIsRefused() throws {
        let paths = [daemon.folder.path, daemon.locations.runDirectory, daemon.socketPath]
        // What keeps others out first are the folders; without them the daemon itself does.
        for path in paths { try setMode(0o777, path) }
        #expect(try ExecAttack.client(ofUser: 0, of: daemon) == "told", "the way there is open")
        #expect(try ExecAttack.client(ofUser: 65534, of: daemon) == "refused")
        try setMode(0o700, daemon.locations.runDirectory)
        try expectOthersAreServed()
    }

    // MARK: The squatted run folder

    @Test(arguments: SquattedFolder.possible)
    func theDaemonRefusesASquattedRunFolder(_ squat: SquattedFolder) throws {
        let folder = try TemporaryDirectory("squat")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        try squat.lay(at: locations.runDirectory, target: folder.path("elsewhere"))
        let error = #expect(throws: KeychainError.self) {
            try DaemonFinder(ShippedDaemon.configuration(locations)).connect()
        }
        #expect(error?.status == .notAvailable)
        #expect("\(error.debugDescription)".contains(squat.complaint), "\(error.debugDescription)")
        let elsewhere = try? FileManager.default.contentsOfDirectory(atPath: folder.path("elsewhere"))
        #expect(elsewhere?.isEmpty != false, "nothing is put where the link leads")
    }

    @Test(arguments: SquattedFolder.possible)
    func theClientRefusesARunFolderThatWasSquattedLater(_ squat: SquattedFolder) throws {
        let run = daemon.locations.runDirectory
        var error: KeychainError?
        // Else it makes a folder anew, or listens elsewhere.
        try daemon.whileItLooksAway {
            try FileManager.default.moveItem(atPath: run, toPath: daemon.folder.path("real"))
            try squat.lay(at: run, target: daemon.folder.path("real"))
            error = #expect(throws: KeychainError.self) {
                try DaemonFinder(ShippedDaemon.configuration(daemon.locations, autostart: false)).connect()
            }
        }
        #expect(error?.status == .notAvailable)
        #expect(error?.underlying?.contains(squat.complaint) == true, "\(error.debugDescription)")
    }
}

private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
