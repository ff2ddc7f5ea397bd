/// What a process of ours does to itself so that less can be done to it.
///
/// The raw values are on the wire and in `latchkey doctor --json`.
package enum HardeningMeasure: String, CaseIterable, Hashable, Sendable {
    /// setrlimit(2), RLIMIT_CORE 0.
    case noCoreDumps
    /// prctl(2), PR_SET_DUMPABLE 0: no process of the same user looks in.
    case notDumpable
    /// prctl(2), PR_SET_NO_NEW_PRIVS.
    case noNewPrivileges
    /// prctl(2), PR_SET_MDWE, Linux 6.3: no memory becomes executable.
    case noNewCode
    /// landlock(7): files, network and other processes.
    case files
    /// seccomp(2): a list of calls.
    case systemCalls
    /// memfd_secret(2), Linux 5.14: the slab of keys and small values (``SecretArena``).
    case hiddenMemory
}

/// One measure of a process, as the kernel answered when it was asked.
package struct MeasureState: Hashable, Sendable {
    /// By its raw value: a newer program has measures that we do not know.
    package let name: String
    package let isInForce: Bool
    /// Why it is not in force, or how far it reaches; empty where there is nothing to say.
    package let note: String

    package init(name: String, isInForce: Bool, note: String) {
        self.name = name
        self.isInForce = isInForce
        self.note = note
    }

    package init(_ measure: HardeningMeasure, isInForce: Bool, note: String = "") {
        self.init(name: measure.rawValue, isInForce: isInForce, note: note)
    }
}

/// The newer kernel features that a process may be confined with. Passed in, so that a
/// test can take each away and see that the process still works and says what it lacks.
package struct ConfinementFeatures: Hashable, Sendable {
    package var hasMDWE = true
    package var hasLandlock = true
    package var hasSeccomp = true
    package var hasHiddenMemory = true

    package init() {}

    /// Whatever the running kernel has.
    package static let all = ConfinementFeatures()
    /// None of them: an older kernel in a container whose policy refuses them.
    package static var none: ConfinementFeatures {
        var features = ConfinementFeatures()
        (features.hasMDWE, features.hasLandlock) = (false, false)
        (features.hasSeccomp, features.hasHiddenMemory) = (false, false)
        return features
    }
}
