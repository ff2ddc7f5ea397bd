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
@Suite(.timeLimit(.minutes(2))) struct ShippedAttackTests {
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

    enum Squat: CaseIterable, Sendable {
        case symbolicLink, openMode, foreignOwner, file

        /// Only root makes folders of other users.
        static let possible = geteuid() == 0 ? allCases : allCases.filter { $0 != .foreignOwner }
    }

    @Test(arguments: Squat.possible)
    func theDaemonRefusesASquattedRunFolder(_ squat: Squat) throws {
        let folder = try TemporaryDirectory("squat")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        try squat.lay(at: locations.runDirectory, target: folder.path("elsewhere"))
        let error = #expect(throws: KeychainError.self) {
            try DaemonFinder(ShippedDaemon.configuration(locations)).connect()
        }
        #expect(error?.status == .notAvailable)
        #expect(error?.underlying?.contains(squat.complaint) == true, "\(error.debugDescription)")
        let elsewhere = try? FileManager.default.contentsOfDirectory(atPath: folder.path("elsewhere"))
        #expect(elsewhere?.isEmpty != false, "nothing is put where the link leads")
    }

    @Test(arguments: Squat.possible)
    func theClientRefusesARunFolderThatWasSquattedLater(_ squat: Squat) throws {
        let run = daemon.locations.runDirectory
        try FileManager.default.moveItem(atPath: run, toPath: daemon.folder.path("real"))
        try squat.lay(at: run, target: daemon.folder.path("real"))
        let error = #expect(throws: KeychainError.self) {
            try DaemonFinder(ShippedDaemon.configuration(daemon.locations, autostart: false)).connect()
        }
        #expect(error?.status == .notAvailable)
        #expect(error?.underlying?.contains(squat.complaint) == true, "\(error.debugDescription)")
    }
}

extension ShippedAttackTests.Squat {
    var complaint: String {
        switch self {
        case .symbolicLink, .file: "symbolic link"
        case .openMode: "mode 755"
        case .foreignOwner: "belongs to user 65534"
        }
    }

    func lay(at path: String, target: String) throws {
        let files = FileManager.default
        switch self {
        case .symbolicLink:
            if !files.fileExists(atPath: target) {
                try files.createDirectory(
                    atPath: target, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            }
            try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        case .file: try #require(files.createFile(atPath: path, contents: nil))
        case .openMode:
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            try setMode(0o755, path)
        case .foreignOwner:
            try files.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try #require(unsafe chown(path, 65534, 65534) == 0)
        }
    }
}

private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
