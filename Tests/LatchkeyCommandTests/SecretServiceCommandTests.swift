import Foundation
import KeychainClient
import KeychainPlatform
import KeychainProtocol
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

    /// The bus starts it for the keychain of the session: of another it would say so and serve this.
    @Test(arguments: [
        ["secret-service", "enable"], ["secret-service", "disable"], ["install", "--secret-service"],
        ["uninstall", "--secret-service"],
    ])
    func noOtherKeychainIsServed(_ words: [String]) throws {
        let home = try UnitHome(systemctl: nil)
        for arguments in [["--data-dir", "/elsewhere"] + words, words + ["--data-dir", "/elsewhere"]] {
            #expect(home.run(arguments) == .usage)
            #expect(home.notes.contains("leave out --data-dir") && text(home) == nil, "\(home.notes)")
        }
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

    private static let asked = ["daemon-reload", "is-active --quiet dbus.socket", "daemon-reload"]

    @Test func systemdIsToldAndNamedToTheBus() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("install", "--secret-service") == .done)
        #expect(home.calls() == Self.asked + ["enable \(Self.service)"])
        #expect(text(home)?.hasSuffix("Exec=\(Self.program)\nSystemdService=\(Self.alias)\n") == true)
        let unit = try #require(home.text(Self.service))
        #expect(unit.contains("\nBusName=org.freedesktop.secrets\nExecStart=\"\(Self.program)\"\n"))
        #expect(unit.contains("\nAlias=\(Self.alias)\n") && unit.contains("\nLimitCORE=0\n"))
        #expect(unit.contains("\nTimeoutStartSec=15\n"))
        #expect(home.text(Self.socket) == nil)
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(
            home.calls() == Self.asked.dropLast() + [
                "is-active --quiet gnome-keyring-daemon.socket", "daemon-reload", "enable \(Self.service)",
                "enable \(Self.socket)", "is-active --quiet \(Self.socket)",
                "is-active --quiet \(Self.service)", "start \(Self.socket)",
            ])
        let socket = try #require(home.text(Self.socket))
        #expect(socket.contains("\nListenStream=%t/keyring/control\nSocketMode=0600\n"))
        #expect(
            socket.contains("\nConflicts=gnome-keyring-daemon.socket\nAfter=gnome-keyring-daemon.socket\n"))
        // What listens already is left to it.
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(home.calls().last == "is-active --quiet \(Self.socket)")
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

    /// systemd refuses to listen for a service that runs.
    @Test func whereTheServiceRunsItListensFromTheNextLoginOn() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable") == .done)
        try home.setActive(Self.service)
        #expect(home.run("secret-service", "enable", "--control") == .done, "\(home.notes)")
        let calls = home.calls()
        #expect(calls.contains("enable \(Self.socket)") && !calls.contains("start \(Self.socket)"))
        #expect(home.text(Self.socket) != nil)
        #expect(home.notes.contains("with the next session, or with: systemctl --user stop \(Self.service) && "))
    }

    private static let masked = ["gnome-keyring-daemon.service", "gnome-keyring-daemon.socket"]

    private func link(_ home: UnitHome, _ name: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: home.unit(name))
    }

    @Test func gnomeKeyringsUnitsAreMaskedUntilItIsDisabled() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        for _ in 1...2 {
            #expect(home.run("secret-service", "enable") == .done)
            #expect(Self.masked.map { link(home, $0) } == ["/dev/null", "/dev/null"])
            #expect(home.notes.contains("no more (masked: \(Self.masked.joined(separator: ", ")))"))
        }
        #expect(home.run("secret-service", "disable") == .done)
        #expect(home.notes.contains("Unmasked gnome-keyring-daemon.service"))
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")).isEmpty)
        #expect(home.calls().last == "start gnome-keyring-daemon.socket")
        #expect(!home.notes.contains("from the next session on"))
        // systemd has nobody listen for a service that runs.
        #expect(home.run("secret-service", "enable") == .done)
        try home.setActive("gnome-keyring-daemon.service")
        #expect(home.run("secret-service", "disable") == .done)
        #expect(home.notes.contains("gnome-keyring, which runs, listens for logins again from the next session on."))
    }

    /// In the place of ours, which looks the same.
    @Test func aMaskThatAPersonMadeAfterTakingOursAwayStays() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable") == .done)
        try FileManager.default.removeItem(atPath: home.unit(Self.masked[0]))
        try FileManager.default.createSymbolicLink(
            atPath: home.unit(Self.masked[0]), withDestinationPath: "/dev/null")
        #expect(home.run("secret-service", "enable") == .done)
        #expect(home.notes.contains("(masked: \(Self.masked[1]))"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")) == [Self.masked[0]])
        #expect(link(home, Self.masked[0]) == "/dev/null")
    }

    /// tar keeps whole seconds of a link's time, unless it is told otherwise.
    @Test func aMaskOfOursThatWasCopiedWithWholeSecondsGoes() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable") == .done)
        try keepWholeSeconds(of: home.unit(Self.masked[0]))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(!FolderContent.names(at: home.folder.path("config/systemd/user")).contains(Self.masked[0]))
    }

    private func keepWholeSeconds(of link: String) throws {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "touch -h -d \"@$(stat -c %Y \"$0\")\" \"$0\"", link]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// As somebody unmasked it by systemctl, or had it masked before.
    @Test func whatAPersonMadeOfGnomeKeyringsUnitsStays() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        try FileManager.default.createDirectory(
            atPath: home.folder.path("config/systemd/user"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: home.unit(Self.masked[0]), withDestinationPath: "/dev/null")
        try Data("[Socket]\n".utf8).write(to: URL(fileURLWithPath: home.unit(Self.masked[1])))
        #expect(home.run("secret-service", "enable") == .done)
        #expect(home.notes.contains("\(home.unit(Self.masked[1])) is a unit of your own and stays"))
        #expect(!home.notes.contains("masked:"))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(link(home, Self.masked[0]) == "/dev/null" && home.text(Self.masked[1]) == "[Socket]\n")
        for name in Self.masked { try FileManager.default.removeItem(atPath: home.unit(name)) }
        #expect(home.run("secret-service", "enable") == .done)
        for name in Self.masked { try FileManager.default.removeItem(atPath: home.unit(name)) }
        #expect(home.run("secret-service", "disable") == .done)
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")).isEmpty)
    }

    // MARK: Where something fails

    /// The systemd that refuses `enable` for as long as there is a file of that name.
    private static let refusing = """
        if [ $3 = enable ] && [ -e ${0%/*}/refuses ]; then exit 1; fi
        \(UnitHome.manager)
        """

    private func refuse(_ home: UnitHome) throws {
        try Data().write(to: URL(fileURLWithPath: home.folder.path("refuses")))
    }

    @Test func whereSystemdDoesNotTakeTheUnitEverythingIsAsBefore() throws {
        let home = try UnitHome(systemctl: Self.refusing)
        try refuse(home)
        for folder in ["config/systemd/user", "dbus-1/services"] {
            try FileManager.default.createDirectory(
                atPath: home.folder.path(folder), withIntermediateDirectories: true)
        }
        try Data("theirs\n".utf8).write(to: URL(fileURLWithPath: file(home)))
        try Data("[Service]\n".utf8).write(to: URL(fileURLWithPath: home.unit(Self.service)))
        try FileManager.default.createSymbolicLink(
            atPath: home.unit(Self.alias), withDestinationPath: home.unit("other.service"))
        let before = try tree(home)
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .unavailable)
        #expect(try tree(home) == before)
        #expect(home.notes.contains("Everything is as it was before."))
        #expect(home.console.notes.last?.contains("journalctl --user -u \(Self.service)") == true)
        // Who listened does so again.
        #expect(!home.calls().contains("start \(Self.masked[1])"))
        try home.setActive(Self.masked[1])
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .unavailable)
        #expect(try home.calls().last == "start \(Self.masked[1])" && tree(home) == before)
    }

    /// What an earlier version had written is there again.
    @Test func whereSystemdDoesNotTakeANewerUnitTheOlderStays() throws {
        let home = try UnitHome(systemctl: Self.refusing)
        #expect(home.run("secret-service", "enable") == .done)
        let older = try #require(home.text(Self.service)).replacing("UMask=0077\n", with: "")
        try Data(older.utf8).write(to: URL(fileURLWithPath: home.unit(Self.service)))
        let before = try tree(home)
        try refuse(home)
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .unavailable)
        #expect(try tree(home) == before)
    }

    /// A session in which no manager answers (su, cron) is not the one that they are for.
    @Test func aSilentManagerKeepsWhatItHas() throws {
        let home = try UnitHome(systemctl: "if [ -e ${0%/*}/silent ]; then exit 1; fi\n\(UnitHome.manager)")
        #expect(home.run("secret-service", "enable") == .done)
        let before = try tree(home)
        try Data().write(to: URL(fileURLWithPath: home.folder.path("silent")))
        #expect(home.run("secret-service", "enable") == .done)
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(home.notes.contains("do the same in a session where it does"))
        #expect(try tree(home) == before)
    }

    /// dbus-launch's: it asks no systemd, which sees no names on it.
    @Test func whereTheBusIsNoUnitItStartsTheServiceItself() throws {
        let home = try UnitHome(systemctl: "[ $3 = daemon-reload ]")
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(text(home)?.hasSuffix("Exec=\(Self.program) --control\n") == true)
        #expect(FolderContent.names(at: home.folder.path("config")).isEmpty)
    }

    @Test func whatDoesNotGoKeepsNothingElseFromComingBack() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        try FileManager.default.createDirectory(
            atPath: home.folder.path("dbus-1/services"), withIntermediateDirectories: true)
        try Data("theirs\n".utf8).write(to: URL(fileURLWithPath: file(home)))
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .done)
        // In place of a folder.
        try Data().write(to: URL(fileURLWithPath: home.unit("sockets.target.wants")))
        #expect(home.run("secret-service", "disable") == .unavailable)
        #expect(text(home) == "theirs\n")
        #expect(FolderContent.names(at: home.folder.path("config/systemd/user")) == ["sockets.target.wants"])
    }

    /// A folder that cannot be written, here for what is in the place of the lock: there is nothing to
    /// be taken away there, or it is not taken away.
    @Test func whereNothingOfOursIsInAFolderThatCannotBeLockedTheRestGoes() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        let other = try UnitHome(systemctl: nil)
        #expect(other.run("secret-service", "enable") == .done)
        let lock = "config/\(SecretServiceEnabling.unitLockName)"
        #expect(home.run("secret-service", "enable") == .done)
        for folder in [home.folder, other.folder] {
            try FileManager.default.createDirectory(
                atPath: folder.path(lock), withIntermediateDirectories: true)
        }
        #expect(other.run("secret-service", "disable") == .done && text(other) == nil)
        let before = try tree(home)
        #expect(home.run("secret-service", "disable") == .unavailable)
        #expect(try tree(home) == before && home.notes.contains("cannot be locked"))
        // Whatever it is that is left of ours.
        try FileManager.default.removeItem(atPath: home.folder.path(lock))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(home.run("secret-service", "enable") == .done)
        let names = FolderContent.names(at: home.folder.path("config/systemd/user"))
        for name in names { try FileManager.default.removeItem(atPath: home.unit(name)) }
        try FileManager.default.createDirectory(atPath: home.folder.path(lock), withIntermediateDirectories: true)
        let rest = [
            (Self.alias, home.unit(Self.service)), ("\(Self.masked[0]).masked-by-latchkey", nil),
            ("\(Self.socket).before-latchkey", nil),
        ]
        for (name, target) in rest {
            if let target {
                try FileManager.default.createSymbolicLink(atPath: home.unit(name), withDestinationPath: target)
            } else {
                try Data("\(SecretServiceUnits.mark)\n".utf8).write(to: URL(fileURLWithPath: home.unit(name)))
            }
            #expect(home.run("secret-service", "disable") == .unavailable, "\(name)")
            try FileManager.default.removeItem(atPath: home.unit(name))
        }
        #expect(home.run("secret-service", "disable") == .done && text(home) == nil)
    }

    @Test func linksToUnitsThatSomebodyRemovedGo() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable") == .done)
        let alias = home.unit(Self.alias)
        try FileManager.default.createSymbolicLink(
            atPath: alias, withDestinationPath: home.unit(Self.service))
        try FileManager.default.removeItem(atPath: home.unit(Self.service))
        #expect(home.run("secret-service", "disable") == .done)
        #expect(link(home, Self.alias) == nil)
        // A package's, which is there, is the person's own choice.
        let packaged = home.folder.path(Self.service)
        try Data("[Unit]\n".utf8).write(to: URL(fileURLWithPath: packaged))
        try FileManager.default.createSymbolicLink(atPath: alias, withDestinationPath: packaged)
        #expect(home.run("secret-service", "disable") == .done)
        #expect(link(home, Self.alias) == packaged)
    }

    /// Of a person whose folders are elsewhere: no manager has to know of them.
    @Test func foldersElsewhereStandInTheUnit() {
        let text = SecretServiceUnits.serviceText("/p", [("XDG_DATA_HOME", "/a b/%c\"$d\\e")])
        #expect(
            text.contains(
                "ExecStart=\"/p\"\nEnvironment=\"XDG_DATA_HOME=/a b/%%c\\\"$d\\\\e\"\n# Whoever"), "\(text)")
        #expect(!SecretServiceUnits.serviceText("/p", []).contains("Environment"))
    }

    @Test(.enabled(if: UnitHome.hasAnalyze, "systemd-analyze is not installed"))
    func systemdTakesTheUnits() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable", "--control") == .done)
        try home.expectSystemdTakes(Self.socket, Self.service)
    }

    /// But for the line that says whose they are.
    @Test func thePackagesUnitsSayWhatEnableWrites() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable", "--control") == .done)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "debian/systemd")
        for name in [Self.service, Self.socket] {
            let written = try #require(home.text(name)).split(separator: "\n", omittingEmptySubsequences: false)
                .dropFirst().filter { !$0.hasPrefix("Environment=") }.joined(separator: "\n")
            let packaged = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(packaged == written.replacing(BuiltPrograms.folder, with: "/usr/libexec/latchkey"), "\(name)")
        }
    }

    /// The real systemctl, on files alone: what another provider has is there as before.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemctl"), "systemctl is not installed"))
    func afterwardsEverythingIsAsBefore() throws {
        let home = try UnitHome(
            systemctl: """
                case $3 in daemon-reload|start) exit 0 ;; is-active) [ $5 = dbus.socket ]; exit ;; esac
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

    /// What scripts/uninstall prints, once there is no `latchkey` any more that would do it.
    @Test(arguments: [(false, false), (true, false), (false, true)])
    func whatUninstallPrintsIsTheWayBack(isCopied: Bool, hasCommas: Bool) throws {
        let home = try UnitHome(systemctl: "[ $3 != is-active ] || [ $5 = dbus.socket ]")
        // The folders as the script finds them, with what a shell would take for its own.
        let odd = home.folder.path("it's a $HOME")
        try FileManager.default.createDirectory(
            atPath: odd + "/data/dbus-1/services", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: odd + "/config/systemd/user", withIntermediateDirectories: true)
        home.surroundings.userManager.units = .named(odd + "/config/systemd/user")
        let locations = KeychainLocations(dataDirectory: odd + "/data/latchkey", runDirectory: odd + "/run")
        home.surroundings.configuration = ClientConfiguration(
            target: .store(locations, autostart: true), programDirectories: [BuiltPrograms.folder])
        for path in ["/data/dbus-1/services/org.freedesktop.secrets.service", "/config/systemd/user/\(Self.service)"] {
            try Data("theirs\n".utf8).write(to: URL(fileURLWithPath: odd + path))
        }
        let before = try tree(home, "it's a $HOME")
        #expect(home.run("secret-service", "enable", "--replace") == .done, "\(home.notes)")
        try FileManager.default.createSymbolicLink(
            atPath: "\(odd)/config/systemd/user/\(Self.alias)",
            withDestinationPath: "\(odd)/config/systemd/user/\(Self.service)")
        if isCopied {
            for mask in Self.masked { try keepWholeSeconds(of: "\(odd)/config/systemd/user/\(mask)") }
        }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "scripts/uninstall").path
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c",
            "\"$0\" 2>&1 >/dev/null | sed -n 's/^    //p' > \"$HOME/said\" && bash -eu \"$HOME/said\"", script,
        ]
        // The played systemctl is none of the units in these folders.
        try FileManager.default.createDirectory(atPath: odd + "/bin", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: odd + "/bin/systemctl", withDestinationPath: "/bin/true")
        var environment = [
            "PATH": odd + "/bin:/usr/bin:/bin", "HOME": odd, "PREFIX": odd + "/prefix", "XDG_DATA_HOME": odd + "/data",
            "XDG_CONFIG_HOME": odd + "/config",
        ]
        if hasCommas { environment["LOCPATH"] = try localeWithCommas(home) }
        process.environment = environment.merging(hasCommas ? ["LC_NUMERIC": "commas"] : [:]) { $1 }
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        for rest in ["said", "bin"] { try FileManager.default.removeItem(atPath: "\(odd)/\(rest)") }
        #expect(try tree(home, "it's a $HOME") == before)
    }

    /// A folder with the locale `commas`, whose decimal sign is a comma (locale(5)).
    private func localeWithCommas(_ home: UnitHome) throws -> String {
        let folder = home.folder.path("locales")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let source = "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n"
        // Debian has those of the system in a package of their own (charmap(5)).
        let characters =
            "<code_set_name> ANSI_X3.4-1968\n<escape_char> /\nCHARMAP\n<U0000>..<U007F> /x00\nEND CHARMAP\n"
        for (name, text) in [("source", source), ("characters", characters)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/localedef")
        process.arguments = [
            "-c", "-i", "\(folder)/source", "-f", "\(folder)/characters", "\(folder)/commas",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It warns of the categories that are missing, and ends with 1.
        process.waitUntilExit()
        try #require(FileManager.default.fileExists(atPath: folder + "/commas/LC_NUMERIC"))
        return folder
    }

    /// Every file and link below what is written to, by path, with what it says.
    private func tree(_ home: UnitHome, _ folders: String...) throws -> [String: String] {
        var found: [String: String] = [:]
        for folder in folders.isEmpty ? ["config", "dbus-1"] : folders {
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
