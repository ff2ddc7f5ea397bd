internal import KeychainProtocol

/// What a person is asked to prove.
///
/// Apple's counterpart: the type of the same name, with its raw values.
public enum LAPolicy: Int, Hashable, Sendable {
    /// Biometry alone.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the passcode.
    case deviceOwnerAuthentication = 2
    /// A paired watch or phone. There is none: ``LAError/Code/companionNotAvailable``.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// Biometry, or a paired watch or phone; here biometry alone.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A watch on its wrist. There is none: ``LAError/Code/companionNotAvailable``.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }

    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

extension LAPolicy {
    /// What the keychain is asked for; nil: what a companion would have to do.
    var wanted: AuthenticationPolicy? {
        switch self {
        case .deviceOwnerAuthentication: .deviceOwner
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion: .biometry
        case .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithWristDetection: nil
        }
    }
}
