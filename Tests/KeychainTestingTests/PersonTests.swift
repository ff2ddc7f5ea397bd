import Foundation
import KeychainServices
import KeychainTesting
import Testing

/// What a test can have its person do, judged by what items answer that ask for one.
@Suite struct PersonTests {
    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain()
        try keychain.setPasscode()
    }

    private static func control(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    }

    private func add(_ account: String, _ flags: SecAccessControlCreateFlags) throws -> OSStatus {
        let control = try #require(Self.control(flags))
        return keychain.withScope {
            let item = Passwords.query(account).mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
            item[kSecAttrAccessControl] = control
            item[kSecValueData] = NSData(data: Data("secret".utf8))
            return SecItemAdd(item, nil)
        }
    }

    private func read(_ account: String, reason: String = "") -> OSStatus {
        keychain.withScope {
            let query = Passwords.query(account).mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
            query[kSecReturnData] = kCFBooleanTrue
            if !reason.isEmpty { query[kSecUseOperationPrompt] = reason as NSString }
            var result: CFTypeRef?
            let status = unsafe SecItemCopyMatching(query, &result)
            #expect((status == errSecSuccess) == (result != nil))
            return status
        }
    }

    @Test func atFirstThePersonAgrees() throws {
        #expect(try add("a", .userPresence) == errSecSuccess)
        #expect(keychain.prompts.isEmpty)
        #expect(read("a", reason: "to sign in") == errSecSuccess)
        #expect(keychain.prompts == ["to sign in"])
    }

    @Test(
        arguments: [
            (.success, errSecSuccess), (.failure, errSecAuthFailed), (.cancel, errSecUserCanceled),
            (.timeout, errSecUserCanceled), (.nobodyThere, errSecInteractionNotAllowed),
        ] as [(TestKeychain.Authentication, OSStatus)])
    func whatThePersonDoesIsTheStatusFromThenOn(_ authentication: TestKeychain.Authentication, _ status: OSStatus)
        throws
    {
        #expect(try add("a", .userPresence) == errSecSuccess)
        keychain.setAuthentication(authentication)
        #expect(read("a") == status)
        #expect(read("a") == status)
        // Of each the person was asked, and afterwards the item is as it was.
        #expect(keychain.prompts.count == 2)
        keychain.setAuthentication(.success)
        #expect(read("a") == errSecSuccess)
    }

    @Test func whatComesNextComesInOrderAndOnce() throws {
        #expect(try add("a", .userPresence) == errSecSuccess)
        keychain.setAuthentication(.cancel)
        keychain.addAuthentications([.failure, .success])
        keychain.addAuthentications([.nobodyThere])
        #expect(read("a") == errSecAuthFailed)
        #expect(read("a") == errSecSuccess)
        #expect(read("a") == errSecInteractionNotAllowed)
        #expect(read("a") == errSecUserCanceled)
        #expect(read("a") == errSecUserCanceled)
    }

    @Test func nobodyIsAskedForAnOrdinaryItem() {
        keychain.addAuthentications([.cancel])
        keychain.withScope { #expect(Passwords.add("a") == errSecSuccess) }
        #expect(read("a", reason: "not needed") == errSecSuccess)
        #expect(keychain.prompts.isEmpty)
    }

    @Test func thePersonKnowsAChangedPasscode() throws {
        #expect(try add("a", .devicePasscode) == errSecSuccess)
        try keychain.setPasscode("another one")
        #expect(read("a") == errSecSuccess)
        try keychain.removePasscode()
        #expect(read("a") == errSecAuthFailed)
    }

    @Test func aLockedDeviceAsksNobody() throws {
        #expect(try add("a", .userPresence) == errSecSuccess)
        try keychain.lock()
        #expect(read("a") == errSecInteractionNotAllowed)
        #expect(keychain.prompts.isEmpty)
        try keychain.unlock()
        #expect(read("a") == errSecSuccess)
    }

    // MARK: Biometry

    @Test func aReaderLetsItemsAskForAFinger() throws {
        #expect(try add("a", .biometryAny) == errSecAuthFailed)
        keychain.enrolBiometry()
        #expect(try add("a", .biometryAny) == errSecSuccess)
        #expect(read("a") == errSecSuccess)
        keychain.setAuthentication(.cancel)
        #expect(read("a") == errSecUserCanceled)
    }

    @Test func anotherEnrolmentEndsItemsOfTheCurrentSet() throws {
        keychain.enrolBiometry()
        #expect(try add("any", .biometryAny) == errSecSuccess)
        #expect(try add("set", .biometryCurrentSet) == errSecSuccess)
        #expect(read("any") == errSecSuccess && read("set") == errSecSuccess)
        keychain.enrolBiometry()
        #expect(read("any") == errSecSuccess && read("set") == errSecAuthFailed)
        // For good; and a new one is of the new set.
        #expect(keychain.withScope { SecItemDelete(Passwords.query("set")) } == errSecSuccess)
        #expect(try add("set", .biometryCurrentSet) == errSecSuccess)
        #expect(read("set") == errSecSuccess)
    }

    @Test func withoutAFingerThePasscodeIsTheOtherWay() throws {
        keychain.enrolBiometry()
        #expect(try add("any", .biometryAny) == errSecSuccess)
        #expect(try add("or", [.biometryAny, .or, .devicePasscode]) == errSecSuccess)
        keychain.unenrolBiometry()
        #expect(read("any") == errSecAuthFailed)
        #expect(read("or") == errSecSuccess)
    }

    @Test func aReaderThatIsGoneCanBeComeBackTo() throws {
        keychain.enrolBiometry()
        #expect(try add("any", .biometryAny) == errSecSuccess)
        keychain.removeBiometry()
        #expect(read("any") == errSecAuthFailed)
        #expect(try add("other", .biometryAny) == errSecAuthFailed)
        keychain.enrolBiometry()
        #expect(read("any") == errSecSuccess)
    }
}
