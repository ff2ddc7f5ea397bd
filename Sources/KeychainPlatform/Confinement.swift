@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What a process of ours gives up for good once everything that it needs is open:
/// new code, files elsewhere, and the calls that its work has no use for.
///
/// Never for a process that is not ours alone: the engine within a program (a test's,
/// KeychainTesting) leaves that program as it is.
package struct Confinement: Sendable {
    /// Whose list of calls is left (confinement.c).
    package enum Program: Sendable {
        case daemon
        case enclave
        /// The enclave's hands, which load a device's library.
        case hardware
        /// The one that talks to the system bus.
        case bus

        fileprivate var restrictsFiles: Bool { self != .daemon }

        fileprivate var number: Int32 {
            switch self {
            case .daemon: Int32(LK_CALLS_OF_DAEMON)
            case .enclave: Int32(LK_CALLS_OF_ENCLAVE)
            case .hardware: Int32(LK_CALLS_OF_HARDWARE)
            case .bus: Int32(LK_CALLS_OF_BUS)
            }
        }
    }

    /// What is left of a folder and everything below it.
    package struct Folder: Sendable {
        package enum Use: Sendable {
            /// To read, make, change, list and remove files.
            case files
            /// To remove files.
            case removal
        }

        let directory: PrivateDirectory
        let use: Use

        package init(_ directory: PrivateDirectory, for use: Use) {
            self.directory = directory
            self.use = use
        }

        fileprivate var right: lk_folder_right {
            let rights =
                switch use {
                case .files: LK_WRITE | LK_REMOVE
                case .removal: LK_REMOVE
                }
            return lk_folder_right(folder: directory.descriptor.raw, rights: UInt32(rights))
        }
    }

    private enum Reach: Sendable {
        case everything
        case folders([Folder])
        /// Where a system has its libraries and settings, to read; devices, to use.
        case devices
    }

    private let program: Program
    private let reach: Reach

    private init(_ program: Program, _ reach: Reach) {
        self.program = program
        self.reach = reach
    }

    /// - Parameter folders: all that can be opened from then on.
    package static func ofEnclave(_ folders: [Folder]) -> Confinement { Confinement(.enclave, .folders(folders)) }

    /// Files stay: a process under Landlock may not look at others through /proc, which
    /// the daemon knows its callers by.
    package static let ofDaemon = Confinement(.daemon, .everything)

    /// Libraries are still found and loaded, devices opened, local sockets connected to.
    package static let ofHardware = Confinement(.hardware, .devices)

    /// No file, no new socket: nothing but the two that are open, to the bus and to the
    /// enclave.
    package static let ofBus = Confinement(.bus, .folders([]))

    /// Confines this process, after ``Hardening/apply()`` and before it has threads:
    /// Landlock holds for the thread that asks for it and those that it starts.
    ///
    /// What the kernel does not have, or a container's policy refuses, is left out and
    /// said by ``Confined/measures``.
    package func enter(_ features: ConfinementFeatures) -> Confined {
        var obstacles: [HardeningMeasure: String] = [:]
        var landlock = 0
        func attempt(_ measure: HardeningMeasure, _ isThere: Bool, _ result: () -> Int32) -> Int32 {
            let outcome = isThere ? result() : -ENOSYS
            if outcome < 0 { obstacles[measure] = Self.explanation(of: measure, errno: -outcome) }
            return outcome
        }
        _ = attempt(.noNewCode, features.hasMDWE, lk_deny_new_code)
        if program.restrictsFiles { landlock = Int(attempt(.files, features.hasLandlock, restrictFiles)) }
        // Last: the calls above are not in the list.
        _ = attempt(.systemCalls, features.hasSeccomp) { lk_restrict_calls(program.number) }
        return Confined(program, obstacles: obstacles, landlock: landlock)
    }

    /// hier(7), and where NixOS and Guix have theirs; what the kernel and udev know of
    /// devices, by which a security key is found; no homes, nothing of ours.
    private static let ofSystem = [
        "/usr", "/lib", "/lib64", "/etc", "/opt", "/nix/store", "/gnu/store", "/sys/bus", "/sys/class",
        "/sys/devices", "/run/udev/data",
    ]

    /// What a library uses anywhere, TPMs, and what may be a security key, as they are
    /// there now: the process is one of a moment.
    private static var devices: [String] {
        let everywhere = ["null", "zero", "full", "random", "urandom"]
        let names = FolderContent.names(at: "/dev").filter { $0.hasPrefix("tpm") || $0.hasPrefix("hidraw") }
        return (everywhere + names).map { "/dev/\($0)" }
    }

    /// The version of Landlock, or -errno.
    private func restrictFiles() -> Int32 {
        switch reach {
        case .everything: return 0
        case .folders(let folders):
            let rights = folders.map(\.right)
            return unsafe lk_restrict_files(rights, Int32(rights.count))
        case .devices:
            let places = (Self.ofSystem.map { ($0, LK_READ) } + Self.devices.map { ($0, LK_DEVICES) }).compactMap {
                path, rights in
                // Opened to be named, which does nothing to a device.
                do throws(SystemCallError) {
                    let place = try Descriptor.look(at: FilePath(path), .place)
                    return (folder: place, rights: UInt32(rights))
                } catch { return (folder: Descriptor, rights: UInt32)?.none }
            }
            let rights = places.map { lk_folder_right(folder: $0.folder.raw, rights: $0.rights) }
            return withExtendedLifetime(places) { unsafe lk_restrict_files(rights, Int32(rights.count)) }
        }
    }

    private static func explanation(of measure: HardeningMeasure, errno: Int32) -> String {
        switch (measure, errno) {
        case (.noNewCode, _): "this kernel has no PR_SET_MDWE (Linux 6.3 and newer have it)"
        case (.systemCalls, EOPNOTSUPP): "there is no list of calls for this build or processor"
        case (.files, ENOSYS): "this kernel has no Landlock (Linux 5.13 and newer have it)"
        case (.files, EOPNOTSUPP): "Landlock is switched off: add landlock to lsm= of the kernel's command line"
        case (.systemCalls, ENOSYS): "this kernel has no seccomp filters"
        case (_, let number): "the system refuses it: \(SystemCallError(measure.rawValue, errno: number))"
        }
    }

    /// Names of the calls that daemon, enclave or bus still may make, some of them for some
    /// arguments.
    ///
    /// - Precondition: not of the hands, who are told what they may not.
    package static func allowedCalls(of program: Program) -> [String] {
        precondition(program != .hardware)
        var names: [String] = []
        while let name = unsafe lk_allowed_call(program.number, Int32(names.count)) {
            unsafe names.append(String(cString: name))
        }
        return names
    }
}

/// A process that has confined itself.
package struct Confined: Sendable {
    private let program: Confinement.Program
    private let obstacles: [HardeningMeasure: String]
    /// The version of Landlock that files are restricted by.
    private let landlock: Int

    fileprivate init(_ program: Confinement.Program, obstacles: [HardeningMeasure: String], landlock: Int) {
        self.program = program
        self.obstacles = obstacles
        self.landlock = landlock
    }

    /// Each measure that is meant for this process, asked of the kernel now.
    package var measures: [MeasureState] {
        HardeningMeasure.allCases.filter { $0 != .files || program.restrictsFiles }.map { measure in
            // A container's own filter is not ours.
            let isInForce = obstacles[measure] == nil && Self.isInForce(measure)
            return MeasureState(measure, isInForce: isInForce, note: note(on: measure))
        }
    }

    private static func isInForce(_ measure: HardeningMeasure) -> Bool {
        switch measure {
        case .noCoreDumps: lk_dumps_no_core() == 1
        case .notDumpable: lk_is_dumpable() == 0
        case .noNewPrivileges: lk_has_no_new_privileges() == 1
        case .noNewCode: lk_denies_new_code() == 1
        // Nothing but a try tells.
        case .files: lk_cannot_open_root() == 1
        case .systemCalls: lk_is_filtered() == 1
        case .hiddenMemory: SecretArena.shared.isHidden
        }
    }

    private func note(on measure: HardeningMeasure) -> String {
        if let obstacle = obstacles[measure] { return obstacle }
        if measure == .hiddenMemory {
            return SecretArena.shared.isHidden
                ? "the machine does not hibernate meanwhile"
                : "no memfd_secret: Linux before 5.14 has none, before 6.5 with secretmem.enable=1 alone"
        }
        guard measure == .files else { return "" }
        if landlock < 4 { return "files alone: Linux 6.7 restricts the network too, 6.12 signals" }
        return landlock < 6 ? "files and network: Linux 6.12 restricts signals too" : ""
    }
}
