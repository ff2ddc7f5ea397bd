import Foundation
import KeychainClient
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

/// The files by which a session starts our Secret Service, and their way back.
@Suite struct SecretServiceCommandTests {
    private static let service = "latchkey-secret-service.service"
    private static let socket = "latchkey-secret-service.socket"
    private static let alias = "dbus-org.freedesktop.secrets.service"
    private static let program = "\(BuiltPrograms.folder)/latchkey-secret-service"

    private func file(_ home: UnitHome) -> String {
        home.folder.path("dbus-1/services/org.freedesktop.secrets.service")
    }

    private func text(_ home: UnitHome) -> String? { try? String(contentsOfFile: file(home), encoding: .utf8) }

    // MARK: Without systemd

    @Test func theFileIsWrittenOnceAndTakenAway() throws {
        let home = try UnitHome(systemctl: nil)
        #expect(home.run("secret-service", "enable") == .done)
        let wanted = "\n[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(Self.program)\n"
        #expect(text(home)?.hasSuffix(wanted) == true)
        #expect(home.notes.contains("Wrote \(file(home))"))
        #expect(home.run("secret-service", "enable") == .done)
        #expect(home.notes.contains("Already there: \(file(home))"))
        // Another way to be started is ours as well.
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(text(home)?.hasSuffix("Exec=\(Self.program) --control\n") == true)
        #expect(home.notes.contains("logins find it once some program has asked"))
        #expect(FolderContent.names(at: home.folder.path("config")).isEmpty)
        #expect(home.run("secret-service", "disable") == .done)
        #expect(text(home) == nil && home.notes.contains("Removed \(file(home))"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(home.notes.contains("Nothing is there"))
    }

    @Test func whatAnotherWroteStaysUnlessToldAndComesBack() throws {
        let home = try UnitHome(systemctl: nil)
        try FileManager.default.createDirectory(
            atPath: home.folder.path("dbus-1/services"), withIntermediateDirectories: true)
        let theirs = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/other\n"
        try Data(theirs.utf8).write(to: URL(fileURLWithPath: file(home)))
        #expect(home.run("secret-service", "enable") == .usage)
        #expect(text(home) == theirs && home.notes.contains("- Exec=/usr/bin/other"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(text(home) == theirs && home.notes.contains("it stays"))
        #expect(home.run("secret-service", "enable", "--replace") == .done)
        #expect(text(home)?.contains("latchkey-secret-service") == true)
        #expect(home.run("secret-service", "disable") == .done)
        #expect(text(home) == theirs && home.notes.contains("Brought back \(file(home))"))
        // What came to stand there meanwhile is not written over.
        #expect(home.run("secret-service", "enable", "--replace") == .done)
        try Data("newer\n".utf8).write(to: URL(fileURLWithPath: file(home)))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(text(home) == "newer\n")
        #expect(try String(contentsOfFile: file(home) + ".before-latchkey", encoding: .utf8) == theirs)
        // Nor is what was put aside before.
        #expect(home.run("secret-service", "enable", "--replace") == .unavailable)
        #expect(text(home) == "newer\n")
    }

    @Test func aTemporaryKeychainServesNoSession() throws {
        let home = try UnitHome(systemctl: nil, target: .temporary(socket: "/nowhere"))
        #expect(home.run("secret-service", "enable") == .usage)
        #expect(home.run("secret-service", "disable") == .usage)
    }

    // MARK: With it

    @Test func systemdIsToldAndNamedToTheBus() throws {
        let home = try UnitHome(systemctl: "exit 0")
        #expect(home.run("install", "--secret-service") == .done)
        #expect(home.calls() == ["daemon-reload", "daemon-reload", "enable \(Self.service)"])
        #expect(text(home)?.hasSuffix("Exec=\(Self.program)\nSystemdService=\(Self.alias)\n") == true)
        let unit = try #require(home.text(Self.service))
        #expect(unit.contains("\nBusName=org.freedesktop.secrets\nExecStart=\"\(Self.program)\"\n"))
        #expect(unit.contains("\nAlias=\(Self.alias)\n") && unit.contains("\nLimitCORE=0\n"))
        #expect(home.text(Self.socket) == nil)
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(
            home.calls() == [
                "daemon-reload", "daemon-reload", "enable \(Self.service)", "enable \(Self.socket)",
                "start \(Self.socket)",
            ])
        let socket = try #require(home.text(Self.socket))
        #expect(socket.contains("\nListenStream=%t/keyring/control\nSocketMode=0600\n"))
        #expect(socket.contains("\nConflicts=gnome-keyring-daemon.socket\n"))
        #expect(home.run("uninstall", "--secret-service") == .done)
        #expect(
            home.calls() == [
                "disable --now \(Self.socket)", "disable \(Self.service)", "daemon-reload",
                "is-enabled --quiet gnome-keyring-daemon.socket", "start gnome-keyring-daemon.socket",
            ])
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")).isEmpty && text(home) == nil)
        #expect(home.run("install", "--user", "--secret-service") == .usage)
        #expect(home.run("uninstall", "--secret-service", "--delete-keychain", "--yes") == .usage)
    }

    /// A bus that names a unit which systemd does not have would start nobody.
    @Test func whereSystemdDoesNotTakeTheUnitTheBusIsNotToldOfIt() throws {
        let home = try UnitHome(systemctl: "[ $3 = daemon-reload ]")
        #expect(home.run("secret-service", "enable") == .unavailable)
        #expect(text(home) == nil && home.notes.contains("secret-service disable"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(home.text(Self.service) == nil)
    }

    @Test(.enabled(if: UnitHome.hasAnalyze, "systemd-analyze is not installed"))
    func systemdTakesTheUnits() throws {
        let home = try UnitHome(systemctl: "exit 0")
        #expect(home.run("secret-service", "enable", "--control") == .done)
        try home.expectSystemdTakes(Self.socket, Self.service)
    }

    /// The real systemctl, on files alone: what another provider has is there as before.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemctl"), "systemctl is not installed"))
    func afterwardsEverythingIsAsBefore() throws {
        let home = try UnitHome(
            systemctl: """
                case $3 in daemon-reload|start) exit 0 ;; esac
                HOME=${0%/*} XDG_CONFIG_HOME=${0%/*}/config SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl "$@"
                """)
        let units = home.folder.path("config/systemd/user")
        for folder in [units, home.folder.path("dbus-1/services")] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let theirs = "[Service]\nExecStart=/usr/bin/other\n[Install]\nAlias=\(Self.alias)\n"
        for (path, text) in [(file(home), "[D-BUS Service]\n"), ("\(units)/other.service", theirs)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(units)/\(Self.alias)", withDestinationPath: "\(units)/other.service")
        let before = try tree(home)
        #expect(home.run("secret-service", "enable", "--control") == .usage)
        #expect(home.notes.contains("leads to \(units)/other.service"))
        #expect(try tree(home) == before)
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .done, "\(home.notes)")
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: "\(units)/\(Self.alias)")
        #expect(link.hasSuffix("/\(Self.service)"))
        #expect(FileManager.default.fileExists(atPath: "\(units)/sockets.target.wants/\(Self.socket)"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(try tree(home) == before)
    }

    /// Every file and link below what is written to, by path, with what it says.
    private func tree(_ home: UnitHome) throws -> [String: String] {
        var found: [String: String] = [:]
        for folder in ["config", "dbus-1"] {
            for name in try FileManager.default.subpathsOfDirectory(atPath: home.folder.path(folder)) {
                let path = home.folder.path("\(folder)/\(name)")
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                let text = try? String(contentsOfFile: path, encoding: .utf8)
                found["\(folder)/\(name)"] = link.map { "-> \($0)" } ?? text ?? "a folder"
            }
        }
        return found
    }
}
