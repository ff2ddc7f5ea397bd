internal import Glibc
internal import KeychainPlatform

/// What a confined process gets done by its ``Starter``.
///
/// Each question ends the process with 0 where the answer is as it should be, else with
/// the number of what was not.
struct StarterProbe {
    private let folder: String
    private let starter: Starter
    private static let shell = "/bin/sh"

    init(in folder: String) throws {
        self.folder = folder
        starter = try Starter(for: [
            Starter.Program(Self.shell, as: .child, environment: ["PROBE=given"]),
            Starter.Program("/nowhere/program", as: .child, environment: []),
        ])
        _ = Confinement.ofDaemon.enter(.all)
    }

    func answer(to what: String) throws -> Int32 {
        switch what {
        case "listed": try listed()
        case "unlisted": unlisted()
        case "absent": absent()
        case "ended": try ended("exec tail -f /dev/null", grace: .seconds(40))
        case "killed": try ended("trap '' TERM; exec tail -f /dev/null", grace: .milliseconds(300))
        case "gone": try gone()
        default: 99
        }
    }

    private func deadline(_ allowed: Duration = .seconds(20)) -> Deadline {
        Deadline(after: allowed, on: SystemClock())
    }

    private func run(_ script: String) throws -> ChildProcess {
        try starter.startChild(Self.shell, arguments: ["-c", script, "sh", folder])
    }

    /// What a file of the folder says.
    private func said() throws -> String {
        String(decoding: try PrivateFile.readAll("\(folder)/said", atMost: 4096), as: UTF8.self)
    }

    private func listed() throws -> Int32 {
        // The owner's variables and descriptors are not there.
        let environment = "$(cat /proc/$$/environ | tr '\\0' ' ')"
        let script = "echo \"$PROBE|$1|\(environment)|$(ls /proc/$$/fd | tr '\\n' ' ')\" > $1/said"
        try run(script).status(until: deadline())
        let words = try said().split(separator: "|").map(String.init)
        guard words.count == 4 else { return 1 }
        guard words[0] == "given", words[1] == folder else { return 2 }
        guard words[2].hasPrefix("PROBE=given"), !words[2].contains("HOME") else { return 3 }
        // A shell keeps a copy of its output at 10, and has a pipe to what it reads from.
        let descriptors = words[3].split { $0.isWhitespace }.map { Int($0) ?? 99 }
        return descriptors.count >= 3 && descriptors.allSatisfy { $0 <= 4 || $0 == 10 } ? 0 : 4
    }

    private func unlisted() -> Int32 {
        do throws(SystemCallError) {
            _ = try starter.startChild("/bin/true", arguments: [])
            return 1
        } catch {
            return error.errno == EINVAL ? 0 : 2
        }
    }

    private func absent() -> Int32 {
        do throws(SystemCallError) {
            _ = try starter.startChild("/nowhere/program", arguments: [])
            return 1
        } catch {
            return error.errno == ENOENT ? 0 : 2
        }
    }

    private func ended(_ script: String, grace: Duration) throws -> Int32 {
        // In its place at once, so that it is there whole.
        let child = try run("trap '' TERM; echo there > $1/new; mv $1/new $1/said; trap - TERM; \(script)")
        let start = deadline()
        while !FolderContent.names(at: folder).contains("said") {
            if start.hasPassed { return 1 }
            sched_yield()
        }
        let called = try EventSignal()
        called.signal()
        try child.status(until: deadline(.seconds(50)), orCalledOffBy: called.descriptor, grace: grace)
        // The starter reaps it: the number is nobody's.
        let end = deadline()
        while !ProcessHandle.isGone(child.processID) {
            if end.hasPassed { return 2 }
            sched_yield()
        }
        return 0
    }

    private func starterProcess() throws -> Int32? {
        try run("echo $PPID > $1/said").status(until: deadline())
        return Int32(try said().dropLast())
    }

    /// Nobody has our end of its socket any more.
    static func orphaned(in folder: String) throws -> Int32 {
        var probe: StarterProbe? = try StarterProbe(in: folder)
        guard let process = try probe?.starterProcess() else { return 1 }
        probe = nil
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        return try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready ? 0 : 2
    }

    private func gone() throws -> Int32 {
        guard let process = try starterProcess(), let end = starter.end else { return 1 }
        guard try wait(for: end.raw, to: .receive, until: deadline(.zero)) == .timedOut else { return 2 }
        try ProcessHandle.askToEnd(process)
        guard try wait(for: end.raw, to: .receive, until: deadline()) == .ready else { return 3 }
        do throws(SystemCallError) {
            _ = try starter.startChild(Self.shell, arguments: [])
            return 4
        } catch {
            return error.isBrokenConnection ? 0 : 5
        }
    }
}
