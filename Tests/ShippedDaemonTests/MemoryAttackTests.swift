import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// What the kernel gives of the memory of the shipped programs (THREAT_MODEL S2, T4).
@Suite(.enabled(if: ShippedDaemon.isWithinReach, "the programs are out of this user's reach"))
struct MemoryAttackTests {
    private typealias Trace = @convention(c) (CLong, pid_t, Int, Int) -> CLong

    /// ptrace(2): PTRACE_SEIZE, which stops nobody.
    private static func seize(_ process: Int32) -> Int32 {
        guard let symbol = unsafe dlsym(nil, "ptrace") else { return ENOSYS }
        return unsafe unsafeBitCast(symbol, to: Trace.self)(0x4206, process, 0, 0) == 0 ? 0 : errno
    }

    private static func reads(_ process: Int32, _ name: String) -> Bool {
        let file = try? FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/\(name)"))
        return (try? file?.read(upToCount: 1)) != nil
    }

    @Test(.enabled(if: ProcessEnvironment.effectiveUserID != 0, "root looks into everything"))
    func nobodyOfTheSameUserLooksIntoEither() throws {
        let keychain = try ShippedDaemon()
        for process in [keychain.daemonProcess, keychain.enclaveProcess] {
            for name in ["mem", "maps", "environ", "auxv", "syscall"] { #expect(!Self.reads(process, name), "\(name)") }
            #expect(Self.seize(process) == EPERM)
        }
        // What hides from nobody is looked into the same way.
        let plain = try ChildProcess.start(
            "/bin/sleep", arguments: ["1000"], environment: [], third: EventSignal().descriptor,
            fourth: EventSignal().descriptor)
        #expect(Self.reads(plain.processID, "maps"))
        kill(plain.processID, SIGKILL)
        try plain.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    /// The keys lie in one locked slab of each process; the kernel counts it.
    @Test func theSlabIsLockedIntoMemory() throws {
        let keychain = try ShippedDaemon()
        for process in [keychain.daemonProcess, keychain.enclaveProcess] {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
            let locked = line.split(separator: " ").compactMap { Int($0) }.first ?? 0
            #expect(locked >= 1024, "KiB of process \(process)")
        }
    }

    /// A crash starts no program that would look into the memory: the Swift runtime's
    /// handlers, which do, are gone (SigCgt of /proc/PID/status).
    @Test func nothingHandlesACrash() throws {
        let keychain = try ShippedDaemon()
        let crashes = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
        for process in [keychain.daemonProcess, keychain.enclaveProcess] {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") })
            let caught = try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
            #expect(crashes.allSatisfy { caught & 1 << UInt64($0 - 1) == 0 })
        }
    }

    // MARK: Core dumps

    /// A program as a child that may dump, and whose dump would lie in `folder`.
    private func start(
        _ program: [String], in folder: TemporaryDirectory, third: Descriptor
    ) throws -> ChildProcess {
        let script = "cd \(folder.path); ulimit -c unlimited; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\""
        return try ChildProcess.start(
            "/bin/sh", arguments: ["-c", script, "sh"] + program, environment: ["PATH=/usr/bin:/bin"], third: third,
            fourth: EventSignal().descriptor)
    }

    /// Whether the kernel wrote a core dump of it (wait(2), WCOREDUMP).
    private func dumps(_ child: ChildProcess, byItself: Bool = false) -> Bool {
        if !byItself { kill(child.processID, SIGSEGV) }
        var status: Int32 = 0
        while unsafe waitpid(child.processID, &status, 0) < 0, errno == EINTR { continue }
        #expect(status & 0x7F == SIGSEGV)
        return status & 0x80 != 0
    }

    @Test func aCoreDumpThatIsForcedIsNotWritten() throws {
        let folder = try TemporaryDirectory("dumps")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        let listener = try PacketSocket.listen(at: Rendezvous.socketName, in: folder.folder("run").descriptor)
        try listener.setNonBlocking(true)
        let daemon = try start(
            [
                "\(ShippedDaemon.programs)/latchkeyd", "--data-dir", locations.dataDirectory, "--run-dir",
                locations.runDirectory,
            ], in: folder, third: listener.descriptor)
        var configuration = ShippedDaemon.configuration(locations)
        configuration.patience = .seconds(60)
        let client = DaemonConnectionPool(configuration)
        let served = try client.perform(KeychainRequest(.status)).status
        #expect(served?.daemonProcess == daemon.processID)
        if let enclave = served?.enclaveProcess { kill(enclave, SIGKILL) }
        #expect(!dumps(daemon))

        let (ours, theirs) = try PacketSocket.pair()
        let enclave = try start(
            [
                "\(ShippedDaemon.programs)/latchkey-enclave", "--data", folder.path("other"), "--run",
                folder.path("other-run"), "--ready-descriptor", "3",
            ], in: folder, third: theirs.descriptor)
        let ready = try wait(
            for: ours.descriptor.raw, to: .receive, until: Deadline(after: .seconds(60), on: SystemClock()))
        #expect(ready == .ready)
        #expect(!dumps(enclave))
        #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.hasPrefix("core") })
    }

    /// The same done to a program that does not see to it: so the test above can fail. Where
    /// dumps go to a pipe, or the machine allows none, it says nothing.
    @Test func anotherProgramDumpsWhereTheMachineLetsIt() throws {
        let folder = try TemporaryDirectory("dumps")
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        guard limit.rlim_max > 0, pattern.hasPrefix("core") else { return }
        let child = try start(["/bin/sh", "-c", "kill -SEGV $$"], in: folder, third: EventSignal().descriptor)
        #expect(dumps(child, byItself: true))
    }
}
