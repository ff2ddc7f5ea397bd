import Foundation
import KeychainClient
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyTransfer
import Testing

@testable import LatchkeyCommand

@Suite struct InstallCommandTests {
    @Test func theUnitsAreWrittenAndTheSocketStarted() throws {
        let home = try UnitHome()
        #expect(home.run("install", "--user") == .done)
        #expect(
            home.calls() == [
                "daemon-reload", "is-active --quiet latchkeyd.socket", "enable latchkeyd.socket",
                "start latchkeyd.socket",
            ])
        #expect(home.text("latchkeyd.socket")?.contains("ListenSequentialPacket=%t/latchkey/keychain.sock\n") == true)
        let service = try #require(home.text("latchkeyd.service"))
        #expect(service.contains("\"\(BuiltPrograms.folder)/latchkeyd\" --data-dir \"\(home.folder.path("data"))\""))
        #expect(service.contains("LimitCORE=0\n"))
        // What systemd refuses the programs could not confine themselves by.
        let filters = service.split(separator: "\n").filter { $0.hasPrefix("SystemCallFilter=") }.joined(separator: " ")
        let calls = [
            "seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "memfd_secret",
        ]
        for call in calls {
            #expect(filters.contains(call), "\(call)")
        }
        #expect(home.notes.contains("Wrote \(home.unit("latchkeyd.socket"))"))
        #expect(home.notes.contains("latchkey uninstall --user"))
        let mode = try FileManager.default.attributesOfItem(atPath: home.unit("latchkeyd.service"))
        #expect(mode[.posixPermissions] as? Int == 0o644)
    }

    @Test func asSecondTimeChangesNothing() throws {
        let home = try UnitHome(systemctl: "exit 0")
        #expect(home.run("install", "--user") == .done)
        #expect(home.calls().last == "restart latchkeyd.socket")
        #expect(home.run("install", "--user", "--json") == .done)
        #expect(home.calls().last == "start latchkeyd.socket")
        let said = try JSONSerialization.jsonObject(with: Data(home.console.output)) as? [String: Any]
        #expect(said?["written"] as? [String] == [] && said?["listening"] as? Bool == true)
        #expect((said?["files"] as? [String])?.count == 2 && said?["systemd"] as? Bool == true)
    }

    @Test func aUnitThatSaysSomethingElseIsKeptUnlessTold() throws {
        let home = try UnitHome(systemctl: "exit 0")
        #expect(home.run("install", "--user") == .done)
        let changed = try #require(home.text("latchkeyd.service")).replacing("UMask=0077", with: "UMask=0007")
        try Data(changed.utf8).write(to: URL(fileURLWithPath: home.unit("latchkeyd.service")))
        try FileManager.default.removeItem(atPath: home.unit("latchkeyd.socket"))
        _ = home.calls()
        #expect(home.run("install", "--user") == .usage)
        #expect(home.notes.contains("- UMask=0007") && home.notes.contains("+ UMask=0077"))
        #expect(home.text("latchkeyd.service") == changed && home.text("latchkeyd.socket") == nil)
        #expect(home.calls() == [])
        #expect(home.run("install", "--user", "--replace") == .done)
        #expect(home.text("latchkeyd.service")?.contains("UMask=0077") == true)
        #expect(home.text("latchkeyd.socket") != nil)
    }

    /// A unit that somebody masked is a link to /dev/null.
    @Test func aLinkIsKeptUnlessToldAndNeverFollowed() throws {
        let home = try UnitHome()
        let other = home.folder.path("other")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: other))
        try FileManager.default.createDirectory(
            atPath: home.folder.path("config/systemd/user"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: home.unit("latchkeyd.socket"), withDestinationPath: other)
        #expect(home.run("install", "--user") == .usage)
        #expect(home.run("uninstall", "--user") == .done)
        #expect(home.notes.contains("it stays"))
        #expect(home.run("install", "--user", "--replace") == .done)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
        #expect(home.text("latchkeyd.socket")?.hasPrefix("# Written by") == true)
    }

    @Test func withoutSystemdNothingIsNeeded() throws {
        let home = try UnitHome(systemctl: nil)
        #expect(home.run("install", "--user") == .done)
        #expect(home.notes.contains("nothing is needed"))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("config")))
        #expect(home.run("install", "--user", "--json") == .done)
        #expect(home.console.text == "{\"systemd\":false,\"files\":[],\"written\":[],\"listening\":false}\n")
        #expect(home.run("uninstall", "--user") == .done)
    }

    @Test func whereNoManagerAnswersTheCommandForLaterIsSaid() throws {
        let home = try UnitHome(systemctl: "exit 1")
        #expect(home.run("install", "--user") == .done)
        #expect(home.calls() == ["daemon-reload"])
        #expect(home.notes.contains("systemctl --user enable --now latchkeyd.socket"))
        #expect(home.text("latchkeyd.socket") != nil)
    }

    @Test func aManagerThatHangsKeepsNobodyWaiting() throws {
        let home = try UnitHome(systemctl: "exec tail -f /dev/null")
        home.surroundings.userManager.patience = .milliseconds(200)
        #expect(home.run("install", "--user") == .done)
        #expect(home.notes.contains("No systemd manager of yours answers"))
    }

    @Test func aSocketThatDoesNotStartIsAFailure() throws {
        let home = try UnitHome(systemctl: "[ $3 = daemon-reload ]")
        #expect(home.run("install", "--user") == .unavailable)
        #expect(home.notes.contains("systemctl --user status latchkeyd.socket"))
    }

    @Test func aTemporaryKeychainIsNoService() throws {
        let home = try UnitHome(target: .temporary(socket: "/tmp/none"))
        #expect(home.run("install", "--user") == .usage)
        #expect(home.run("uninstall", "--user", "--delete-keychain", "--yes") == .usage)
        #expect(home.run("install") == .usage && home.run("uninstall", "--user", "--yes") == .usage)
        #expect(home.calls() == [])
    }

    @Test func aFolderThatNoUnitCanHoldIsRefused() throws {
        let home = try UnitHome()
        #expect(home.run("--data-dir", "/tmp/a\nb", "install", "--user") == .usage)
        #expect(home.run("--data-dir", "/tmp/" + String(repeating: "x", count: 100), "install", "--user") == .usage)
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("config")))
    }

    @Test func aProgramThatSystemdDoesNotTakeIsRefused() throws {
        let home = try UnitHome()
        let programs = home.folder.path("quo\"te")
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/latchkeyd", withDestinationPath: "\(BuiltPrograms.folder)/latchkeyd")
        home.surroundings.configuration = ClientConfiguration(
            target: home.surroundings.configuration.target, programDirectories: [programs])
        #expect(home.run("install", "--user") == .usage)
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("config")))
    }

    // MARK: What systemd makes of them

    @Test(
        .enabled(if: UnitHome.hasAnalyze, "systemd-analyze is not installed"),
        arguments: ["plain", "with space", "per%%cent %t", "dol$lar ${HOME}", "quo\"te\\back's"])
    func systemdTakesTheUnits(_ name: String) throws {
        let home = try UnitHome(systemctl: "exit 1")
        // The program too lies in a folder of that name, where systemd allows it.
        let isAllowed = !name.contains("\"")
        let programs = home.folder.path(isAllowed ? name : "programs")
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/latchkeyd", withDestinationPath: "\(BuiltPrograms.folder)/latchkeyd")
        let locations = KeychainLocations(
            dataDirectory: home.folder.path("data"), runDirectory: home.folder.path("run"))
        home.surroundings.configuration = ClientConfiguration(
            target: .store(locations, autostart: true), programDirectories: [programs])
        #expect(home.run("--data-dir", "/tmp/\(name)", "install", "--user") == .done, "\(home.notes)")
        #expect(home.text("latchkeyd.socket")?.contains("/run/keychain.sock\n") == true)
        try home.expectSystemdTakes("latchkeyd.socket", "latchkeyd.service")
    }

    // MARK: Taking away

    /// Units of another store are not taken along with this one.
    @Test func uninstallLeavesTheUnitsOfAnotherKeychain() throws {
        let home = try UnitHome()
        #expect(home.run("install", "--user") == .done)
        let before = home.text("latchkeyd.service")
        _ = home.calls()
        #expect(home.run("uninstall", "--user", "--data-dir", home.folder.path("elsewhere")) == .done)
        #expect(home.notes.contains("serve another keychain"))
        #expect(home.text("latchkeyd.service") == before && home.calls().isEmpty)
    }

    @Test func uninstallTakesTheUnitsAndKeepsTheKeychain() throws {
        let home = try UnitHome(systemctl: "exit 0")
        #expect(home.run("install", "--user") == .done)
        let enabled = home.folder.path("config/systemd/user/sockets.target.wants")
        try FileManager.default.createDirectory(atPath: enabled, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: enabled + "/latchkeyd.socket", withDestinationPath: home.unit("latchkeyd.socket"))
        _ = home.calls()
        let data = try home.folder.folder("data")
        try data.replace("keychain.db", with: [1])
        #expect(home.run("uninstall", "--user") == .done)
        #expect(
            home.calls() == ["disable --now latchkeyd.socket", "stop latchkeyd.service", "daemon-reload"])
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")).isEmpty)
        #expect(home.notes.contains("stays in \(data.path)"))
        #expect(FolderContent.names(at: data.path) == ["keychain.db"])
        #expect(home.run("uninstall", "--user", "--json") == .done)
        #expect(home.calls() == [])
        #expect(
            home.console.text == "{\"removed\":[],\"dataDirectory\":\"\(data.path)\",\"deleted\":false}\n")
    }

    @Test func whereThereIsNoKeychainNoneIsSaidToBeDeleted() throws {
        let home = try UnitHome()
        #expect(home.run("uninstall", "--user", "--delete-keychain", "--yes") == .done)
        #expect(home.notes.contains("There is no keychain in") && !home.notes.contains("Deleted"), "\(home.notes)")
    }

    @Test func aUnitOfSomebodyElseStays() throws {
        let home = try UnitHome()
        try FileManager.default.createDirectory(
            atPath: home.folder.path("config/systemd/user"), withIntermediateDirectories: true)
        try Data("[Service]\n".utf8).write(to: URL(fileURLWithPath: home.unit("latchkeyd.service")))
        #expect(home.run("uninstall", "--user") == .done)
        #expect(home.text("latchkeyd.service") == "[Service]\n" && home.calls() == [])
        #expect(home.notes.contains("it stays"))
    }

    @Test func nothingIsDeletedWithoutAWord() throws {
        for console in [
            RecordingConsole(), RecordingConsole(terminal: true), RecordingConsole(terminal: true, typed: "y"),
        ] {
            let home = try UnitHome(systemctl: "exit 0", console: console)
            #expect(home.run("install", "--user") == .done)
            let data = try home.folder.folder("data")
            try data.replace("keychain.db", with: [1])
            #expect(home.run("uninstall", "--user", "--delete-keychain") == .usage)
            #expect(FolderContent.names(at: data.path) == ["keychain.db"])
            #expect(home.text("latchkeyd.socket") != nil)
            #expect(console.prompts.allSatisfy { $0.contains(data.path) && $0.contains("Type delete") })
        }
    }

    @Test func doctorNamesUnitsOfAnotherVersion() throws {
        let home = try UnitHome(systemctl: "exit 0")
        let check = MachineCheck(surroundings: home.surroundings, dataDirectory: nil)
        #expect(check.unitFindings() == [])
        #expect(home.run("install", "--user") == .done)
        #expect(check.unitFindings() == [])
        let other = try #require(home.text("latchkeyd.service")).replacing(BuiltPrograms.folder, with: "/old")
        try Data(other.utf8).write(to: URL(fileURLWithPath: home.unit("latchkeyd.service")))
        let findings = check.unitFindings()
        #expect(findings.count == 1 && findings.first?.what.contains("/old/latchkeyd") == true)
        #expect(findings.first?.command == "latchkey install --user --replace")
    }
}
