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
        // setsid -w says nothing of a signal that ended its command; a shell does.
        let shell = ["/bin/sh", "-c", "trap : INT; \"$@\"; exit $?", "sh"]
        let process = programs.start("/usr/bin/setsid", ["-c", "-w"] + shell + [BuiltPrograms.latchkey] + arguments)
        process.standardInput = terminal.side
        process.standardOutput = terminal.side
        process.standardError = terminal.side
        try process.runUnmasked()
        return process
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

/// A pseudo-terminal: one side for the program, the other for the test.
final class PseudoTerminal {
    let side: FileHandle
    private let master: Int32
    private(set) var shown = ""

    init() throws {
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe openpty(&ends.0, &ends.1, nil, nil, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
        master = ends.0
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        _ = fcntl(master, F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends.1, F_SETFD, FD_CLOEXEC)
        side = FileHandle(fileDescriptor: ends.1, closeOnDealloc: true)
    }

    deinit { close(master) }

    func type(_ text: String) {
        _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
    }

    var echoes: Bool {
        var settings = termios()
        return unsafe tcgetattr(side.fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Whether the text comes within a few seconds.
    func shows(_ text: String) -> Bool {
        BuiltPrograms.eventually {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(master, &bytes, bytes.count)
            if count > 0 { shown += String(decoding: bytes[..<count], as: UTF8.self) }
            return shown.replacing("\r\n", with: " ").contains(text.replacing("\r\n", with: " "))
        }
    }
}
