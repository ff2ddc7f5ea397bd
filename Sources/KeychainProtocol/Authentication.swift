package import KeychainModel
package import KeychainPlatform

/// What a person may be asked to prove, by itself (LAPolicy).
package enum AuthenticationPolicy: UInt8, Hashable, Sendable {
    /// Biometry or the passcode, as the owner of the device.
    case deviceOwner = 1
    /// Biometry alone.
    case biometry = 2
}

/// What an authentication is for.
package enum AuthenticationSubject: Hashable, Sendable {
    case policy(AuthenticationPolicy)
    /// What an access control asks before one of its operations, by its code
    /// ("od" decrypt, "osgn" sign ...; spec section 8).
    case accessControl(AccessControl, operation: String)
}

/// One request that a person agree.
package struct AuthenticationDemand: Hashable, Sendable {
    package let subject: AuthenticationSubject
    /// The program's own words (LAContext.localizedReason, kSecUseOperationPrompt);
    /// shown as a quotation, never as ours.
    package let reason: String
    /// false: answer at once with `errSecInteractionNotAllowed` where somebody
    /// would have to be asked.
    package let mayAsk: Bool
    /// How old an unlocking by biometry may be to count for this, in seconds.
    package let reuse: Duration

    package init(_ subject: AuthenticationSubject, reason: String, mayAsk: Bool = true, reuse: Duration = .zero) {
        self.subject = subject
        self.reason = reason
        self.mayAsk = mayAsk
        self.reuse = reuse
    }
}

/// A source of biometry as it is now.
package struct BiometryState: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case fingerprint = 1
        case face = 2
    }

    package let kind: Kind
    package let isEnrolled: Bool
    package let isLockedOut: Bool
    /// Changes whenever a finger or face is enrolled or removed; empty where that
    /// cannot be told.
    package let enrolment: [UInt8]

    package init(kind: Kind, isEnrolled: Bool, isLockedOut: Bool = false, enrolment: [UInt8]) {
        self.kind = kind
        self.isEnrolled = isEnrolled
        self.isLockedOut = isLockedOut
        self.enrolment = enrolment
    }

    /// The same, where no finger counts for the moment, or does again.
    package func lockedOut(_ isLockedOut: Bool) -> BiometryState {
        BiometryState(kind: kind, isEnrolled: isEnrolled, isLockedOut: isLockedOut, enrolment: enrolment)
    }
}

/// By what a person could agree now.
package struct AuthenticationMeans: Hashable, Sendable {
    package var hasPasscode: Bool
    /// nil: there is no source of biometry.
    package var biometry: BiometryState?

    package init(hasPasscode: Bool, biometry: BiometryState? = nil) {
        self.hasPasscode = hasPasscode
        self.biometry = biometry
    }
}

extension AuthenticationMeans {
    /// Everything that a person could prove now.
    package var provable: ProvedFactors {
        let usable = biometry.flatMap { $0.isEnrolled && !$0.isLockedOut ? $0 : nil }
        return ProvedFactors(passcode: hasPasscode, biometry: hasPasscode ? usable?.enrolment : nil)
    }

    /// Why nothing that a person could prove now would meet a constraint; nil: it can
    /// be met.
    package func obstacle(to constraint: AccessConstraint) -> Reason? {
        guard !constraint.isMet(by: provable) else { return nil }
        switch constraint {
        case .passcode, .deviceOwner: return .passcodeNotSet
        case .biometry, .enrolledBiometry:
            guard hasPasscode else { return .passcodeNotSet }
            guard let biometry else { return .biometryNotAvailable }
            guard biometry.isEnrolled else { return .biometryNotEnrolled }
            return biometry.isLockedOut ? .biometryLockedOut : .authenticationFailed
        case .atLeast(_, let elements):
            return elements.compactMap(obstacle).first ?? .authenticationFailed
        case .watch: return .biometryNotAvailable
        case .allowed, .denied, .unsupported: return .authenticationFailed
        }
    }
}

/// One LAContext at the keychain: what a person agreed to in it counts for calls
/// that are made through it, and for no others.
///
/// Safe for any number of threads; calls wait for each other.
package protocol AuthenticationSession: AnyObject, Sendable {
    /// Asks nobody.
    ///
    /// - Throws: `errSecNotAvailable`; `errSecAuthFailed`, reason `contextInvalid`.
    func means() throws(KeychainError) -> AuthenticationMeans

    /// Has a person agree, unless one did before in this session. Waits for the
    /// person, 60 s at the most.
    ///
    /// - Throws: `errSecUserCanceled` (`userCanceled`, `promptTimedOut`);
    ///   `errSecInteractionNotAllowed` (`interactionForbidden`, `nobodyToAsk`);
    ///   `errSecAuthFailed` (`authenticationFailed`, `attemptsDelayed`,
    ///   `passcodeNotSet`, `biometryNotAvailable`, `biometryNotEnrolled`,
    ///   `biometryLockedOut`, `contextInvalid`).
    func evaluate(_ demand: AuthenticationDemand) throws(KeychainError)

    /// The application password of items that ask for one; nil takes it back.
    func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError)

    /// A call of the keychain with what was agreed to and set here
    /// (kSecUseAuthenticationContext).
    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer

    /// Nothing that was agreed to counts any more, and a prompt that is open goes
    /// away. Every later call throws `contextInvalid`.
    func end()
}
