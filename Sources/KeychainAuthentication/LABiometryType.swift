internal import KeychainProtocol

/// By what a person is recognized.
///
/// Apple's counterpart: the type of the same name, with its raw values.
public enum LABiometryType: Int, Hashable, Sendable {
    /// There is no source of biometry.
    case none = 0
    /// A finger.
    case touchID = 1
    /// A face.
    case faceID = 2
    /// An iris. Never found here.
    case opticID = 4

    /// The older name of ``none``.
    @available(*, deprecated, renamed: "none")
    public static var LABiometryNone: LABiometryType { .none }

    init(_ biometry: BiometryState?) {
        self =
            switch biometry?.kind {
            case .fingerprint: .touchID
            case .face: .faceID
            case nil: .none
            }
    }
}
