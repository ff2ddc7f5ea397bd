public import Foundation

/// The longest time, in seconds, for which an unlocking by biometry counts again:
/// five minutes.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// ``LAPolicy/deviceOwnerAuthenticationWithBiometrics`` as a number.
public var kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 { 1 }
/// ``LAPolicy/deviceOwnerAuthentication`` as a number.
public var kLAPolicyDeviceOwnerAuthentication: Int32 { 2 }

/// ``LAError/Code/authenticationFailed`` as a number.
public var kLAErrorAuthenticationFailed: Int32 { -1 }
/// ``LAError/Code/userCancel`` as a number.
public var kLAErrorUserCancel: Int32 { -2 }
/// ``LAError/Code/userFallback`` as a number.
public var kLAErrorUserFallback: Int32 { -3 }
/// ``LAError/Code/systemCancel`` as a number.
public var kLAErrorSystemCancel: Int32 { -4 }
/// ``LAError/Code/passcodeNotSet`` as a number.
public var kLAErrorPasscodeNotSet: Int32 { -5 }
/// ``LAError/Code/biometryNotAvailable`` as a number, by its older name.
public var kLAErrorTouchIDNotAvailable: Int32 { -6 }
/// ``LAError/Code/biometryNotEnrolled`` as a number, by its older name.
public var kLAErrorTouchIDNotEnrolled: Int32 { -7 }
/// ``LAError/Code/biometryLockout`` as a number, by its older name.
public var kLAErrorTouchIDLockout: Int32 { -8 }
/// ``LAError/Code/biometryNotAvailable`` as a number.
public var kLAErrorBiometryNotAvailable: Int32 { -6 }
/// ``LAError/Code/biometryNotEnrolled`` as a number.
public var kLAErrorBiometryNotEnrolled: Int32 { -7 }
/// ``LAError/Code/biometryLockout`` as a number.
public var kLAErrorBiometryLockout: Int32 { -8 }
/// ``LAError/Code/appCancel`` as a number.
public var kLAErrorAppCancel: Int32 { -9 }
/// ``LAError/Code/invalidContext`` as a number.
public var kLAErrorInvalidContext: Int32 { -10 }
/// ``LAError/Code/companionNotAvailable`` as a number, by its older name.
public var kLAErrorWatchNotAvailable: Int32 { -11 }
/// ``LAError/Code/companionNotAvailable`` as a number.
public var kLAErrorCompanionNotAvailable: Int32 { -11 }
/// ``LAError/Code/biometryNotPaired`` as a number.
public var kLAErrorBiometryNotPaired: Int32 { -12 }
/// ``LAError/Code/biometryDisconnected`` as a number.
public var kLAErrorBiometryDisconnected: Int32 { -13 }
/// ``LAError/Code/invalidDimensions`` as a number.
public var kLAErrorInvalidDimensions: Int32 { -14 }
/// ``LAError/Code/notInteractive`` as a number.
public var kLAErrorNotInteractive: Int32 { -1004 }
