import Foundation
import KeychainPlatform
import KeychainTestSupport
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

    private func start(_ arguments: String...) throws -> TestProcess {
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

    @Test(arguments: ["\n", "\r"])
    func aPasteIsKeptWhole(_ newline: String) throws {
        let process = try start("note", "codes")
        #expect(terminal.shows("> "))
        terminal.type(["CANARY-1", "CANARY-2", "", "CANARY-4", "CANARY-"].joined(separator: newline))
        // The fourth line's prompt: all that came before was read.
        #expect(terminal.shows("> ", times: 5))
        terminal.type("5" + newline + "\u{4}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && terminal.shows("Stored."))
        #expect(try programs.latchkey("get", "codes").text == "CANARY-1\nCANARY-2\n\nCANARY-4\nCANARY-5")
        #expect(terminal.echoes && !terminal.shown.contains("CANARY"))
    }

    @Test func interruptingANoteRestoresTheTerminal() throws {
        let process = try start("note", "codes")
        #expect(terminal.shows("> "))
        terminal.type("CANARY-1\nCANARY-2\n")
        #expect(terminal.shows("> ", times: 3))
        terminal.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(terminal.echoes && !terminal.shown.contains("CANARY"))
        #expect(try programs.latchkey("get", "codes").status == 1)
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

    /// The kernel tells the leader of the session alone.
    @Test func theEndOfTheTerminalReachesTheCommandOfATempThatLeads() throws {
        let mark = programs.home + "/ended"
        let process = try terminal.lead(
            programs, "temp", "--", "sh", "-c",
            "trap 'echo x > \(mark); exit 9' HUP; echo ready; while :; do sleep 0.1; done")
        #expect(terminal.shows("ready\r\n"))
        terminal.hangUp()
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: mark) })
        process.waitUntilExit()
        #expect(
            BuiltPrograms.eventually { programs.temporaryFolders.isEmpty && programs.processes("latchkeyd").isEmpty })
    }

    @Test func passphraseOfAnExportIsTypedTwiceUnseen() throws {
        try programs.latchkey("set", "a", input: Data("CANARY".utf8))
        let file = programs.home + "/out.lkx"
        let process = try start("export", file)
        #expect(terminal.shows("Passphrase for the export: "))
        #expect(!terminal.echoes)
        terminal.type("words words\n")
        #expect(terminal.shows("Once more: "))
        terminal.type("words words\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("Exported 1 items."))
        #expect(terminal.echoes && !terminal.shown.contains("words") && !terminal.shown.contains("CANARY"))
        let other = try start("import", "--dry-run", file)
        #expect(terminal.shows("Passphrase of the export: "))
        terminal.type("words words\n")
        other.waitUntilExit()
        #expect(other.terminationStatus == 0)
        #expect(terminal.shows("left 1 unchanged"))
    }

    @Test func interruptingAnExportLeavesNothingBehind() throws {
        try programs.latchkey("set", "a", input: Data("CANARY".utf8))
        let process = try start("export", programs.home + "/out.lkx")
        #expect(terminal.shows("Passphrase for the export: "))
        terminal.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(terminal.echoes)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: programs.home).contains { $0.contains("out.lkx") })
    }

    @Test func exportInTheClearAsksAndNeverWritesToATerminal() throws {
        try programs.latchkey("set", "a", input: Data("CANARY".utf8))
        let refused = try start("export", "--insecure-plaintext", "--yes", "-")
        refused.waitUntilExit()
        #expect(refused.terminationStatus == 2 && terminal.shows("not written to a terminal"))
        let device = try start("export", "--insecure-plaintext", "--yes", "--replace", "/dev/tty")
        device.waitUntilExit()
        #expect(device.terminationStatus == 2 && terminal.shows("the target is no file"))
        let asked = try start("export", "--insecure-plaintext", programs.home + "/out.json")
        #expect(terminal.shows("Type yes: "))
        terminal.type("yes\n")
        asked.waitUntilExit()
        #expect(asked.terminationStatus == 0 && terminal.shows("IN THE CLEAR."))
        #expect(!terminal.shown.contains("CANARY"))
    }

    @Test func importDrawsItsProgressAndNoSecret() throws {
        let file = programs.home + "/in.csv"
        let rows = (0..<300).map { "T,h\($0).example,u,CANARY,CANARY\n" }.joined()
        try Data("name,url,username,password,note\n\(rows)".utf8).write(to: URL(fileURLWithPath: file))
        let process = try start("import", file)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("Storing ["))
        #expect(terminal.shows("600 of 600"))
        #expect(terminal.shows("password (300): the value"))
        #expect(!terminal.shown.contains("CANARY"))
    }

    @Test func getEndsItsLineOnATerminal() throws {
        try programs.latchkey("set", "a", input: Data("pw".utf8))
        let process = try start("get", "a")
        process.waitUntilExit()
        #expect(terminal.shows("pw\r\n"))
    }
}
