internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The state of the device on which the test runs.
///
/// A new test keychain has no passcode and is always open, as a new device.
extension TestKeychain {
    /// Sets the device's passcode, or changes it where there is one.
    ///
    /// What is stored stays; items of the class
    /// kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly can be stored from now on.
    ///
    /// - Parameter passcode: at least four bytes.
    /// - Throws: ``TestKeychainError``: errSecParam for a passcode that is too short,
    ///   errSecAuthFailed while the device is locked before its first unlock.
    public func setPasscode(_ passcode: String = "0000") throws(TestKeychainError) {
        let secret = SharedSecret(SecretBytes(copying: Array(passcode.utf8)))
        try TestKeychainError.translating { () throws(KeychainError) in try machine.setPasscode(secret) }
    }

    /// Removes the passcode: what was stored for as long as one is set is destroyed,
    /// everything else is open.
    ///
    /// - Throws: ``TestKeychainError``, errSecAuthFailed where there is none.
    public func removePasscode() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.removePasscode() }
    }

    /// Locks the device: items of the WhenUnlocked classes answer
    /// errSecInteractionNotAllowed from now on.
    ///
    /// - Throws: ``TestKeychainError``, errSecAuthFailed where there is no passcode: a
    ///   device without one is always open.
    public func lock() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.lock() }
    }

    /// Unlocks the device with its passcode.
    ///
    /// - Throws: ``TestKeychainError``, errSecAuthFailed where there is no passcode.
    public func unlock() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.unlock() }
    }

    /// Starts the device anew: with a passcode it is locked, and items of the
    /// AfterFirstUnlock classes answer errSecInteractionNotAllowed as well until
    /// ``unlock()``.
    ///
    /// - Throws: ``TestKeychainError`` where the keychain is closed.
    public func restartDevice() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.restartDevice() }
    }

    /// Whether items of the WhenUnlocked classes can be used now.
    public var isUnlocked: Bool { machine.device.lock == .unlocked }

    /// Whether the device has a passcode.
    public var hasPasscode: Bool { machine.device.hasPasscode }
}
