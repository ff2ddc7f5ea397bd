import Foundation
import KeychainPlatform
import Testing

/// The programs on a terminal: a pseudo-terminal of the test, made the
/// controlling one of a session of its own.
@Suite struct TerminalEndToEndTests {
    let programs: BuiltPrograms
    let terminal: PseudoTerminal

    init() throws {
        programs = try BuiltPrograms()
        terminal = try PseudoTerminal()
    }

    private func start(_ arguments: String...) throws -> Process {
        try terminal.start(programs, arguments: arguments)
    }

    @Test func theSecretIsTypedUnseen() throws {
        let process = try start("set", "mail", "alice")
        #expect(terminal.shows("Secret for mail/alice: "))
        #expect(!terminal.echoes)
        terminal.type("hunter2\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("can open it"))
        #expect(!terminal.shown.contains("hunter2"))
        #expect(terminal.echoes)
        #expect(try programs.latchkey("get", "mail").text == "hunter2")
    }

    @Test func interruptingThePromptRestoresTheTerminal() throws {
        let process = try start("set", "mail")
        #expect(terminal.shows("Secret for mail: "))
        terminal.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(terminal.echoes)
        #expect(try programs.latchkey("get", "mail").status == 1)
    }

    @Test func interruptFromTheTerminalReachesTheCommandOfTempOnce() throws {
        let count = programs.home + "/count"
        let process = try start(
            "temp", "--", "sh", "-c", "trap 'echo x >> \(count); exit 9' INT; echo ready; while :; do sleep 0.1; done")
        #expect(terminal.shows("ready\r\n"))
        terminal.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 9)
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "x\n")
        #expect(programs.temporaryFolders.isEmpty)
    }

    @Test func getEndsItsLineOnATerminal() throws {
        try programs.latchkey("set", "a", input: Data("pw".utf8))
        let process = try start("get", "a")
        process.waitUntilExit()
        #expect(terminal.shows("pw\r\n"))
    }
}
