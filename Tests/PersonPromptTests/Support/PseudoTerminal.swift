import Foundation
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt

/// A pseudo-terminal: one side for programs, the other for the test.
final class PseudoTerminal: Sendable {
    /// Its name, as programs open it.
    let path: String
    let side: Descriptor
    private let master: Descriptor

    init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        var ends: (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe openpty(&ends.0, &ends.1, nil, nil, &size) == 0 else { throw CocoaError(.fileNoSuchFile) }
        _ = fcntl(ends.0, F_SETFL, O_NONBLOCK)
        for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        master = Descriptor(owning: ends.0)
        side = Descriptor(owning: ends.1)
        // ttyname(3) would say which one another test has just made.
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe ttyname_r(ends.1, &name, name.count) == 0 else { throw CocoaError(.fileNoSuchFile) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Its number, as `/proc/PID/stat` has it.
    var number: UInt64 {
        var status = stat()
        return unsafe fstat(side.raw, &status) == 0 ? UInt64(status.st_rdev) : 0
    }

    func type(_ text: String) {
        _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(master.raw, $0.baseAddress, $0.count) }
    }

    var echoes: Bool {
        var settings = termios()
        return unsafe tcgetattr(side.raw, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// What has come since the last look.
    func shown() -> String {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(master.raw, &bytes, bytes.count)
            if count <= 0 { return String(decoding: text, as: UTF8.self) }
            text += bytes[..<count]
        }
    }

    /// What a program would read next, as the shell does.
    func waitsForInput() -> String? {
        var state = pollfd(fd: side.raw, events: Int16(POLLIN), revents: 0)
        guard Waiting.eventually({ unsafe poll(&state, 1, 0) == 1 }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(side.raw, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    /// Waits until a text is there; everything that came until then.
    func waits(for text: String) -> String? {
        var all = ""
        return Waiting.eventually {
            all += shown()
            return all.contains(text)
        } ? all : nil
    }
}

/// A process in a session of its own that has a terminal, as a program that asks
/// for a secret has; it ends with its owner.
final class Caller: Sendable {
    let processID: Int32

    /// - Parameter script: what the shell does that leads the session; it says the
    ///   number of the process that is to be the caller on descriptor 3.
    init(
        on terminal: PseudoTerminal?, script: String = "echo $$ >&3; exec sleep 1000",
        _ environment: [String: String] = [:]
    ) throws {
        let out = try PipeEnds()
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments =
            (terminal == nil ? [] : ["-c"]) + ["/bin/sh", "-c", "exec 3>&2 2>/dev/null; \(script)"]
        process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        let side = terminal.map { FileHandle(fileDescriptor: $0.side.raw, closeOnDealloc: false) } ?? .nullDevice
        process.standardInput = side
        process.standardOutput = side
        process.standardError = FileHandle(fileDescriptor: out.writing.raw, closeOnDealloc: false)
        try process.run()
        var text = ""
        let got = Waiting.eventually {
            text += Self.available(out.reading)
            return text.contains("\n")
        }
        guard got, let number = Int32(text.split(separator: "\n")[0]) else { throw CocoaError(.fileReadUnknown) }
        processID = number
        let record = FileManager.default.contents(atPath: "/proc/\(number)/stat").flatMap { ProcessRecord(Array($0)) }
        session = record?.session ?? number
    }

    private let session: Int32

    /// Ends the whole session.
    func end() {
        for process in Session.processes(of: session) { kill(process, SIGKILL) }
    }

    deinit { end() }

    private static func available(_ pipe: Descriptor) -> String {
        var state = pollfd(fd: pipe.raw, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&state, 1, 0) == 1 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(pipe.raw, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }
}
