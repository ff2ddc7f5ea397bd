public import Foundation

/// The domain of every error of this module.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why a person did not agree, or could not be asked.
///
/// `catch LAError.userCancel`, `catch let error as LAError`, `error as? LAError`,
/// `catch let error as NSError` and `(error as NSError).code` all see the same
/// error, as on Apple's systems.
///
/// Apple's counterpart: the type of the same name, `LAError.h`.
public struct LAError: _BridgedStoredNSError, Sendable {
    /// The error as an object: domain ``LAErrorDomain``, the code's raw value.
    /// `NSUnderlyingErrorKey` holds the keychain's own error, where there is one.
    public let _nsError: NSError

    /// The error that this object is.
    public init(_nsError: NSError) { self._nsError = _nsError }

    /// ``LAErrorDomain``.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }

    /// What happened. ``Code/authenticationFailed`` for a number without a name.
    public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }
}

extension LAError {
    /// The numbers, which are Apple's (`LAPublicDefines.h`).
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The type of errors with these codes.
        public typealias _ErrorType = LAError

        /// What the person brought is not right, or too many attempts failed.
        case authenticationFailed = -1
        /// The person dismissed the prompt.
        case userCancel = -2
        /// The person chose another way. Never answered here: the prompt offers
        /// the passcode by itself.
        case userFallback = -3
        /// The prompt went away, nobody answered it within 60 s, or the keychain
        /// cannot be reached; trying again may help.
        case systemCancel = -4
        /// There is no passcode (`latchkey passcode set`).
        case passcodeNotSet = -5
        /// There is no source of biometry.
        case biometryNotAvailable = -6
        /// The source of biometry knows no person.
        case biometryNotEnrolled = -7
        /// Too many attempts with biometry failed; the passcode still counts.
        case biometryLockout = -8
        /// The program ended the prompt, by ``LAContext/invalidate()``.
        case appCancel = -9
        /// The context was invalidated before.
        case invalidContext = -10
        /// No watch or phone is nearby; there never is one here.
        case companionNotAvailable = -11
        /// A source of biometry was removed and not paired again. Never answered.
        case biometryNotPaired = -12
        /// A source of biometry is not connected. Never answered.
        case biometryDisconnected = -13
        /// A view is too small for its content. Never answered: there are no views.
        case invalidDimensions = -14
        /// Somebody would have to be asked, and that is forbidden
        /// (``LAContext/interactionNotAllowed``) or there is no way to ask.
        case notInteractive = -1004

        /// The older name of ``companionNotAvailable``.
        public static var watchNotAvailable: Code { .companionNotAvailable }
        /// The older name of ``biometryNotAvailable``.
        @available(*, deprecated, renamed: "biometryNotAvailable")
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// The older name of ``biometryNotEnrolled``.
        @available(*, deprecated, renamed: "biometryNotEnrolled")
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// The older name of ``biometryLockout``.
        @available(*, deprecated, renamed: "biometryLockout")
        public static var touchIDLockout: Code { .biometryLockout }
    }
}

// For `catch LAError.userCancel`.
extension LAError {
    /// See ``Code/authenticationFailed``.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// See ``Code/userCancel``.
    public static var userCancel: Code { .userCancel }
    /// See ``Code/userFallback``.
    public static var userFallback: Code { .userFallback }
    /// See ``Code/systemCancel``.
    public static var systemCancel: Code { .systemCancel }
    /// See ``Code/passcodeNotSet``.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// See ``Code/biometryNotAvailable``.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// See ``Code/biometryNotEnrolled``.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// See ``Code/biometryLockout``.
    public static var biometryLockout: Code { .biometryLockout }
    /// See ``Code/appCancel``.
    public static var appCancel: Code { .appCancel }
    /// See ``Code/invalidContext``.
    public static var invalidContext: Code { .invalidContext }
    /// See ``Code/companionNotAvailable``.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/companionNotAvailable``.
    public static var watchNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/biometryNotPaired``.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// See ``Code/biometryDisconnected``.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// See ``Code/invalidDimensions``.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// See ``Code/notInteractive``.
    public static var notInteractive: Code { .notInteractive }
    /// The older name of ``biometryNotAvailable``.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// The older name of ``biometryNotEnrolled``.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// The older name of ``biometryLockout``.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }
}
