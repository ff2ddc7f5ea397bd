internal import Glibc
internal import KeychainPlatform

/// What a confined process gets done by its ``ProgramSpawner``.
///
/// Each question ends the process with 0 where the answer is as it should be, else with
/// the number of what was not.
struct SpawnerProbe {
    private let folder: String
    private let spawner: ProgramSpawner
    private static let shell = "/bin/sh"

    private static let probe = "\(ProcessEnvironment.executableDirectory ?? ".")/confinement-probe"

    init(in folder: String, within confinement: Confinement = .ofDaemon) throws {
        self.folder = folder
        spawner = try ProgramSpawner(
            for: [
                ProgramSpawner.Program(Self.shell, as: .child, environment: ["PROBE=given"]),
                ProgramSpawner.Program("/nowhere/program", as: .child, environment: []),
                ProgramSpawner.Program("/nowhere/program", as: .peer, environment: []),
                ProgramSpawner.Program(Self.probe, as: .peer, environment: ["PROBE=given"]),
            ], patience: .milliseconds(300))
        _ = confinement.enter(.all)
    }

    func answer(to what: String) throws -> Int32 {
        switch what {
        case "listed": try listed()
        case "unlisted": unlisted()
        case "absent": absent()
        case "ended": try ended("exec tail -f /dev/null", grace: .seconds(40))
        case "killed": try ended("trap '' TERM; exec tail -f /dev/null", grace: .milliseconds(300))
        case "gone": try gone()
        case "replaced": try replaced()
        case "late": try late()
        case "refused": try refused()
        case "peer": try peer()
        case "peer ends": try peerEnds()
        default: 99
        }
    }

    private func deadline(_ allowed: Duration = .seconds(20)) -> Deadline {
        Deadline(after: allowed, on: SystemClock())
    }

    private func run(_ script: String) throws -> ChildProcess {
        try spawner.startChild(Self.shell, arguments: ["-c", script, "sh", folder])
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
            _ = try spawner.startChild("/bin/true", arguments: [])
            return 1
        } catch {
            return error.errno == EINVAL ? 0 : 2
        }
    }

    private func absent() -> Int32 {
        do throws(SystemCallError) {
            _ = try spawner.startChild("/nowhere/program", arguments: [])
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
        // The spawner reaps it: the number is nobody's.
        let end = deadline()
        while !ProcessHandle.isGone(child.processID) {
            if end.hasPassed { return 2 }
            sched_yield()
        }
        return 0
    }

    private func spawnerProcess() throws -> Int32? {
        try run("echo $PPID > $1/said").status(until: deadline())
        return Int32(try said().dropLast())
    }

    /// Nobody has our end of its socket any more.
    static func orphaned(in folder: String) throws -> Int32 {
        var probe: SpawnerProbe? = try SpawnerProbe(in: folder)
        guard let process = try probe?.spawnerProcess() else { return 1 }
        probe = nil
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        return try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready ? 0 : 2
    }

    // MARK: Peers

    /// What the peer says of itself: its number, and its variables and open descriptors.
    private func exchange(with socket: PacketSocket) throws -> (process: Int32, words: String)? {
        try socket.send([1])
        var bytes = [UInt8](repeating: 0, count: 1024)
        guard let envelope = try unsafe bytes.withUnsafeMutableBytes({ unsafe try socket.receive(into: $0) }) else {
            return nil
        }
        let text = String(decoding: bytes.prefix(envelope.byteCount), as: UTF8.self).split(
            separator: "|", omittingEmptySubsequences: false)
        return text.count == 2 ? Int32(text[0]).map { ($0, String(text[1])) } : nil
    }

    /// An enclave makes no socket, and any that it would make ends it.
    static func peerOfEnclave(in folder: String) throws -> Int32 {
        try SpawnerProbe(in: folder, within: .ofEnclave([])).peer()
    }

    private func peer() throws -> Int32 {
        let (one, other) = (try spawner.startPeer(Self.probe), try spawner.startPeer(Self.probe))
        guard let first = try exchange(with: one), let second = try exchange(with: other) else { return 1 }
        guard first.process != second.process else { return 2 }
        guard first.words == "PROBE=given 0 1 2 3", second.words == first.words else { return 3 }
        do throws(SystemCallError) {
            _ = try spawner.startPeer("/nowhere/program")
            return 4
        } catch {
            return error.errno == ENOENT ? 0 : 5
        }
    }

    private func peerEnds() throws -> Int32 {
        var socket: PacketSocket? = try spawner.startPeer(Self.probe)
        guard let process = try socket.flatMap({ try exchange(with: $0) })?.process else { return 1 }
        guard !ProcessHandle.isGone(process) else { return 2 }
        socket = nil
        let end = deadline()
        while !ProcessHandle.isGone(process) {
            if end.hasPassed { return 3 }
            sched_yield()
        }
        return 0
    }

    // MARK: The spawner itself

    /// The spare of a spawner, once it has another than `former`; nil: it has none.
    private func spare(of process: Int32, after former: Int32? = nil) -> Int32? {
        let end = deadline()
        while !end.hasPassed {
            let children = text("/proc/\(process)/task/\(process)/children").split(separator: " ")
            let spare = children.compactMap { Int32($0) }.first { text("/proc/\($0)/comm") == "latchkey-spawne\n" }
            if let spare, spare != former { return spare }
        }
        return nil
    }

    /// Empty where there is no such file any more.
    private func text(_ path: String) -> String {
        do throws(SystemCallError) {
            return String(decoding: try PrivateFile.readAll(path, atMost: 4096), as: UTF8.self)
        } catch { return "" }
    }

    /// Who serves, once it does: one that takes another's place may be late.
    private func server() throws -> Int32? {
        let end = deadline()
        while true {
            do {
                return try spawnerProcess()
            } catch let error as SystemCallError where error.errno == ETIMEDOUT && !end.hasPassed { continue }
        }
    }

    /// Whichever of the two is killed, over and over, there is one that serves, and a spare.
    private func replaced() throws -> Int32 {
        for round in 0..<10 {
            guard let process = try server(), let spare = spare(of: process) else { return 1 }
            let isServer = round % 2 == 0
            guard kill(isServer ? process : spare, SIGKILL) == 0 else { return 2 }
            guard let next = try server(), next == (isServer ? spare : process) else { return 3 }
            guard self.spare(of: next, after: spare) != nil else { return 4 }
        }
        return try wait(for: spawner.end.raw, to: .receive, until: deadline(.zero)) == .timedOut ? 0 : 5
    }

    /// The answer to a question that was given up is not the next one's.
    private func late() throws -> Int32 {
        guard let process = try spawnerProcess() else { return 1 }
        guard kill(process, SIGSTOP) == 0 else { return 2 }
        guard startFailure(Self.shell, ["-c", "true"]) == ETIMEDOUT else { return 3 }
        guard kill(process, SIGCONT) == 0 else { return 4 }
        let end = deadline()
        var failure = ETIMEDOUT
        while failure == ETIMEDOUT, !end.hasPassed { failure = startFailure("/nowhere/program", []) }
        return failure == ENOENT ? 0 : 5
    }

    /// 0 where it was started.
    private func startFailure(_ path: String, _ arguments: [String]) -> Int32 {
        do throws(SystemCallError) {
            _ = try spawner.startChild(path, arguments: arguments)
            return 0
        } catch {
            return error.errno
        }
    }

    /// What it starts may not look into others, whoever asks for it.
    private func refused() throws -> Int32 {
        let script = "\(Self.probe) try process_vm_readv; echo $? > $1/new; mv $1/new $1/said"
        try run(script).status(until: deadline())
        return try said() == "\(EPERM)\n" ? 0 : 1
    }

    private func gone() throws -> Int32 {
        guard let process = try spawnerProcess(), let spare = spare(of: process) else { return 1 }
        let end = spawner.end
        guard try wait(for: end.raw, to: .receive, until: deadline(.zero)) == .timedOut else { return 2 }
        // Stopped, neither sees the other's end.
        for process in [process, spare] { guard kill(process, SIGSTOP) == 0 else { return 6 } }
        for process in [process, spare] { guard kill(process, SIGKILL) == 0 else { return 7 } }
        guard try wait(for: end.raw, to: .receive, until: deadline()) == .ready else { return 3 }
        do throws(SystemCallError) {
            _ = try spawner.startChild(Self.shell, arguments: [])
            return 4
        } catch {
            return error.isBrokenConnection ? 0 : 5
        }
    }
}
