import Foundation
import KeychainPlatform
import KeychainTestSupport

/// strace(1) on a process that runs: it kills at a system call, or writes down
/// what is called.
final class Tracer {
    static let path = "/usr/bin/strace"

    /// Why nothing can be traced here, or nil.
    static let obstacle: String? = {
        guard Command.exists(path) else { return "strace is not installed" }
        guard geteuid() == 0 else { return "only root may trace processes that forbid it (PR_SET_DUMPABLE)" }
        let trial = try? Command(path, ["-o", "/dev/null", "/bin/true"]).run()
        return trial?.status == 0 ? nil : "ptrace is not permitted here: \(trial?.text ?? "")"
    }()

    private let process = TestProcess()
    private let place: String

    /// Returns once all threads of the process are traced, or the first one.
    init(of traced: Int32, _ options: [String], firstThreadAlone: Bool = false, in folder: String) throws {
        place = "\(folder)/trace-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: "\(place).err", contents: nil)
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = (firstThreadAlone ? [] : ["-f"]) + ["-o", place, "-p", "\(traced)"] + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(place).err"))
        try process.run()
        _ = try eventually { try notes().contains("attached") || !process.isRunning }
        letGo(of: traced)
    }

    /// strace 6.1 may wait for ever for the threads of a process that it killed,
    /// which keeps that half alive; its own end lets them go.
    private func letGo(of traced: Int32) {
        let tracer = process.processIdentifier
        TestThread.start {
            while kill(tracer, 0) == 0 {
                let state = try? String(contentsOfFile: "/proc/\(traced)/stat", encoding: .utf8)
                if state?.contains(") Z ") ?? true {
                    // What strace has to write is written by then, or never will be.
                    _ = eventually(within: 0) { kill(tracer, 0) != 0 }
                    kill(tracer, SIGKILL)
                    return
                }
                var nothing = pollfd()
                _ = unsafe poll(&nothing, 0, 5)
            }
        }
    }

    private func notes() throws -> String { try String(contentsOfFile: "\(place).err", encoding: .utf8) }

    /// Lets the process go on without us, where it is still there.
    func detach() {
        if process.isRunning { process.terminate() }
        if !eventually(within: 1, { !process.isRunning }) { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// What was called, one line a call.
    func lines() throws -> [String] {
        try String(contentsOfFile: place, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

/// One system call: strace counts each kind of call by itself.
struct TracedCall: Hashable, CustomStringConvertible {
    let name: String
    let number: Int
    var description: String { "\(name) \(number)" }

    /// What a thread called, in order; but for random bytes, which change nothing but
    /// memory.
    static func all(of thread: String, in lines: [String]) -> [TracedCall] {
        var numbers: [String: Int] = [:]
        return lines.compactMap { line in
            guard line.hasPrefix(thread + " "), let end = line.firstIndex(of: "("), !line.contains("resumed>") else {
                return nil
            }
            let name = String(line[..<end].dropFirst(thread.count)).trimmingCharacters(in: .whitespaces)
            numbers[name, default: 0] += 1
            return name == "getrandom" ? nil : TracedCall(name: name, number: numbers[name, default: 0])
        }
    }
}
