internal import KeychainProtocol

/// When a secret can be read, and who has to agree each time.
///
/// ```swift
/// try store.set(secret, for: address, protection: .guarded(by: .userPresence))
/// ```
///
/// It is the whole of an item's protection: an item that is stored with one has no other
/// beside it. The enclave binds the item's key to it and enforces it, so that a program that
/// writes into the database gains nothing (THREAT_MODEL.md). An item with an application
/// password is made by `SecItemAdd` alone, whose `LAContext` carries that.
///
/// Apple's counterparts: `kSecAttrAccessible`, and `kSecAttrAccessControl` with a
/// SecAccessControl.
public struct Protection: Sendable, Hashable {
    /// What a person shows each time before a guarded item is read or changed.
    ///
    /// What nobody on this machine could show (a finger without a reader, a passcode where
    /// none is set) is refused when the item is stored, with `errSecAuthFailed`.
    public enum Consent: Sendable, Hashable {
        /// A finger or the passcode (`.userPresence`).
        case userPresence
        /// The passcode (`.devicePasscode`).
        case devicePasscode
        /// A finger (`.biometryAny`, `.biometryCurrentSet`).
        case biometry(Enrolment)
        /// Both (`.and`).
        case biometryAndPasscode(Enrolment)
        /// Either (`.or`).
        case biometryOrPasscode(Enrolment)
    }

    /// Whose fingers count.
    public enum Enrolment: Sendable, Hashable {
        /// Of whoever is enrolled when the item is read (`.biometryAny`).
        case any
        /// Of those who were enrolled when it was stored (`.biometryCurrentSet`): once a
        /// finger is added or removed nobody reads it any more.
        case current
    }

    /// When the secret can be read at all.
    public let accessible: ProtectionClass
    /// Who agrees each time; nil: nobody is asked.
    public let consent: Consent?

    /// Nobody is asked.
    public static func unguarded(_ accessible: ProtectionClass = .whenUnlocked) -> Protection {
        Protection(accessible: accessible, consent: nil)
    }

    /// A person is asked each time. Removing the item asks nobody, as everywhere.
    ///
    /// - Parameters:
    ///   - consent: what they show.
    ///   - accessible: when they can be asked;
    ///     ``ProtectionClass/whenPasscodeSetThisDeviceOnly`` destroys the secret together
    ///     with the passcode.
    public static func guarded(
        by consent: Consent, accessible: ProtectionClass = .whenUnlocked
    ) -> Protection {
        Protection(accessible: accessible, consent: consent)
    }

    private init(accessible: ProtectionClass, consent: Consent?) {
        self.accessible = accessible
        self.consent = consent
    }
}

extension Protection {
    /// As an access control also where nobody is asked, so that it takes the place of one.
    var query: [(String, RawValue)] { [("accc", .accessControl(accessControl))] }

    private var accessControl: AccessControl {
        if let consent {
            AccessControl(protection: accessible.rawValue, reading: consent.constraint)
        } else {
            AccessControl(unconstrained: accessible)
        }
    }
}

extension Protection.Consent {
    fileprivate var constraint: AccessConstraint {
        switch self {
        case .userPresence: .deviceOwner
        case .devicePasscode: .passcode
        case .biometry(let enrolment): enrolment.constraint
        case .biometryAndPasscode(let enrolment): .atLeast(2, of: [.passcode, enrolment.constraint])
        case .biometryOrPasscode(let enrolment): .atLeast(1, of: [.passcode, enrolment.constraint])
        }
    }
}

extension Protection.Enrolment {
    fileprivate var constraint: AccessConstraint { .biometry(currentSet: self == .current) }
}
