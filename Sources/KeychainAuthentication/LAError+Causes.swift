internal import Foundation
internal import KeychainModel

extension LAError {
    /// What kind of agreement failed, where the same cause has two names.
    enum Wanted {
        case biometry
        case passcodeOrBiometry
    }

    /// The table of causes (COMPATIBILITY.md). Whatever is not the person's doing
    /// nor a state of the machine is `systemCancel`, the code that callers answer
    /// by trying again later.
    init(_ error: KeychainError, wanted: Wanted) {
        let code: Code =
            switch error.reason {
            case .userCanceled: .userCancel
            case .promptTimedOut: .systemCancel
            // Nobody is asked while the keychain is locked: that it is unlocked is not ours to wait for.
            case .interactionForbidden, .nobodyToAsk, .locked: .notInteractive
            case .authenticationFailed: .authenticationFailed
            // For biometry the caller's way out is the passcode. For the passcode
            // Apple has no code of its own: it says what the attempt before said.
            case .attemptsDelayed: wanted == .biometry ? .biometryLockout : .authenticationFailed
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockedOut: .biometryLockout
            case .contextInvalid: .invalidContext
            default: .systemCancel
            }
        self.init(code, explanation: error.reason.explanation, underlying: error)
    }

    init(_ code: Code, explanation: String, underlying: KeychainError? = nil) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: explanation]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        self.init(code, userInfo: info)
    }

    /// Without a name in ``LAError/Code``, as Apple's for a parameter that no call
    /// takes (seen with messages such as "Unknown policy: '4'").
    private static let parameter = -1001

    /// A mistake of the program. Apple's framework raises an exception, which Swift
    /// could not catch and Linux does not have.
    static func parameterError(_ explanation: String) -> NSError {
        NSError(domain: LAErrorDomain, code: parameter, userInfo: [NSLocalizedDescriptionKey: explanation])
    }
}
