import Foundation
import KeychainServices
import KeychainTesting
import Testing

/// What a test can do to the device on which it runs. Each call is judged by what the
/// items answer before and after it.
@Suite struct DeviceTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    /// The statuses of items of each kind of class.
    private struct Reads: Equatable {
        var whenUnlocked: OSStatus
        var afterFirstUnlock: OSStatus
        var always: OSStatus

        static let open = Reads(
            whenUnlocked: errSecSuccess, afterFirstUnlock: errSecSuccess, always: errSecSuccess)
        static let locked = Reads(
            whenUnlocked: errSecInteractionNotAllowed, afterFirstUnlock: errSecSuccess, always: errSecSuccess)
        static let beforeFirstUnlock = Reads(
            whenUnlocked: errSecInteractionNotAllowed, afterFirstUnlock: errSecInteractionNotAllowed,
            always: errSecSuccess)
    }

    private func addOneOfEach() {
        keychain.withScope {
            #expect(Passwords.add("ak", accessible: kSecAttrAccessibleWhenUnlocked) == errSecSuccess)
            #expect(Passwords.add("ck", accessible: kSecAttrAccessibleAfterFirstUnlock) == errSecSuccess)
            #expect(Passwords.add("dk", accessible: kSecAttrAccessibleAlwaysThisDeviceOnly) == errSecSuccess)
        }
    }

    private var reads: Reads {
        keychain.withScope {
            Reads(
                whenUnlocked: Passwords.status("ak"), afterFirstUnlock: Passwords.status("ck"),
                always: Passwords.status("dk"))
        }
    }

    private func addKeptWithThePasscode() -> OSStatus {
        keychain.withScope { Passwords.add("akpu", accessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly) }
    }

    private func status(of body: () throws -> Void) -> OSStatus {
        do {
            try body()
            return errSecSuccess
        } catch let error as TestKeychainError { return error.status } catch { return errSecInternalComponent }
    }

    @Test func aNewDeviceHasNoPasscodeAndIsOpen() {
        addOneOfEach()
        #expect(!keychain.hasPasscode && keychain.isUnlocked && reads == .open)
        #expect(addKeptWithThePasscode() == errSecAuthFailed)
    }

    @Test func aPasscodeLetsItemsBeKeptWithIt() throws {
        try keychain.setPasscode()
        #expect(keychain.hasPasscode && keychain.isUnlocked)
        #expect(addKeptWithThePasscode() == errSecSuccess)
        #expect(keychain.withScope { Passwords.value("akpu") } == "secret")
    }

    @Test func aPasscodeHasFourBytes() {
        #expect(status { try keychain.setPasscode("123") } == errSecParam)
        #expect(!keychain.hasPasscode)
        #expect(addKeptWithThePasscode() == errSecAuthFailed)
    }

    /// Changed, not removed and set: what is kept with it stays.
    @Test func changingThePasscodeKeepsEverything() throws {
        addOneOfEach()
        try keychain.setPasscode("1111")
        #expect(addKeptWithThePasscode() == errSecSuccess)
        try keychain.setPasscode("2222")
        #expect(keychain.withScope { Passwords.status("akpu") } == errSecSuccess && reads == .open)
        // The person of the test knows the new one.
        try keychain.lock()
        try keychain.unlock()
        #expect(reads == .open)
        #expect(status { try keychain.setPasscode("333") } == errSecParam)
        try keychain.lock()
        try keychain.unlock()
        #expect(reads == .open)
    }

    @Test func removingThePasscodeDestroysWhatIsKeptWithIt() throws {
        addOneOfEach()
        try keychain.setPasscode()
        #expect(addKeptWithThePasscode() == errSecSuccess)
        try keychain.removePasscode()
        #expect(!keychain.hasPasscode && keychain.isUnlocked && reads == .open)
        #expect(keychain.withScope { Passwords.status("akpu") } == errSecItemNotFound)
        // Another passcode does not bring it back.
        try keychain.setPasscode()
        #expect(keychain.withScope { Passwords.status("akpu") } == errSecItemNotFound)
        #expect(addKeptWithThePasscode() == errSecSuccess)
    }

    @Test func lockingClosesWhatIsOpenWhileUnlocked() throws {
        addOneOfEach()
        try keychain.setPasscode()
        #expect(addKeptWithThePasscode() == errSecSuccess)
        try keychain.lock()
        #expect(!keychain.isUnlocked && keychain.hasPasscode && reads == .locked)
        keychain.withScope {
            #expect(Passwords.status("akpu") == errSecInteractionNotAllowed)
            #expect(Passwords.add("new", accessible: kSecAttrAccessibleWhenUnlocked) == errSecInteractionNotAllowed)
            #expect(Passwords.add("new", accessible: kSecAttrAccessibleAfterFirstUnlock) == errSecSuccess)
            #expect(SecItemDelete(Passwords.query("ak")) == errSecSuccess)
        }
    }

    @Test func unlockingOpensItAgain() throws {
        addOneOfEach()
        try keychain.setPasscode()
        try keychain.lock()
        try keychain.unlock()
        #expect(keychain.isUnlocked && reads == .open)
        #expect(keychain.withScope { Passwords.value("ak") } == "secret")
        try keychain.restartDevice()
        try keychain.unlock()
        #expect(keychain.isUnlocked && reads == .open)
    }

    @Test func aDeviceThatStartsAnewIsLockedFurther() throws {
        addOneOfEach()
        try keychain.setPasscode()
        try keychain.restartDevice()
        #expect(!keychain.isUnlocked && reads == .beforeFirstUnlock)
        // Locking does not count as having been unlocked.
        try keychain.lock()
        #expect(reads == .beforeFirstUnlock)
        try keychain.unlock()
        try keychain.lock()
        #expect(reads == .locked)
    }

    @Test func withoutAPasscodeNothingCloses() throws {
        addOneOfEach()
        try keychain.restartDevice()
        #expect(keychain.isUnlocked && reads == .open)
        #expect(status { try keychain.lock() } == errSecAuthFailed)
        #expect(status { try keychain.unlock() } == errSecAuthFailed)
        #expect(status { try keychain.removePasscode() } == errSecAuthFailed)
        #expect(keychain.isUnlocked && reads == .open)
    }

    /// ``TestKeychain/restart()`` is the keychain's programs', the keys outlive it.
    @Test func theKeychainsOwnRestartLeavesTheLockAlone() throws {
        addOneOfEach()
        try keychain.setPasscode()
        try keychain.restart()
        #expect(keychain.isUnlocked && reads == .open)
        try keychain.lock()
        try keychain.restart()
        #expect(!keychain.isUnlocked && reads == .locked)
        try keychain.unlock()
        #expect(reads == .open)
    }

    @Test func anotherProgramMeetsTheSameLock() throws {
        let app = TestEntitlements(keychainAccessGroups: ["TEAM.shared"])
        let keychain = try TestKeychain(entitlements: app)
        try keychain.setPasscode()
        #expect(keychain.withScope { Passwords.add("a", accessible: kSecAttrAccessibleWhenUnlocked) } == errSecSuccess)
        try keychain.lock()
        let widget = TestEntitlements(keychainAccessGroups: ["TEAM.shared"])
        #expect(keychain.withScope(as: widget) { Passwords.status("a") } == errSecInteractionNotAllowed)
    }

    @Test func aKeychainThatIsClosedSaysSo() throws {
        try keychain.setPasscode()
        keychain.close()
        #expect(status { try keychain.restartDevice() } == errSecNotAvailable)
        #expect(status { try keychain.lock() } == errSecNotAvailable)
    }
}
