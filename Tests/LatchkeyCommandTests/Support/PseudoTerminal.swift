import Foundation
import KeychainPlatform
import KeychainTestSupport

/// A pseudo-terminal: one side for the program, the other for the test.
final class PseudoTerminal {
    let side: FileHandle
    private var master: Int32
    private(set) var shown = ""

    /// - Parameters: 0 where it does not say.
    init(columns: UInt16 = 0, rows: UInt16 = 0) throws {
        // Closed in programs that other tests start meanwhile, which openpty(3) cannot say:
        // ioctl_tty(2), TIOCSPTLCK and TIOCGPTPEER.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var unlocked: Int32 = 0
        guard master >= 0, unsafe ioctl(master, 0x4004_5431, &unlocked) == 0 else {
            throw CocoaError(.fileNoSuchFile)
        }
        let end = ioctl(master, 0x5441, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard end >= 0, unsafe ioctl(end, UInt(TIOCSWINSZ), &size) == 0 else { throw CocoaError(.fileNoSuchFile) }
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        side = FileHandle(fileDescriptor: end, closeOnDealloc: true)
    }

    deinit { hangUp() }

    /// As where the line, the window or the connection goes.
    func hangUp() {
        if master >= 0 { close(master) }
        master = -1
    }

    /// Runs `latchkey` as the leader of this terminal's session, as `ssh -t` does.
    func lead(_ programs: BuiltPrograms, _ arguments: String...) throws -> TestProcess {
        let process = programs.start("/usr/bin/setsid", ["-c", "-w", BuiltPrograms.latchkey] + arguments)
        (process.standardInput, process.standardOutput, process.standardError) = (side, side, side)
        try process.run()
        return process
    }

    /// Runs `latchkey` with this as its controlling terminal.
    func start(_ programs: BuiltPrograms, _ arguments: String...) throws -> TestProcess {
        try start(programs, arguments: arguments)
    }

    func start(
        _ programs: BuiltPrograms, program: String = BuiltPrograms.latchkey, arguments: [String],
        changing: [String: String?] = [:]
    ) throws -> TestProcess {
        // setsid -w says nothing of a signal that ended its command; a shell does.
        let shell = ["/bin/sh", "-c", "trap : INT; \"$@\"; exit $?", "sh"]
        let process = programs.start(
            "/usr/bin/setsid", ["-c", "-w"] + shell + [program] + arguments, changing: changing)
        process.standardInput = side
        process.standardOutput = side
        process.standardError = side
        try process.run()
        return process
    }

    func type(_ text: String) { type(Array(text.utf8)) }

    func type(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
    }

    var echoes: Bool {
        var settings = termios()
        return unsafe tcgetattr(side.fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Everything about the terminal that a program can change.
    var settings: [UInt32] {
        var settings = termios()
        guard unsafe tcgetattr(side.fileDescriptor, &settings) == 0 else { return [] }
        let controls = unsafe withUnsafeBytes(of: settings.c_cc) { bytes in unsafe bytes.map(UInt32.init) }
        return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag] + controls
    }

    /// Whether the text comes within a few seconds.
    ///
    /// - Parameter times: that often in all.
    func shows(_ text: String, times: Int = 1) -> Bool {
        let wanted = text.replacing("\r\n", with: " ")
        return BuiltPrograms.eventually {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(master, &bytes, bytes.count)
            if count > 0 { shown += String(decoding: bytes[..<count], as: UTF8.self) }
            return shown.replacing("\r\n", with: " ").ranges(of: wanted).count >= times
        }
    }
}
