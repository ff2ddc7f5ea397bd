package import KeychainModel
internal import KeychainPlatform

/// Who is calling, and what that is worth: every rung the program reaches,
/// strongest first and an ad hoc one last, so that gaining a stronger rung hides
/// nothing that was stored before.
package struct PeerIdentity: Hashable, Sendable {
    /// Never empty.
    package let rungs: [IdentityRung]
    package let processID: Int32
    package let userID: UInt32
    package let missingFeatures: [KernelFeature]
    /// Whether it lives among other files or users than we do.
    private let isForeign: Bool

    package init(of process: PeerProcess, naming: AdHocNaming) {
        processID = process.processID
        userID = process.userID
        missingFeatures = process.missingFeatures
        isForeign = process.evidence?.isForeign ?? false
        rungs = process.evidence.map { Self.rungs(of: $0, process, naming) } ?? [.unreadable]
    }

    /// The strongest rung: for messages, prompts and the log.
    package var name: String { rungs[0].groupName }

    /// Whether anything limits what the program reaches.
    package var contains: Bool { rungs.contains(where: \.contains) }

    /// Whether it could be contained without our seeing by what: it hides, or it lives
    /// in namespaces of its own, where it may hide what its sandbox is.
    package var mayBeContained: Bool { contains || strength == .none || isForeign }

    /// Whether a sandbox holds it, or it could be held by one: a unit is none.
    private var isSandboxed: Bool {
        isForeign || strength == .none
            || rungs.contains { rung in
                switch rung {
                case .flatpak, .snap: true
                default: false
                }
            }
    }

    /// Whether other programs of the user are kept from posing as this one.
    package var authenticates: Bool { strength == .program }

    package var strength: IdentityStrength {
        if rungs == [.unreadable] { return .none }
        let isSure = !missingFeatures.contains(where: \.isNeededToAuthenticate)
        return isSure && rungs.contains(where: \.authenticates) ? .program : .user
    }

    /// The access groups, for the rules that a signed program's entitlements follow.
    package var entitlements: Entitlements {
        var result = Entitlements()
        result.rules = .ios
        result.keychainAccessGroups = rungs.filter(\.hasGroup).map(\.groupName)
        result.nameableGroups = [AccessGroup.latchkey.name]
        // A sandbox that withholds the session's bus withholds what is on it.
        if !isSandboxed { result.nameableGroups.append(AccessGroup.secretService.name) }
        return result
    }
}

extension PeerIdentity {
    private static func rungs(
        of evidence: PeerEvidence, _ process: PeerProcess, _ naming: AdHocNaming
    ) -> [IdentityRung] {
        var rungs = containing(evidence, process)
        if let path = evidence.executable.path.printable, evidence.executable.isRootsAlone, !evidence.isForeign,
            !Interpreters.contains(evidence.executable.path)
        {
            rungs.append(.executable(path))
        }
        if let last = naming.rung(for: evidence, of: process.userID, within: rungs.first) { rungs.append(last) }
        return rungs.isEmpty ? [.foreign] : rungs
    }

    /// The rungs that contain. A sandbox is not also the unit that happened to
    /// start it: it would reach that unit's items.
    private static func containing(_ evidence: PeerEvidence, _ process: PeerProcess) -> [IdentityRung] {
        var rungs: [IdentityRung] = []
        if let unit = systemUnit(evidence, process) { rungs.append(.systemUnit(unit)) }
        if let flatpak = evidence.flatpak {
            rungs.append(.flatpak(application: flatpak.application))
        } else if let snap = evidence.controlGroup?.snap {
            rungs.append(.snap(snap))
        } else if let unit = evidence.controlGroup?.userService(of: process.userID) {
            rungs.append(.userUnit(unit))
        }
        return rungs
    }

    /// A system unit counts only with a user of its own. Under a person's user
    /// (cron jobs, a login without logind) every program of that person could
    /// attach to it; what is traced is not its own master; and a path below
    /// somebody's own cgroup namespace is whatever that somebody made it.
    private static func systemUnit(_ evidence: PeerEvidence, _ process: PeerProcess) -> String? {
        let ids = process.credentials
        guard process.seesWholeHierarchy, !evidence.isTraced, ids.realUser == ids.effectiveUser,
            ServiceAccount.contains(process.userID)
        else { return nil }
        return evidence.controlGroup?.systemService
    }
}

/// User ids that belong to services and not to people.
enum ServiceAccount {
    /// login.defs(5) SYS_UID_MAX is 999 everywhere we know; 61184 to 65519 are
    /// systemd's DynamicUser. Root (0) and nobody (65534) are nobody's own.
    static func contains(_ userID: UInt32) -> Bool {
        (1...999).contains(userID) || (61184...65519).contains(userID)
    }
}
