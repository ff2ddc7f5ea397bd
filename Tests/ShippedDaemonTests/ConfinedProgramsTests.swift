import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// What the kernel says of the shipped programs, and what they say of themselves. What it
/// comes to is tried by ConfinementTests, from within.
@Suite(.enabled(if: ShippedDaemon.isWithinReach, "the programs are out of this user's reach"))
struct ConfinedProgramsTests {
    /// Fields of /proc/PID/status (proc(5)).
    private static func kernel(_ process: Int32) throws -> [String: String] {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return Dictionary(
            text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: ":", maxSplits: 1)
                return words.count == 2 ? (String(words[0]), words[1].trimmingCharacters(in: .whitespaces)) : nil
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Every thread: a filter is a thread's.
    private static func threads(_ process: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").compactMap { Int32($0) }
    }

    @Test(.enabled(if: RunningKernel.hasFilters, "no filters of calls"))
    func theKernelFiltersTheCallsOfEveryThread() throws {
        let keychain = try ShippedDaemon()
        for process in [keychain.daemonProcess, keychain.enclaveProcess] {
            for thread in try Self.threads(process) {
                let status = try Self.kernel(thread)
                #expect(status["Seccomp"] == "2" && status["NoNewPrivs"] == "1", "\(process) \(thread)")
            }
        }
    }

    /// What was forked to start programs, of either, and the hands of the enclave.
    @Test(.enabled(if: RunningKernel.hasFilters, "no filters of calls"))
    func theKernelHoldsThoseThatStartPrograms() throws {
        let keychain = try ShippedDaemon()
        let spawners = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter {
            // Any of them may end meanwhile.
            let status = (try? Self.kernel($0)) ?? [:]
            let owner = status["PPid"].flatMap { Int32($0) } ?? 0
            return status["Name"] == "latchkey-spawne"
                && [keychain.daemonProcess, keychain.enclaveProcess].contains(owner)
        }
        #expect(spawners.count == 2)
        for process in spawners {
            let status = try Self.kernel(process)
            #expect(status["Seccomp"] == "2" && status["NoNewPrivs"] == "1" && status["Threads"] == "1")
        }
    }

    @Test(.enabled(if: RunningKernel.hasFilters, "no filters of calls"))
    func theKernelHoldsTheHands() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let hands = try ChildProcess.start(
            "\(ShippedDaemon.programs)/latchkey-hardware", arguments: [], environment: [], third: theirs.descriptor,
            fourth: EventSignal().descriptor)
        // It has confined itself before it answers anything.
        let channel = try MessageChannel(ours)
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        let address = try #require(TPMAddress("swtpm:/nowhere/socket"))
        let request = HardwareProtocol.encode(.describe(address), number: 1)
        try channel.send(request.header, request.tail, until: deadline)
        guard let frame = try channel.receive(until: deadline),
            case .failed = HardwareProtocol.decodeAnswer(header: frame.header, tail: frame.tail)?.1
        else {
            Issue.record("no answer that says that there is no such TPM")
            return
        }
        let status = try Self.kernel(hands.processID)
        #expect(status["Seccomp"] == "2" && status["NoNewPrivs"] == "1", "\(status)")
        ours.shutDown()
        #expect(try hands.status(until: deadline) == 0)
    }

    /// Whatever bus the machine has, or none: it has confined itself before it answers.
    @Test(.enabled(if: RunningKernel.hasFilters, "no filters of calls"))
    func theKernelHoldsTheBusProgram() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let program = try ChildProcess.start(
            "\(ShippedDaemon.programs)/latchkey-bus", arguments: [],
            // A variable that whoever starts it may set names no other bus.
            environment: ["DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere/bus"], third: theirs.descriptor,
            fourth: EventSignal().descriptor)
        let channel = try MessageChannel(ours)
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        let isAsleep = try Waiting.eventually { try Self.kernel(program.processID)["Seccomp"] == "2" }
        #expect(isAsleep)
        try channel.send(BusProtocol.encode(.letSleep), SecretBytes(count: 0), until: deadline)
        guard let frame = try channel.receive(until: deadline),
            case .failed(let why)? = BusProtocol.decodeWord(header: frame.header, tail: frame.tail)
        else {
            Issue.record("no answer that says that this is no request to begin with")
            return
        }
        #expect(!why.contains("/nowhere/bus"))
        #expect(try program.status(until: deadline) == 0)
    }

    /// A container whose policy refuses all of it, on an older kernel: both serve, and say
    /// what they lack. (The filter that refuses is not taken for ours.) A unit's
    /// SystemCallFilter=@system-service ends whoever makes one of these calls.
    @Test(
        .enabled(if: RunningKernel.hasFilters && RunningKernel.hasMDWE, "nothing to refuse"),
        arguments: [
            ("without", "memfd_secret,landlock_create_ruleset,seccomp"),
            ("ended-by", "memfd_secret,landlock_create_ruleset,landlock_add_rule,landlock_restrict_self,seccomp"),
        ])
    func whereEverythingIsRefusedBothServeAndSaySo(_ how: String, _ calls: String) throws {
        let folder = try TemporaryDirectory("refused")
        let (ours, theirs) = try PacketSocket.pair()
        let daemon = try ChildProcess.start(
            "\(ShippedDaemon.programs)/confinement-probe",
            arguments: [
                how, calls, "\(ShippedDaemon.programs)/latchkeyd",
                "--data-dir", folder.path("data"), "--run-dir", folder.path("run"), "--report",
            ], environment: [], third: theirs.descriptor, fourth: EventSignal().descriptor)
        // A child that nobody waits for keeps a test of how a process ends from its own.
        defer { daemon.bury() }
        let ready = try wait(
            for: ours.descriptor.raw, to: .receive, until: Deadline(after: .seconds(60), on: SystemClock()))
        try #require(ready == .ready)
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        let client = DaemonConnectionPool(ShippedDaemon.configuration(locations, autostart: false))
        let status = try #require(try client.perform(KeychainRequest(.status)).status)
        #expect(status.daemonProcess == daemon.processID)
        defer { kill(status.enclaveProcess, SIGKILL) }
        _ = try client.perform(
            KeychainRequest(
                .add,
                query: QueryDictionary([("class", .string("genp")), ("svce", .string("x")), ("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: [1, 2, 3]))))
        for measures in [status.daemonMeasures, status.enclaveMeasures] {
            for state in measures {
                let isRefused = ["files", "systemCalls", "hiddenMemory"].contains(state.name)
                #expect(state.isInForce == !isRefused && (!isRefused || !state.note.isEmpty), "\(state)")
            }
        }
        #expect(status.memoryLocked, "what is not hidden is locked")
    }

    @Test(.enabled(if: RunningKernel.confines, "a measure is missing here"))
    func statusTellsEachMeasureOfBoth() throws {
        let keychain = try ShippedDaemon()
        let status = try #require(try keychain.client.perform(KeychainRequest(.status)).status)
        #expect(status.enclaveMeasures.map(\.name) == HardeningMeasure.allCases.map(\.rawValue))
        #expect(status.enclaveMeasures.allSatisfy { $0.isInForce }, "\(status.enclaveMeasures)")
        // The daemon looks at its callers through /proc, which Landlock would forbid.
        #expect(
            status.daemonMeasures.map(\.name) == HardeningMeasure.allCases.filter { $0 != .files }.map(\.rawValue))
        #expect(status.daemonMeasures.allSatisfy { $0.isInForce }, "\(status.daemonMeasures)")
    }
}
