/// Who has to agree before an item is used (SecAccessControl): a protection tag
/// and a constraint for each operation (spec section 8).
package struct AccessControl: Hashable, Sendable {
    /// The protection: one of ``ProtectionClass``'s tags, or "f" (until reboot,
    /// for token keys only).
    package let protection: String
    /// Constraint by operation code ("od" decrypt, "oe" encrypt, "odel" delete,
    /// "osgn" sign, "ock" compute key, "oa" attest, "odef" any other).
    package let constraints: [String: AccessConstraint]
    package let requiresApplicationPassword: Bool

    package init(protection: String, constraints: [String: AccessConstraint], requiresApplicationPassword: Bool) {
        self.protection = protection
        self.constraints = constraints
        self.requiresApplicationPassword = requiresApplicationPassword
    }

    /// What a plain kSecAttrAccessible means, as an object: no constraint at all.
    package init(unconstrained protection: ProtectionClass) {
        self.init(protection: protection.rawValue, constraints: [:], requiresApplicationPassword: false)
    }

    /// What has to be met before the value is read; whoever may call may store and delete.
    package init(protection: String, reading constraint: AccessConstraint, requiresApplicationPassword: Bool = false) {
        self.init(
            protection: protection, constraints: ["od": constraint, "oe": .allowed, "odel": .allowed],
            requiresApplicationPassword: requiresApplicationPassword)
    }

    /// What has to be met before an operation, by its code. What an object does not
    /// name is what it says of any other operation; of decryption what it says of
    /// signing (an object for keys names no decryption).
    package func constraint(for operation: String) -> AccessConstraint {
        if let named = constraints[operation] ?? constraints["odef"] { return named }
        if operation == "od", let signing = constraints["osgn"] { return signing }
        // What cannot be used any more can still be deleted.
        return constraints.isEmpty || operation == "odel" ? .allowed : .denied
    }

    /// With biometry that has to be as it is now bound to what is enrolled now.
    package func bound(to enrolment: [UInt8]) -> AccessControl {
        AccessControl(
            protection: protection, constraints: constraints.mapValues { $0.bound(to: enrolment) },
            requiresApplicationPassword: requiresApplicationPassword)
    }

    /// Whether nobody has to be asked for anything, ever.
    package var isUnconstrained: Bool {
        !requiresApplicationPassword && constraints.values.allSatisfy { $0 == .allowed }
    }
}

/// What must be true before an operation; anything unknown denies.
package indirect enum AccessConstraint: Hashable, Sendable {
    case allowed
    case denied
    /// Biometry or passcode, as the device's owner (kSecAccessControlUserPresence).
    case deviceOwner
    case passcode
    case biometry(currentSet: Bool)
    /// Biometry as it was enrolled when the item was stored, by its digest.
    case enrolledBiometry([UInt8])
    case watch
    case atLeast(Int, of: [AccessConstraint])
    case unsupported
}

/// What a person has proved.
package struct ProvedFactors: Hashable, Sendable {
    package var passcode = false
    /// The digest of the enrolled set by which biometry succeeded, empty where that
    /// cannot be told; nil: it did not.
    package var biometry: [UInt8]?

    package init(passcode: Bool = false, biometry: [UInt8]? = nil) {
        self.passcode = passcode
        self.biometry = biometry
    }
}

extension AccessConstraint {
    /// Whether what was proved is enough. What nobody here can prove denies.
    package func isMet(by proved: ProvedFactors) -> Bool {
        switch self {
        case .allowed: true
        case .deviceOwner: proved.passcode || proved.biometry != nil
        case .passcode: proved.passcode
        case .biometry(currentSet: false): proved.biometry != nil
        case .enrolledBiometry(let enrolment): !enrolment.isEmpty && proved.biometry == enrolment
        // A current set that was never bound to one, a watch, what a newer program wrote.
        case .denied, .biometry(currentSet: true), .watch, .unsupported: false
        case .atLeast(let needed, let elements):
            needed > 0 && elements.count { $0.isMet(by: proved) } >= needed
        }
    }

    /// Of no kind that this program knows, or made of such.
    package var isUnsupported: Bool {
        switch self {
        case .unsupported: true
        case .atLeast(_, let elements): elements.contains(where: \.isUnsupported)
        default: false
        }
    }

    fileprivate func bound(to enrolment: [UInt8]) -> AccessConstraint {
        switch self {
        // What cannot be told apart is bound to nothing, and denies.
        case .biometry(currentSet: true) where !enrolment.isEmpty: .enrolledBiometry(enrolment)
        case .atLeast(let needed, let elements): .atLeast(needed, of: elements.map { $0.bound(to: enrolment) })
        default: self
        }
    }
}

/// kSecAccessControl… bits (spec section 8).
package struct AccessControlFlags: OptionSet, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let userPresence = AccessControlFlags(rawValue: 1 << 0)
    package static let biometryAny = AccessControlFlags(rawValue: 1 << 1)
    package static let biometryCurrentSet = AccessControlFlags(rawValue: 1 << 3)
    package static let devicePasscode = AccessControlFlags(rawValue: 1 << 4)
    package static let companion = AccessControlFlags(rawValue: 1 << 5)
    package static let or = AccessControlFlags(rawValue: 1 << 14)
    package static let and = AccessControlFlags(rawValue: 1 << 15)
    package static let privateKeyUsage = AccessControlFlags(rawValue: 1 << 30)
    package static let applicationPassword = AccessControlFlags(rawValue: 1 << 31)

    static let known: AccessControlFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]
}

extension AccessControl {
    /// What SecAccessControlCreateWithFlags makes; nil is errSecParam: an unknown
    /// protection or bit, Or with And, both kinds of biometry, or user presence
    /// beside anything but an application password and private-key usage.
    package init?(protection: String, flags: AccessControlFlags) {
        guard protection == "f" || ProtectionClass(rawValue: protection) != nil,
            flags.isSubset(of: .known),
            !flags.isSuperset(of: [.or, .and]),
            !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]),
            !flags.contains(.userPresence)
                || flags.isSubset(of: [.userPresence, .applicationPassword, .privateKeyUsage])
        else { return nil }
        let constraint = Self.constraint(of: flags)
        let requiresPassword = flags.contains(.applicationPassword)
        if let constraint, !flags.contains(.privateKeyUsage) {
            self.init(
                protection: protection, reading: constraint, requiresApplicationPassword: requiresPassword)
            return
        }
        var constraints: [String: AccessConstraint] = [:]
        if flags.contains(.privateKeyUsage) {
            // Sign, compute-key, KEM decapsulation as constrained; attest, delete always.
            for operation in ["osgn", "ock", "okd"] { constraints[operation] = constraint ?? .allowed }
            for operation in ["oa", "odel"] { constraints[operation] = .allowed }
        } else {
            constraints = ["odef": .allowed]
        }
        self.init(
            protection: protection, constraints: constraints, requiresApplicationPassword: requiresPassword)
    }

    private static func constraint(of flags: AccessControlFlags) -> AccessConstraint? {
        if flags.contains(.userPresence) { return .deviceOwner }
        var elements: [AccessConstraint] = []
        if flags.contains(.devicePasscode) { elements.append(.passcode) }
        if flags.contains(.biometryAny) { elements.append(.biometry(currentSet: false)) }
        if flags.contains(.biometryCurrentSet) { elements.append(.biometry(currentSet: true)) }
        if flags.contains(.companion) { elements.append(.watch) }
        guard elements.count > 1 else { return elements.first }
        return .atLeast(flags.contains(.or) ? 1 : elements.count, of: elements)
    }
}
