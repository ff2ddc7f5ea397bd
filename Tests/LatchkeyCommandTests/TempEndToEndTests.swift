import Foundation
import KeychainPlatform
import Testing

/// `latchkey temp` over the real programs.
@Suite struct TempEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func nothingIsLeft() -> Bool {
        BuiltPrograms.eventually {
            programs.temporaryFolders.isEmpty && programs.processes("latchkeyd").isEmpty
                && programs.processes("latchkey-enclave").isEmpty
        }
    }

    @Test func theCommandHasAKeychainOfItsOwn() throws {
        let outcome = try programs.latchkey(
            "temp", "--", "sh", "-c", "printf pw | latchkey set a && latchkey get a && echo $LATCHKEY_TEMP")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.hasPrefix("pw\(programs.home)/tmp/latchkey-temp-"))
        #expect(nothingIsLeft())
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    @Test(arguments: [("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137), ("true", 0)] as [(String, Int32)])
    func passesTheOutcomeOn(script: String, status: Int32) throws {
        #expect(try programs.latchkey("temp", "--", "sh", "-c", script).status == status)
        #expect(nothingIsLeft())
    }

    @Test func aCommandThatCannotStartIsSaid() throws {
        let missing = try programs.latchkey("temp", "--", "no-such-command-at-all")
        #expect(missing.status == 127)
        #expect(missing.errors.contains("cannot be started"))
        #expect(try programs.latchkey("temp", "--", "/tmp").status == 126)
        #expect(nothingIsLeft())
    }

    @Test func standardStreamsAndArgumentsReachTheCommand() throws {
        let outcome = try programs.latchkey(
            "temp", "--", "sh", "-c", "cat; echo \"$@\" >&2", "x", "--data-dir", "-h", "--", input: Data("in".utf8))
        #expect(outcome.text == "in")
        #expect(outcome.errors == "--data-dir -h --\n")
    }

    @Test func entitlementsReplaceTheGroups() throws {
        let file = programs.home + "/a.plist"
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>keychain-access-groups</key>
            <array><string>TEAM.one</string><string>TEAM.two</string></array></dict></plist>
            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        let outcome = try programs.latchkey(
            "temp", "--entitlements", file, "--", "sh", "-c", "echo pw | latchkey set a; latchkey get a --json")
        #expect(outcome.text.contains(#""group":"TEAM.one""#), "\(outcome.errors)")
    }

    @Test func unusableEntitlementsAreUsageMistakes() throws {
        let missing = try programs.latchkey("temp", "--entitlements", "nowhere.plist", "--", "true")
        #expect(missing.status == 2 && missing.errors.contains("cannot be read"))
        let file = programs.home + "/bad.plist"
        try Data("no list".utf8).write(to: URL(fileURLWithPath: file))
        let bad = try programs.latchkey("temp", "--entitlements", file, "--", "true")
        #expect(bad.status == 2 && bad.errors.contains("entitlements"), "\(bad.status) \(bad.errors)")
        #expect(nothingIsLeft())
    }

    // MARK: Signals and death

    /// Starts `temp` with a command that says it runs and then waits.
    private func waiting(_ script: String) throws -> (Process, running: () -> Bool) {
        let mark = programs.home + "/running"
        let process = programs.start(
            BuiltPrograms.latchkey, ["temp", "--", "sh", "-c", "\(script); touch \(mark); while :; do sleep 0.1; done"])
        try process.runUnmasked()
        return (process, { BuiltPrograms.eventually { FileManager.default.fileExists(atPath: mark) } })
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 131)] as [(Int32, Int32)])
    func signalsReachTheCommand(signal: Int32, status: Int32) throws {
        let (process, running) = try waiting("trap 'exit \(status)' TERM HUP INT QUIT")
        #expect(running())
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == status)
        #expect(process.terminationReason == .exit)
        #expect(nothingIsLeft())
    }

    @Test func nothingIsLeftWhereItIsKilled() throws {
        let (process, running) = try waiting("echo pw | latchkey set a")
        #expect(running())
        #expect(programs.processes("latchkeyd").count == 1)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(nothingIsLeft())
    }

    @Test func theNextOneSweepsWhatAnOlderOneLeft() throws {
        let stale = programs.home + "/tmp/latchkey-temp-abcdef"
        try FileManager.default.createDirectory(
            atPath: stale + "/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("x".utf8).write(to: URL(fileURLWithPath: stale + "/keychain.db"))
        let held = try TemporaryFolder.make(in: programs.home + "/tmp", prefix: "latchkey-temp")
        #expect(try programs.latchkey("temp", "--", "true").status == 0)
        #expect(programs.temporaryFolders.map { "\(programs.home)/tmp/\($0)" } == [held.path])
        try held.remove()
    }
}
