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
    /// Whoever follows the lock (`DeviceLock.changes()`, `ProtectedDataNotifier`) hears
    /// of it before, and is waited for, ten seconds at the most; the daemon waits two. The
    /// thread is blocked meanwhile: where the one who follows needs it, as on the main
    /// actor, that takes the ten seconds, and ``lockAndWait()`` is the one to call.
    ///
    /// - Throws: ``TestKeychainError``, errSecAuthFailed where there is no passcode: a
    ///   device without one is always open.
    public func lock() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.lock() }
    }

    /// As ``lock()``, and blocks no thread of Swift's: whoever follows the lock may be on the
    /// caller's actor.
    ///
    /// - Throws: ``TestKeychainError``, errSecAuthFailed where there is no passcode,
    ///   errSecNotAvailable where no thread can be started.
    public func lockAndWait() async throws(TestKeychainError) {
        let result: Result<Void, KeychainError> = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try BackgroundThread.start { [machine] in
                    continuation.resume(returning: Result { () throws(KeychainError) in try machine.lock() })
                }
            } catch {
                continuation.resume(
                    returning: .failure(
                        KeychainError(
                            .notAvailable, reason: .internalFault(what: "locking on another thread"),
                            underlying: "\(error)")))
            }
        }
        try TestKeychainError.translating { () throws(KeychainError) in try result.get() }
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

/// The person at the device.
extension TestKeychain {
    /// What a person does when asked to agree.
    public enum Authentication: Sendable, Hashable {
        /// Agrees, by finger where one is enrolled, else by passcode.
        case success
        /// A wrong passcode or finger: errSecAuthFailed.
        case failure
        /// Dismisses the prompt: errSecUserCanceled.
        case cancel
        /// Does not answer in time: errSecUserCanceled.
        case timeout
        /// There is no way to ask anybody: errSecInteractionNotAllowed.
        case nobodyThere
    }

    /// What the person does from now on, each time somebody asks. At first it is
    /// ``Authentication/success``.
    public func setAuthentication(_ authentication: Authentication) { machine.behaviour.set(authentication) }

    /// What the person does the next times, before what ``setAuthentication(_:)`` says
    /// counts again.
    public func addAuthentications(_ authentications: [Authentication]) { machine.behaviour.add(authentications) }

    /// The reasons that were shown in prompts so far (kSecUseOperationPrompt,
    /// LAContext.localizedReason), in order; empty where there was none.
    public var prompts: [String] { machine.behaviour.prompts }

    /// Gives the device a reader of fingers with one finger enrolled, or enrols another:
    /// items of kSecAccessControlBiometryCurrentSet that were stored before can then be
    /// used by nobody any more.
    public func enrolBiometry() { machine.finger.enrol() }

    /// Removes every finger, and leaves the reader.
    public func unenrolBiometry() { machine.finger.forget() }

    /// Takes the reader away.
    public func removeBiometry() { machine.finger.remove() }
}
