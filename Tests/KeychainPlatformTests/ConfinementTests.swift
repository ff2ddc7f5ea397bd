import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// What a confined process can still be made to do: each call is tried from within one
/// that is confined as our programs are (ARCHITECTURE.md, "What a process gives up").
@Suite struct ConfinementTests {
    private static let probe = "\(ProcessEnvironment.executableDirectory ?? ".")/confinement-probe"

    private enum Outcome: Hashable, CustomStringConvertible {
        /// The kernel did it.
        case done
        case refused(Int32)
        /// The process is no more (SIGSYS).
        case ended

        var description: String {
            switch self {
            case .done: "done"
            case .refused(let number): "refused: errno \(number)"
            case .ended: "ended"
            }
        }
    }

    /// The folders of an enclave, with a file in each.
    private struct Folders {
        let temporary: TemporaryDirectory
        let files: PrivateDirectory
        let removal: PrivateDirectory

        init() throws {
            temporary = try TemporaryDirectory("confined")
            files = try temporary.folder("files")
            removal = try temporary.folder("removal")
            for folder in [files, removal] {
                for name in ["kept", "there"] { try folder.replace(name, with: [1]) }
            }
        }
    }

    private func status(
        _ call: String, of program: String = "enclave", with features: String = "all", in place: String? = nil,
        _ folders: Folders, environment: [String] = []
    ) throws -> Int32 {
        let unused = try EventSignal()
        let child = try ChildProcess.start(
            Self.probe,
            arguments: [
                program, features, folders.files.path, folders.removal.path, place ?? folders.files.path, call,
            ],
            environment: environment, third: unused.descriptor, fourth: unused.descriptor)
        return try child.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    private func outcome(
        _ call: String, of program: String = "enclave", with features: String = "all", in place: String? = nil,
        environment: [String] = []
    ) throws -> Outcome {
        let status = try status(
            call, of: program, with: features, in: place, Folders(), environment: environment)
        try #require(status != 255, "the probe has no call \(call)")
        return status == 0 ? .done : status == 128 + SIGSYS ? .ended : .refused(status)
    }

    private func status(of arguments: String...) throws -> Int32? {
        let unused = try EventSignal()
        let child = try ChildProcess.start(
            Self.probe, arguments: arguments, environment: [], third: unused.descriptor, fourth: unused.descriptor)
        return try child.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    @Test(arguments: ["daemon", "enclave"]) func whatAStartWentThroughIsLetGoOf(program: String) throws {
        #expect(try status(of: "code", program) == 0)
    }

    /// Never what was written to, and nothing where a thread could write meanwhile.
    @Test(arguments: ["alone", "threads"]) func unwrittenDataAreLetGoOf(process: String) throws {
        #expect(try status(of: "data", process) == 0)
    }

    // MARK: Calls

    private static let filters = ConditionTrait.enabled(if: RunningKernel.hasFilters, "no filters of calls")
    private static let landlock = ConditionTrait.enabled(if: RunningKernel.landlock >= 1, "no Landlock")
    private static let landlock6 = ConditionTrait.enabled(if: RunningKernel.landlock >= 6, "an older Landlock")

    private static let neverOurs = [
        "execve", "execveat", "memfd_exec", "fork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
        "socket_inet", "socket_netlink", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "keyctl", "add_key",
        "mount", "umount2", "chroot", "unshare", "setns", "init_module", "finit_module", "kexec_load", "reboot",
        "swapon", "setuid", "personality", "open_by_handle_at",
    ]

    @Test(Self.filters, arguments: neverOurs + ["socket_unix", "socketpair", "connect", "bind"])
    func endsTheEnclave(_ call: String) throws {
        #expect(try outcome(call) == .ended)
        // So that this can fail: nothing but the filter ends it.
        #expect(try outcome(call, with: "none") != .ended)
    }

    @Test(Self.filters, arguments: neverOurs + ["socket_unix", "socketpair", "connect", "bind"])
    func endsTheBusProgram(_ call: String) throws { #expect(try outcome(call, of: "bus") == .ended) }

    @Test(Self.filters, arguments: ["kill", "tgkill", "dumpable", "core_limit", "inotify", "code_map", "code_protect"])
    func isRefusedToTheBusProgram(_ call: String) throws { #expect(try outcome(call, of: "bus") == .refused(EPERM)) }

    @Test(Self.landlock, arguments: ["read_passwd", "read_here", "make_here", "remove_here", "make_elsewhere"])
    func noFileIsInTheBusProgramsReach(_ call: String) throws {
        #expect(try outcome(call, of: "bus") == .refused(EACCES))
        #expect(try outcome(call, of: "bus", with: "none") == .done)
    }

    @Test(Self.filters, arguments: neverOurs)
    func endsTheDaemon(_ call: String) throws { #expect(try outcome(call, of: "daemon") == .ended) }

    @Test(
        Self.filters,
        arguments: [
            "kill", "tgkill", "dumpable", "core_limit", "tiocsti", "inotify", "make_folder_here", "code_map",
            "code_protect",
        ])
    func isRefusedToTheEnclave(_ call: String) throws {
        #expect(try outcome(call) == .refused(EPERM))
        #expect(try outcome(call, with: "none") != .refused(EPERM))
    }

    @Test(Self.filters, arguments: ["dumpable", "core_limit", "tiocsti", "code_map", "code_protect", "tgkill"])
    func isRefusedToTheDaemon(_ call: String) throws { #expect(try outcome(call, of: "daemon") == .refused(EPERM)) }

    /// The enclave's hands load a device's library, whose calls nobody lists.
    @Test(Self.filters, arguments: neverOurs.filter { !$0.hasPrefix("socket_") })
    func endsTheHands(_ call: String) throws { #expect(try outcome(call, of: "hardware") == .ended) }

    @Test(Self.filters, arguments: ["socket_inet", "socket_netlink"])
    func isRefusedToTheHands(_ call: String) throws { #expect(try outcome(call, of: "hardware") == .refused(EPERM)) }

    @Test(arguments: ["thread", "socket_unix", "read_passwd", "use_device", "read_sysfs"])
    func isLeftToTheHands(_ call: String) throws { #expect(try outcome(call, of: "hardware") == .done) }

    @Test(
        Self.landlock,
        arguments: [
            "make_elsewhere", "make_here", "remove_here", "make_folder_here", "write_here", "read_here",
            "use_other_device", "list_devices", "read_other_sysfs",
        ])
    func theHandsReadTheSystemAndUseDevicesAlone(_ call: String) throws {
        #expect(try outcome(call, of: "hardware") == .refused(EACCES))
        #expect(try outcome(call, of: "hardware", with: "none") == .done)
    }

    /// libc then does the same by a call that the filter can look into.
    @Test(Self.filters, arguments: ["clone3", "newer_call"], ["enclave", "daemon", "hardware", "bus"])
    func isNotThere(_ call: String, _ program: String) throws {
        #expect(try outcome(call, of: program) == .refused(ENOSYS))
    }

    @Test(arguments: ["thread", "tgkill_self", "make_here", "read_here", "remove_here"], ["enclave", "daemon"])
    func isLeft(_ call: String, _ program: String) throws { #expect(try outcome(call, of: program) == .done) }

    /// Long answers wait by it for whoever reads them. Of no socket, as here, the kernel says so.
    @Test(arguments: ["enclave", "daemon"])
    func maySeeWhatIsUnread(_ program: String) throws {
        #expect(try outcome("unread", of: program) == .refused(EBADF))
    }

    @Test(arguments: ["socket_unix", "socketpair", "kill", "inotify", "make_folder_here", "read_passwd"])
    func isLeftToTheDaemon(_ call: String) throws { #expect(try outcome(call, of: "daemon") == .done) }

    // MARK: Files, network, other processes

    @Test(Self.landlock, arguments: ["read_passwd", "read_proc", "make_elsewhere"], ["all", "landlock"])
    func filesElsewhereAreOutOfTheEnclavesReach(_ call: String, _ features: String) throws {
        #expect(try outcome(call, with: features) == .refused(EACCES))
        if call != "read_proc" { #expect(try outcome(call, with: "none") == .done) }
    }

    @Test(Self.landlock) func theRunFolderIsThereToRemoveTheSocketsFrom() throws {
        let folders = try Folders()
        let place = folders.removal.path
        #expect(try status("remove_here", in: place, folders) == 0)
        #expect(try status("read_here", in: place, folders) == EACCES)
        #expect(try status("make_here", in: place, folders) == EACCES)
    }

    @Test(Self.landlock6) func withoutSeccompTheNetworkIsClosedAllTheSame() throws {
        #expect(try outcome("connect_tcp", with: "landlock") == .refused(EACCES))
        #expect(try outcome("bind_tcp", with: "landlock") == .refused(EACCES))
        #expect(try outcome("connect_tcp", with: "none") == .refused(ECONNREFUSED))
        #expect(try outcome("kill", with: "landlock") == .refused(EPERM))
        #expect(try outcome("kill", with: "none") == .done)
    }

    @Test(Self.landlock6) func withoutSeccompOthersAbstractSocketsAreOutOfReach() throws {
        let name = "latchkey-test-" + Random.bytes(8).map { String($0) }.joined()
        let listener = try AbstractName(name)
        let environment = ["PROBE_ABSTRACT=\(name)"]
        #expect(try outcome("connect_abstract", with: "none", environment: environment) == .done)
        #expect(try outcome("connect_abstract", with: "landlock", environment: environment) == .refused(EPERM))
        withExtendedLifetime(listener) {}
    }

    // MARK: New code

    @Test(.enabled(if: RunningKernel.hasMDWE, "no PR_SET_MDWE"), Self.filters)
    func newCodeIsRefusedByEitherOfTwoMeasures() throws {
        #expect(try outcome("code_protect", with: "mdwe") == .refused(EACCES))
        #expect(try outcome("code_protect", with: "seccomp") == .refused(EPERM))
        #expect(try outcome("code_protect", with: "none") == .done)
    }

    // MARK: What a process says of itself

    private func bits(_ measures: [HardeningMeasure]) -> Int32 {
        HardeningMeasure.allCases.enumerated().reduce(0) { bits, one in
            measures.contains(one.element) ? bits | 1 << Int32(one.offset) : bits
        }
    }

    @Test(.enabled(if: RunningKernel.confines, "a measure is missing here")) func measuresAreToldAsTheKernelHasThem()
        throws
    {
        let folders = try Folders()
        let always: [HardeningMeasure] = [.noCoreDumps, .notDumpable, .noNewPrivileges]
        #expect(try status("measures", folders) == bits(HardeningMeasure.allCases))
        #expect(
            try status("measures", of: "daemon", folders) == bits(HardeningMeasure.allCases.filter { $0 != .files }))
        let alone: [(String, HardeningMeasure)] = [
            ("landlock", .files), ("mdwe", .noNewCode), ("seccomp", .systemCalls), ("hidden", .hiddenMemory),
        ]
        for (features, measure) in alone {
            #expect(try status("measures", with: features, folders) == bits(always + [measure]))
        }
        #expect(try status("measures", with: "none", folders) == bits(always))
        #expect(try status("measures", of: "hardware", folders) == bits(HardeningMeasure.allCases))
        #expect(try status("measures", of: "hardware", with: "landlock", folders) == bits(always + [.files]))
        #expect(try status("measures", of: "hardware", with: "none", folders) == bits(always))
    }
}

/// Somebody who listens on an abstract name (unix(7)).
private final class AbstractName {
    private let descriptor: Int32

    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0[1...].copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        try #require(bound == 0 && listen(descriptor, 8) == 0)
    }

    deinit { close(descriptor) }
}
