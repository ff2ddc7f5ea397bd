import Foundation
import KeychainClient
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import LatchkeyCommand

/// A home with a systemctl of its own, which writes down what it is told and ends
/// as the test wants.
final class UnitHome {
    let folder: TemporaryDirectory
    var surroundings: Surroundings
    let console: RecordingConsole

    /// - Parameters:
    ///   - answers: the shell commands that systemctl ends with; nil: there is none.
    init(
        systemctl answers: String? = "[ $3 != is-active ]", console: RecordingConsole = RecordingConsole(),
        target: ClientConfiguration.Target? = nil
    ) throws {
        folder = try TemporaryDirectory("units")
        self.console = console
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        surroundings = CommandRun.surroundings(on: FakeKeychain(), console: console)
        surroundings.configuration = ClientConfiguration(
            target: target ?? .store(locations, autostart: true), programDirectories: [BuiltPrograms.folder])
        surroundings.userManager = UserManager(units: .named(folder.path("config/systemd/user")))
        surroundings.userManager.programs = [folder.path("systemctl")]
        guard let answers else { return }
        let script = "printf '%s\\n' \"$*\" >> \(folder.path("calls"))\n\(answers)"
        try Script.write(script, to: folder.path("systemctl"))
    }

    /// For `init`: a manager that knows what runs, and refuses what systemd refuses (tried on
    /// one that is real: scripts/stages/47-systemd-session).
    static let manager = """
        active=${0%/*}/active units=${0%/*}/config/systemd/user
        [ -e "$active" ] || echo dbus.socket > "$active"
        for name; do :; done
        case $3 in
        is-active) grep -qxF "$name" "$active" ;;
        is-enabled) [ "$name" = gnome-keyring-daemon.socket ] && ! [ -L "$units/$name" ] ;;
        start)
            [ -e "$units/$name" ] || [ "$name" = gnome-keyring-daemon.socket ] || exit 5
            grep -qxF "${name%.socket}.service" "$active" && exit 1
            echo "$name" >> "$active" ;;
        enable) [ -e "$units/$name" ] ;;
        disable) if [ "$4" = --now ]; then sed -i "/^$name\\$/d" "$active"; fi ;;
        daemon-reload) ;;
        *) exit 1 ;;
        esac
        """

    /// Has the manager know that these run.
    func setActive(_ names: String...) throws {
        try Data((["dbus.socket"] + names).map { "\($0)\n" }.joined().utf8)
            .write(to: URL(fileURLWithPath: folder.path("active")))
    }

    func run(_ arguments: String...) -> LatchkeyCommand.ExitStatus { run(arguments) }

    func run(_ arguments: [String]) -> LatchkeyCommand.ExitStatus {
        LatchkeyProgram.run(arguments, in: surroundings)
    }

    func unit(_ name: String) -> String { folder.path("config/systemd/user/\(name)") }

    func text(_ name: String) -> String? { try? String(contentsOfFile: unit(name), encoding: .utf8) }

    /// What systemctl was told since the last look.
    func calls() -> [String] {
        defer { try? FileManager.default.removeItem(atPath: folder.path("calls")) }
        let text = (try? String(contentsOfFile: folder.path("calls"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map {
            String($0).replacing("--user --no-ask-password ", with: "")
        }
    }

    var notes: String { console.notes.joined(separator: "\n") }

    // MARK: What systemd makes of units

    private static let analyze = "/usr/bin/systemd-analyze"
    static var hasAnalyze: Bool { FileManager.default.isExecutableFile(atPath: analyze) }

    func expectSystemdTakes(_ names: String...) throws {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: Self.analyze)
        process.arguments = ["--user", "--man=no", "verify"] + names.map(unit)
        process.environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "LANG": "C.UTF-8",
        ]
        let said = folder.path("said")
        _ = FileManager.default.createFile(atPath: said, contents: nil)
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: said))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try String(contentsOfFile: said, encoding: .utf8) == "")
    }
}
