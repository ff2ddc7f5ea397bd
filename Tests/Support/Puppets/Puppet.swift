internal import Glibc
package import KeychainPlatform
internal import Synchronization

/// A real process that does what a test tells it to. It and what it forked end
/// with this object, and by themselves after a minute.
package final class Puppet: Sendable {
    package let processID: Int32
    private let strings: PacketSocket
    private let isReaped = Atomic(false)

    /// Steps of the puppet's own program.
    package convenience init(_ steps: [String], program: String? = nil) throws {
        try self.init(running: program ?? Workshop.shared.get().program, steps)
    }

    /// Steps done inside a program of the system, by LD_PRELOAD.
    package convenience init(inside program: String, steps: [String]) throws {
        try self.init(
            running: program, [],
            environment: [
                "LD_PRELOAD=\(Workshop.shared.get().library)", "PUPPET_STEPS=\(steps.joined(separator: "\n"))",
            ])
    }

    package init(running program: String, _ arguments: [String], environment: [String] = []) throws {
        let (ours, theirs) = try PacketSocket.pair()
        processID = try Self.spawn(program, arguments, environment: environment, input: theirs.descriptor)
        strings = ours
    }

    deinit {
        if isReaped.load(ordering: .acquiring) { return }
        kill(-processID, SIGKILL)
        waitForEnd()
    }

    /// Waits for the process to end, after which its number is free.
    package func waitForEnd() {
        isReaped.store(true, ordering: .releasing)
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, 0) < 0 && errno == EINTR {}
    }

    /// Lets the puppet pass a step `hear`.
    package func tell() throws { try strings.send(Array("go".utf8)) }

    /// What the puppet said, or nil when it has ended.
    package func listen() throws -> String? {
        let limit = Deadline(after: .seconds(50), on: SystemClock())
        guard try wait(for: strings.descriptor.raw, to: .receive, until: limit) == .ready else {
            throw PuppetFailure("the puppet is silent")
        }
        var buffer = [UInt8](repeating: 0, count: 256)
        let envelope = try unsafe buffer.withUnsafeMutableBytes { unsafe try strings.receive(into: $0) }
        return envelope.map { String(decoding: buffer[..<$0.byteCount], as: UTF8.self) }
    }

    package func expect(_ word: String) throws {
        let heard = try listen()
        guard heard == word else { throw PuppetFailure("the puppet said \(heard ?? "nothing and ended"), not \(word)") }
    }

    /// Returns once the puppet runs another executable.
    package func waitUntilItRuns(_ path: String) throws {
        let folder = try Descriptor.look(at: FilePath("/proc/\(processID)"), .folder)
        while try folder.linkTarget(FilePath("exe")) != FilePath(path) { sched_yield() }
    }

    /// Runs a program to its end, with `input` as its descriptor 0 and silent.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String] = [], input: Descriptor? = nil
    ) throws -> Int32 {
        let child = try spawn(
            program, arguments, environment: ["PATH=/usr/bin:/bin"] + environment, input: input, isSilent: input != nil)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    private static func spawn(
        _ program: String, _ arguments: [String], environment: [String], input: Descriptor?, isSilent: Bool = false
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input.raw, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, input.raw, 1)
        }
        for stream: Int32 in isSilent ? [1, 2] : [] {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
        }
        var argv = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            unsafe (argv + envp).forEach { unsafe free($0) }
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        var child: pid_t = 0
        var result: Int32
        // A file that was just written can be open for a moment in a child that
        // another test is starting.
        repeat {
            result = unsafe posix_spawn(&child, program, &actions, &attributes, &argv, &envp)
        } while result == ETXTBSY
        guard result == 0 else { throw SystemCallError("posix_spawn \(program)", errno: result) }
        return child
    }
}

/// A puppet or the workshop did not do what a test needs.
package struct PuppetFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
