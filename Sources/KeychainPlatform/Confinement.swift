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

    private let program: Program
    /// nil: files are not restricted.
    private let folders: [Folder]?

    private init(_ program: Program, folders: [Folder]?) {
        self.program = program
        self.folders = folders
    }

    /// - Parameter folders: all that can be opened from then on.
    package static func ofEnclave(_ folders: [Folder]) -> Confinement { Confinement(.enclave, folders: folders) }

    /// Files stay: a process under Landlock may not look at others through /proc, which
    /// the daemon knows its callers by.
    package static let ofDaemon = Confinement(.daemon, folders: nil)

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
        if let folders {
            landlock = Int(
                attempt(.files, features.hasLandlock) {
                    let rights = folders.map(\.right)
                    return unsafe lk_restrict_files(rights, Int32(rights.count))
                })
        }
        // Last: the calls above are not in the list.
        _ = attempt(.systemCalls, features.hasSeccomp) { lk_restrict_calls(program == .daemon ? 1 : 0) }
        return Confined(obstacles: obstacles, restrictsFiles: folders != nil, landlock: landlock)
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

    /// Names of the calls that a program still may make, some of them for some arguments.
    package static func allowedCalls(of program: Program) -> [String] {
        var names: [String] = []
        while let name = unsafe lk_allowed_call(program == .daemon ? 1 : 0, Int32(names.count)) {
            unsafe names.append(String(cString: name))
        }
        return names
    }
}

/// A process that has confined itself.
package struct Confined: Sendable {
    private let obstacles: [HardeningMeasure: String]
    private let restrictsFiles: Bool
    /// The version of Landlock that files are restricted by.
    private let landlock: Int

    fileprivate init(obstacles: [HardeningMeasure: String], restrictsFiles: Bool, landlock: Int) {
        self.obstacles = obstacles
        self.restrictsFiles = restrictsFiles
        self.landlock = landlock
    }

    /// Each measure that is meant for this process, asked of the kernel now.
    package var measures: [MeasureState] {
        HardeningMeasure.allCases.filter { $0 != .files || restrictsFiles }.map { measure in
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
