import Foundation
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

/// What `doctor`, `whocan` and `info` say of org.freedesktop.secrets, on a bus of the test's
/// own.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceDoctorTests {
    /// What is found, with what mends it.
    private func findings(
        _ programs: BuiltPrograms, on session: PrivateSession, changing: [String: String?] = [:]
    ) throws -> [String: String?] {
        let variables = changing.merging(["DBUS_SESSION_BUS_ADDRESS": session.address]) { one, _ in one }
        let said = try programs.latchkey("doctor", "--json", changing: variables)
        let report = try #require(
            try JSONSerialization.jsonObject(with: said.output) as? [String: Any], "\(said.errors)")
        let found = try #require(report["findings"] as? [[String: Any]])
        return Dictionary(found.map { ($0["what"] as? String ?? "", $0["command"] as? String) }) { one, _ in one }
    }

    @Test func theOwnerOfTheNameIsTold() throws {
        let scene = try SecretServiceScene()
        let ours = try findings(scene.programs, on: scene.session)
        #expect(
            ours.keys.contains {
                $0.contains("whoever is on your session bus")
                    && $0.contains("process \(scene.service.processIdentifier) ")
            }, "\(ours)")
        // What `latchkey` says beside a file that it writes.
        let json = try scene.programs.latchkey(
            "secret-service", "enable", "--json", changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
        let report = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
        #expect(report["owner"] as? String == "latchkey-secret")
        #expect(report["process"] as? Int32 == scene.service.processIdentifier)
        // An older one of ours, which logins do not find.
        let control = try scene.programs.latchkey(
            "secret-service", "enable", "--control", changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
        #expect(control.errors.contains("log out, or `kill \(scene.service.processIdentifier)`."))
        #expect(control.errors.contains("serves already, and listens for no logins until it is started anew"))
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gnome-keyring-daemon"),
            "gnome-keyring is not installed"))
    func anotherOwnerIsNamedAndHowItEnds() throws {
        let programs = try BuiltPrograms(runtime: true)
        let session = try PrivateSession()
        let other = programs.start(
            "/usr/bin/gnome-keyring-daemon",
            ["--foreground", "--components=secrets", "--control-directory=\(programs.home)/runtime/keyring"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
        (other.standardError, other.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try other.run()
        defer { other.killNow() }
        let process = other.processIdentifier
        let owner = "gnome-keyring-d (process \(process), /usr/bin/gnome-keyring-daemon)"
        let what = "\(owner) serves desktop programs as org.freedesktop.secrets; what they store is not here"
        // It has the name a moment after it has begun.
        #expect(
            try BuiltPrograms.eventually {
                try findings(programs, on: session)[what] == "latchkey secret-service enable"
            })
        let enabled = try programs.latchkey(
            "secret-service", "enable", changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
        #expect(enabled.errors.contains("\(owner) has the name until it ends: log out, or `kill \(process)`."))
        let after = try findings(programs, on: session)
        #expect(after[what]??.hasPrefix("kill \(process) ") == true, "\(after)")
        // Its own files are named, and that GNOME starts it at a login.
        let gnome = try findings(programs, on: session, changing: ["XDG_CURRENT_DESKTOP": "GNOME"])
        if FileManager.default.fileExists(atPath: "/etc/xdg/autostart/gnome-keyring-secrets.desktop") {
            #expect(gnome.contains { $0.key.hasPrefix("GNOME starts gnome-keyring at the login") })
            #expect(gnome.values.contains("latchkey secret-service enable --control"))
            // Without systemd nobody is at the control socket when the desktop begins.
            let control = try programs.latchkey(
                "secret-service", "enable", "--control", changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
            #expect(control.errors.contains("where the bus has started us before: dbus-send --session "))
            let told = try findings(programs, on: session, changing: ["XDG_CURRENT_DESKTOP": "GNOME"])
            let what = told.first { $0.key.hasPrefix("GNOME starts gnome-keyring at the login") }
            #expect(what?.value?.hasPrefix("dbus-send --session ") == true, "\(told)")
        }
        #expect(!after.keys.contains { $0.contains("at the login") })
    }

    /// It is known by what the kernel calls its process.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gnome-keyring-daemon"),
            "gnome-keyring is not installed"))
    func whatKeepsKWalletFromTheNameIsTold() throws {
        let programs = try BuiltPrograms(runtime: true)
        let session = try PrivateSession()
        let wallet = "\(programs.home)/kwalletd5"
        try FileManager.default.createSymbolicLink(
            atPath: wallet, withDestinationPath: "/usr/bin/gnome-keyring-daemon")
        let other = programs.start(
            wallet, ["--foreground", "--components=secrets", "--control-directory=\(programs.home)/runtime/keyring"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
        (other.standardError, other.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try other.run()
        defer { other.killNow() }
        try programs.latchkey("secret-service", "enable")
        let wanted =
            "kwriteconfig5 --file kwalletrc --group org.freedesktop.secrets --key apiEnabled false "
            + "&& kill \(other.processIdentifier) "
        #expect(
            try BuiltPrograms.eventually {
                try findings(programs, on: session).contains {
                    $0.key.hasPrefix("kwalletd5 (process ") && $0.value?.hasPrefix(wanted) == true
                }
            })
    }

    @Test func otherProvidersAreNamedWhereOursIsEnabled() throws {
        let programs = try BuiltPrograms()
        let session = try PrivateSession()
        let services = programs.home + "/share/dbus-1/services"
        try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: true)
        for (name, text) in [
            ("org.other.service", "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/other --serve\n"),
            ("org.not.service", "[D-BUS Service]\nName=org.not\nExec=/usr/bin/not\n"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: "\(services)/\(name)"))
        }
        // Nobody waits for the other end of a pipe; folders are named from the root.
        let made = unsafe mkfifo("\(services)/a.service", 0o600)
        #expect(made == 0)
        let shared = ["XDG_DATA_DIRS": programs.home + "/share"]
        let relative = ["XDG_DATA_DIRS": String(programs.home.dropFirst()) + "/share"]
        #expect(try !findings(programs, on: session, changing: shared).keys.contains { $0.contains("/usr/bin/other") })
        try programs.latchkey("secret-service", "enable")
        let found = try findings(programs, on: session, changing: shared)
        #expect(found.keys.contains { $0.contains("/usr/bin/other (\(services)/org.other.service);") }, "\(found)")
        #expect(!found.keys.contains { $0.contains("/usr/bin/not") })
        let fromRoot = try programs.shell("cd / && latchkey doctor --json", changing: relative)
        #expect(fromRoot.text.contains("\"findings\"") && !fromRoot.text.contains("/usr/bin/other"))
    }

    @Test func aFileOfOursThatStartsNobodyIsTold() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        #expect(home.run("secret-service", "enable") == .done)
        func findings() -> [MachineFinding] { SecretServiceCheck(surroundings: home.surroundings).findings() }
        func told() -> [String] { findings().map(\.what) }
        let file = home.folder.path("dbus-1/services/org.freedesktop.secrets.service")
        // systemctl is played here, and made no link.
        #expect(told().contains { $0.hasPrefix("\(file) has systemd start") && $0.hasSuffix("leads to nothing") })
        try FileManager.default.createSymbolicLink(
            atPath: home.unit("dbus-org.freedesktop.secrets.service"),
            withDestinationPath: home.unit("latchkey-secret-service.service"))
        #expect(!told().contains { $0.hasPrefix(file) })
        let other = try String(contentsOfFile: file, encoding: .utf8).replacing(BuiltPrograms.folder, with: "/old")
        try Data(other.utf8).write(to: URL(filePath: file))
        #expect(told().contains("\(file) is not what this version writes"))
        #expect(home.run("secret-service", "enable", "--control", "--replace") == .done)
        #expect(!told().contains { $0.hasSuffix("is not what this version writes") })
        // An earlier version's unit, by somebody whom logins find.
        let unit = home.unit("latchkey-secret-service.service")
        let older = try String(contentsOfFile: unit, encoding: .utf8).replacing("UMask=0077\n", with: "")
        try Data(older.utf8).write(to: URL(filePath: unit))
        let outdated = findings().first { $0.what == "\(unit) is not what this version writes" }
        #expect(outdated?.command == "latchkey secret-service enable --control --replace")
        try FileManager.default.removeItem(atPath: unit)
        #expect(told().contains { $0.hasPrefix("\(file) has systemd start") && $0.hasSuffix(", which is not there") })
    }

    /// They would have the name before anybody asks for it.
    @Test func unitsOfGnomeKeyringsThatNothingMasksAreTold() throws {
        let home = try UnitHome(systemctl: UnitHome.manager)
        home.surroundings.hostRoot = home.folder.path("host")
        let units = home.folder.path("host/usr/lib/systemd/user")
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
        func told() -> [String?] {
            SecretServiceCheck(surroundings: home.surroundings).findings()
                .filter { $0.what.contains("systemd starts gnome-keyring-daemon.service") }.map(\.command)
        }
        try Data("[Service]\n".utf8).write(to: URL(filePath: "\(units)/gnome-keyring-daemon.service"))
        #expect(home.run("secret-service", "enable", "--control") == .done)
        #expect(told() == [])
        try FileManager.default.removeItem(atPath: home.unit("gnome-keyring-daemon.service"))
        #expect(told() == ["latchkey secret-service enable --control"])
    }

    // MARK: The bus, and KeePassXC's own setting

    @Test func aBusThatDoesNotLookAtOurFileIsTold() throws {
        let programs = try BuiltPrograms()
        let services = programs.home + "/data/dbus-1/services"
        let others = programs.home + "/share"
        for folder in [services, others] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let file = "\(services)/org.freedesktop.secrets.service"
        try Data("[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/other\n".utf8)
            .write(to: URL(filePath: others + "/other.service"))
        func told(on session: PrivateSession) throws -> [String] {
            try findings(programs, on: session).keys.filter { $0.contains("does not look at \(file)") }
        }
        let deaf = try PrivateSession(environment: ["XDG_DATA_HOME": "/elsewhere"])
        // Nobody is to be started yet.
        #expect(try told(on: deaf) == [])
        try programs.latchkey("secret-service", "enable")
        #expect(
            try told(on: deaf) == [
                "the session bus knows nobody to start for org.freedesktop.secrets, and does not look at \(file): it was "
                    + "started with XDG_DATA_HOME /elsewhere"
            ])
        #expect(try told(on: try PrivateSession()).first?.hasSuffix(": it was started without XDG_DATA_HOME") == true)
        #expect(try told(on: try PrivateSession(startingFrom: services)) == [])
        let own = ["XDG_DATA_HOME": programs.home + "/data"]
        #expect(try told(on: try PrivateSession(startingFrom: services, environment: own)) == [])
        let another = try PrivateSession(startingFrom: others, environment: ["HOME": "/elsewhere"])
        #expect(
            try told(on: another) == [
                "the session bus starts another for org.freedesktop.secrets, and does not look at \(file): it was "
                    + "started without XDG_DATA_HOME"
            ])
    }

    @Test func keePassXCsOwnSettingIsTold() throws {
        let programs = try BuiltPrograms()
        let session = try PrivateSession()
        func told(changing variables: [String: String?] = [:]) throws -> [String] {
            try findings(programs, on: session, changing: variables).keys
                .filter { $0.contains("KeePassXC serves org.freedesktop.secrets") }
        }
        func write(_ text: String, to file: String) throws {
            let place = URL(filePath: programs.home + file)
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: place)
        }
        let (file, on) = ("/config/keepassxc/keepassxc.ini", "[General]\nConfigVersion=2\n\n[FdoSecrets]\nEnabled=true\n")
        try write(on, to: file)
        // Where ours is not enabled it competes with nobody.
        #expect(try told() == [])
        try programs.latchkey("secret-service", "enable")
        #expect(try told().count == 1 && told().first?.contains("(\(programs.home)\(file))") == true)
        for off in ["[FdoSecrets]\nEnabled=false\n", "[FdoSecrets]\n\n[Browser]\nEnabled=true\n", "Enabled=true\n"] {
            try write(off, to: file)
            #expect(try told() == [], "\(off)")
        }
        try write(on, to: "/other.ini")
        #expect(try told(changing: ["KPXC_CONFIG": programs.home + "/other.ini"]).count == 1)
        try write(on, to: "/.var/app/org.keepassxc.KeePassXC/config/keepassxc/keepassxc.ini")
        #expect(try told().first?.contains("/.var/app/") == true)
    }

    // MARK: Desktops

    @Test func aDesktopUnderWhichElectronAsksNobodyIsTold() throws {
        let programs = try BuiltPrograms()
        let session = try PrivateSession()
        try programs.latchkey("secret-service", "enable")
        let sway = ["WAYLAND_DISPLAY": "wayland-9", "XDG_CURRENT_DESKTOP": "sway"]
        let found = try findings(programs, on: session, changing: sway)
        let told = found.first { $0.key.contains("under this desktop (sway)") }
        #expect(told?.key.contains("a key that everybody has") == true)
        #expect(told?.value?.contains("--password-store=gnome-libsecret") == true)
        #expect(told?.value?.contains("argv.json") == true)
        // Without a display no such program runs.
        let headless = try findings(programs, on: session, changing: ["XDG_CURRENT_DESKTOP": "sway"])
        #expect(!headless.keys.contains { $0.contains("under this desktop") })
    }

    @Test(arguments: [
        (["XDG_CURRENT_DESKTOP": "GNOME"], PasswordStore.secretService),
        (["XDG_CURRENT_DESKTOP": "ubuntu:GNOME"], .secretService),
        (["XDG_CURRENT_DESKTOP": "X-Cinnamon"], .secretService), (["XDG_CURRENT_DESKTOP": "XFCE"], .secretService),
        (["XDG_CURRENT_DESKTOP": "MATE", "DESKTOP_SESSION": "mate"], .secretService),
        (["XDG_CURRENT_DESKTOP": "MATE"], .plainText(desktop: "MATE")),
        (["XDG_CURRENT_DESKTOP": "KDE", "KDE_SESSION_VERSION": "6"], .kwallet(desktop: "KDE")),
        (["DESKTOP_SESSION": "kde-plasma"], .kwallet(desktop: "kde-plasma")),
        (["XDG_CURRENT_DESKTOP": "LXQt", "DESKTOP_SESSION": "gnome"], .plainText(desktop: "LXQt")),
        (["XDG_CURRENT_DESKTOP": "Hyprland"], .plainText(desktop: "Hyprland")),
        (["XDG_CURRENT_DESKTOP": "gnome"], .plainText(desktop: "gnome")),
        ([:], .plainText(desktop: "no desktop's name")),
    ])
    func eachDesktopIsAsChromiumHasIt(_ environment: [String: String], _ store: PasswordStore) {
        #expect(PasswordStore { environment[$0] } == store)
    }

    // MARK: The policy

    @Test func aPolicyThatIsNoneOrNamesNobodyIsTold() throws {
        let programs = try BuiltPrograms()
        let session = try PrivateSession()
        let path = programs.home + "/config/latchkey/secret-service.policy"
        #expect(try !findings(programs, on: session).keys.contains { $0.contains("policy") })
        try FileManager.default.createDirectory(
            atPath: programs.home + "/config/latchkey", withIntermediateDirectories: true)
        try Data("schema a /usr/bin/secret-tool /no/such/program\ncollection work nobody\n".utf8)
            .write(to: URL(filePath: path))
        let names = try findings(programs, on: session).keys.filter { $0.contains(path) }
        #expect(names.count == 1 && names.first?.contains("names /no/such/program, which is not there") == true)
        try Data("collection work nobody\nmisspelt\n".utf8).write(to: URL(filePath: path))
        let broken = try findings(programs, on: session).keys.filter { $0.contains(path) }
        #expect(broken.count == 1 && broken.first?.contains("line 2") == true)
        #expect(broken.first?.contains("gives nobody anything") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        let open = try findings(programs, on: session).keys.filter { $0.contains(path) }
        #expect(open.first?.contains("nobody else can write") == true)
    }

    @Test func whocanSaysNothingOfTheBusOfAKeychainThatIsNotServed() throws {
        let programs = try BuiltPrograms()
        let other = programs.home + "/other"
        for place in [[], ["--data-dir", other]] {
            let stored = try programs.run(BuiltPrograms.latchkey, place + ["set", "mail", "alice"], input: Data("v".utf8))
            #expect(stored.status == 0, "\(stored.errors)")
        }
        #expect(try programs.latchkey("whocan", "mail").text.contains("the default collection of org.freedesktop.secrets"))
        let text = try programs.latchkey("--data-dir", other, "whocan", "mail").text
        #expect(text.contains("every program of this user\tthe group \"latchkey\" may be named by all of them"), "\(text)")
        #expect(!text.contains("org.freedesktop.secrets") && !text.contains("session bus"), "\(text)")
        // Its own place, said by hand, is served.
        let own = try programs.latchkey("--data-dir", programs.home + "/data/latchkey", "whocan", "mail").text
        #expect(own.contains("org.freedesktop.secrets"))
    }

    @Test func whocanSaysWhomThePolicyLeavesAnItemTo() throws {
        let scene = try SecretServiceScene()
        let programs = scene.programs
        let place = ["xdg:schema", "com.example.Kept", "service", "kept", "username", "one"]
        #expect(try scene.client("/usr/bin/secret-tool", ["store", "--label=Kept"] + place, typed: "v").status == 0)
        try programs.latchkey("set", "mail", "alice", input: Data("v".utf8))
        func rule(_ name: String...) throws -> String {
            let said = try programs.run(BuiltPrograms.latchkey, ["whocan"] + name + ["--json"])
            let report = try #require(
                try JSONSerialization.jsonObject(with: said.output) as? [String: Any], "\(said.errors)")
            return try #require((report["readers"] as? [[String: Any]])?.first?["rule"] as? String)
        }
        #expect(try !rule("kept", "one").contains("over the session bus"))
        let path = programs.home + "/config/latchkey/secret-service.policy"
        try FileManager.default.createDirectory(
            atPath: programs.home + "/config/latchkey", withIntermediateDirectories: true)
        try Data("schema com.example.Kept /usr/bin/a /usr/bin/b\n".utf8).write(to: URL(filePath: path))
        #expect(try rule("kept", "one").hasSuffix("over the session bus \(path) leaves it to /usr/bin/a, /usr/bin/b"))
        #expect(try !rule("mail", "alice").contains("over the session bus"))
        try Data("schema com.example.Kept /usr/bin/a /usr/bin/b\ncollection login /usr/bin/b\n".utf8)
            .write(to: URL(filePath: path))
        #expect(try rule("kept", "one").hasSuffix("leaves it to /usr/bin/b"))
        #expect(try rule("mail", "alice").hasSuffix("leaves it to /usr/bin/b"))
        try Data("collection login nobody\n".utf8).write(to: URL(filePath: path))
        #expect(try rule("mail", "alice").hasSuffix("leaves it to nobody"))
        try Data("nothing\n".utf8).write(to: URL(filePath: path))
        #expect(try rule("mail", "alice").contains("over the session bus nobody is given anything: \(path), line 1"))
        // It is about the keychain that is on the bus.
        #expect(try rule("mail", "alice", "--data-dir", programs.home + "/data/latchkey").contains("given anything"))
        let other = programs.home + "/other"
        try programs.latchkey("set", "mail", "alice", "--data-dir", other, input: Data("v".utf8))
        #expect(try !rule("mail", "alice", "--data-dir", other).contains("over the session bus"))
    }

    /// Of a collection's item; a terminal is who is told.
    @Test func infoSaysWhoSeesItOnABus() throws {
        for (group, isTold) in [("latchkey", true), ("secret-service.work", true), ("exe./usr/bin/a", false)] {
            var attributes = AttributeMap()
            attributes[.accessGroup] = .string(group)
            let collection = StoredItem(.generic, attributes).collection
            #expect((collection != nil) == isTold)
            #expect(collection == nil || collection == (group == "latchkey" ? "login" : "work"))
        }
        let console = RecordingConsole(terminal: true)
        let keychain = FakeKeychain()
        let surroundings = CommandRun.surroundings(on: keychain, console: console)
        #expect(LatchkeyProgram.run(["set", "mail", "alice", "--generate"], in: surroundings) == .done)
        #expect(LatchkeyProgram.run(["info", "mail", "alice"], in: surroundings) == .done)
        #expect(console.notes.contains { $0.hasPrefix("Whoever is on your session bus sees it") })
    }
}
