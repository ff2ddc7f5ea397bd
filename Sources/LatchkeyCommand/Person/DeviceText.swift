internal import KeychainModel
internal import KeychainProtocol

/// Whether the keychain is open, for people and for programs.
struct DeviceText: Sendable, Hashable {
    private let state: DeviceState

    init(_ state: DeviceState) {
        var state = state
        // Only the enclave has a use for it.
        state.number = 0
        // For programs that have a moment left; a person sees it locked at once.
        state.isClosing = false
        self.state = state
    }

    // MARK: For people

    var lock: String {
        switch state.lock {
        case .unlocked: "unlocked"
        case .locked: "locked"
        case .beforeFirstUnlock: "before first unlock"
        }
    }

    var attempts: String {
        guard state.failedAttempts > 0 else { return "none failed" }
        let wait = state.secondsToNextAttempt
        return "\(state.failedAttempts) failed" + (wait > 0 ? ", the next is possible in \(wait) s" : "")
    }

    /// A line of `status --follow`.
    func line(forPerson: Bool) -> String {
        let fields = [
            lock, "passcode \(state.hasPasscode ? "set" : "none")",
            "recovery code \(state.hasRecoveryCode ? "set" : "none")", attempts,
        ]
        return fields.joined(separator: forPerson ? ", " : "\t")
    }

    /// What goes with the passcode; nil where there is nothing to be said of it.
    var effacement: String? {
        let state = state.effacement
        let places = state.left.map(\.description).joined(separator: ", ")
        let left = places.isEmpty ? nil : "still to be destroyed: \(places)"
        let place = state.tpm.map { tpm in "in the TPM at \(tpm)" + (state.fault.map { "; closed: \($0)" } ?? "") }
        let parts = [place, left].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Which TPM counts; nil where there is nothing to be said of it.
    var counter: String? {
        let state = state.counter
        let places = state.left.map(\.description).joined(separator: ", ")
        let left = places.isEmpty ? nil : "still to be removed: \(places)"
        let place = state.tpm.map { tpm in "in the TPM at \(tpm)" + (state.fault.map { "; not counted: \($0)" } ?? "") }
        let parts = [place, left].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    // MARK: For programs

    private var counterMembers: [(String, JSONValue)] {
        [
            ("counter", JSONValue(state.counter.tpm?.description)), ("counterFault", JSONValue(state.counter.fault)),
            ("countersLeft", .array(state.counter.left.map(\.json))),
        ]
    }

    private var effacementMembers: [(String, JSONValue)] {
        let place = state.effacement.tpm?.description ?? (state.hasPasscode ? "file" : "none")
        return [
            ("effacement", .string(place)), ("effacementFault", JSONValue(state.effacement.fault)),
            ("effacementsLeft", .array(state.effacement.left.map(\.json))),
        ]
    }

    private var lockName: String { state.lock == .beforeFirstUnlock ? "before-first-unlock" : lock }

    private var openClasses: [String] {
        ProtectionClass.allCases.filter(state.openClasses.contains).map(\.rawValue)
    }

    /// What `status` says beside what it says of the passcode and the classes.
    var statusMembers: [(String, JSONValue)] {
        [
            ("lock", .string(lockName)), ("recoveryCode", .bool(state.hasRecoveryCode)),
            ("failedAttempts", .integer(Int64(state.failedAttempts))),
            ("secondsToNextAttempt", .integer(Int64(state.secondsToNextAttempt))),
            ("opensByItself", .bool(state.opensByItself)), ("fingerUnlocks", .bool(state.fingerUnlocks)),
            ("fingerOpensNow", .bool(state.fingerOpens)),
        ] + state.lockPolicy.members + effacementMembers + counterMembers
    }

    /// "passcode" and ``statusMembers``, as helps name them.
    static let statusForm = """
        "passcode", "lock", "recoveryCode", "failedAttempts", "secondsToNextAttempt", "opensByItself", \
        "fingerUnlocks", "fingerOpensNow", "lockAfterSeconds", "locksOnSleep", "locksOnScreenLock", "effacement", \
        "effacementFault", "effacementsLeft": [{"tpm", "handle"}], "counter", \
        "counterFault", "countersLeft": [{"tpm", "handle"}]
        """
    /// The same of ``json``.
    static let jsonForm = "{\(statusForm), \"openClasses\"}"

    var json: JSONValue {
        .object([("passcode", .bool(state.hasPasscode))] + statusMembers + [("openClasses", .strings(openClasses))])
    }
}

extension TPMPlace {
    fileprivate var json: JSONValue {
        .object([("tpm", .string(address.description)), ("handle", .string(handleText))])
    }
}
