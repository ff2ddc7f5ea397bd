import Foundation
import KeychainAuthentication
import KeychainServices
import KeychainTesting
import Testing

/// LAContext and access control on a real engine, with the person of a test.
@Suite struct OnAKeychainTests {
    private static func item(_ account: String, _ more: [CFString: Any] = [:]) -> NSMutableDictionary {
        let item: NSMutableDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "auth" as NSString, kSecAttrAccount: account as NSString,
        ]
        for (key, value) in more { item[key] = value }
        return item
    }

    private static func control(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)!
    }

    private static func add(_ account: String, _ flags: SecAccessControlCreateFlags, in context: LAContext? = nil) -> OSStatus {
        let more: [CFString: Any] = [
            kSecAttrAccessControl: control(flags), kSecValueData: NSData(data: Data("secret".utf8)),
        ]
        let item = item(account, more)
        if let context { item[kSecUseAuthenticationContext] = context }
        return SecItemAdd(item, nil)
    }

    private static func read(
        _ account: String, in context: LAContext? = nil, _ more: [CFString: Any] = [:]
    ) -> (OSStatus, String?) {
        let query = item(account, more)
        query[kSecReturnData] = true as NSNumber
        if let context { query[kSecUseAuthenticationContext] = context }
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query, &result)
        return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
    }

    private func keychain() throws -> TestKeychain {
        let keychain = try TestKeychain()
        try keychain.setPasscode()
        return keychain
    }

    /// Programs decrypt all that they have in one context.
    @Test func aContextIsNotUsedUpWithinAnHour() async throws {
        let clock = TestClock()
        let keychain = try TestKeychain(clock: clock)
        try keychain.setPasscode()
        try await keychain.withScope { () async throws in
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            let context = LAContext()
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "once"))
            for _ in 0..<3000 { #expect(Self.read("a", in: context) == (errSecSuccess, "secret")) }
            clock.advance(by: .seconds(3599))
            #expect(Self.read("a", in: context) == (errSecSuccess, "secret"))
            #expect(keychain.prompts == ["once"])
            clock.advance(by: .seconds(1))
            #expect(Self.read("a", in: context) == (errSecSuccess, "secret"))
            #expect(keychain.prompts.count == 2)
        }
    }

    @Test func aPersonIsAskedForEachCallAndOnceForAContext() async throws {
        let keychain = try keychain()
        try await keychain.withScope { () async throws in
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            #expect(keychain.prompts.isEmpty)
            #expect(Self.read("a", [kSecUseOperationPrompt: "first" as NSString]) == (errSecSuccess, "secret"))
            #expect(Self.read("a") == (errSecSuccess, "secret"))
            #expect(keychain.prompts == ["first", ""])
            let context = LAContext()
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "once"))
            for _ in 0..<3 { #expect(Self.read("a", in: context) == (errSecSuccess, "secret")) }
            #expect(keychain.prompts == ["first", "", "once"])
            // Another context knows nothing of it.
            keychain.setAuthentication(.cancel)
            #expect(Self.read("a", in: LAContext()).0 == errSecUserCanceled)
            context.invalidate()
            #expect(Self.read("a", in: context).0 == errSecAuthFailed)
        }
    }

    @Test func whatThePersonDoesIsTheStatus() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("a", .devicePasscode) == errSecSuccess)
            keychain.addAuthentications([.cancel, .timeout, .failure, .nobodyThere])
            #expect(Self.read("a").0 == errSecUserCanceled)
            #expect(Self.read("a").0 == errSecUserCanceled)
            #expect(Self.read("a").0 == errSecAuthFailed)
            #expect(Self.read("a").0 == errSecInteractionNotAllowed)
            #expect(Self.read("a") == (errSecSuccess, "secret"))
        }
    }

    @Test func whereNobodyMayBeAskedNobodyIs() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            #expect(Self.read("a", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]).0 == errSecInteractionNotAllowed)
            #expect(Self.read("a", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]).0 == errSecItemNotFound)
            let context = LAContext()
            context.interactionNotAllowed = true
            #expect(Self.read("a", in: context).0 == errSecInteractionNotAllowed)
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test func updateNeedsAPersonAndDeleteDoesNot() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            let label: NSDictionary = [kSecAttrLabel: "new" as NSString]
            keychain.setAuthentication(.cancel)
            #expect(SecItemUpdate(Self.item("a"), label) == errSecUserCanceled)
            let value: NSDictionary = [kSecValueData: NSData(data: Data("other".utf8))]
            #expect(SecItemUpdate(Self.item("a"), value) == errSecUserCanceled)
            keychain.setAuthentication(.success)
            #expect(SecItemUpdate(Self.item("a"), value) == errSecSuccess)
            #expect(Self.read("a") == (errSecSuccess, "other"))
            keychain.setAuthentication(.cancel)
            #expect(SecItemDelete(Self.item("a")) == errSecSuccess)
        }
    }

    @Test func anApplicationPasswordIsNeededAndNoOtherOpens() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("a", .applicationPassword) == errSecAuthFailed)
            let right = LAContext()
            #expect(right.setCredential(Data("open sesame".utf8), type: .applicationPassword))
            #expect(Self.add("a", .applicationPassword, in: right) == errSecSuccess)
            #expect(Self.read("a", in: right) == (errSecSuccess, "secret"))
            let wrong = LAContext()
            #expect(wrong.setCredential(Data("open barley".utf8), type: .applicationPassword))
            #expect(Self.read("a", in: wrong).0 == errSecAuthFailed)
            #expect(Self.read("a").0 == errSecAuthFailed)
            // A wrong password is no damage: the right one still opens.
            let again = LAContext()
            #expect(again.setCredential(Data("open sesame".utf8), type: .applicationPassword))
            #expect(Self.read("a", in: again) == (errSecSuccess, "secret"))
            #expect(keychain.prompts.isEmpty)
        }
    }

    /// As for every other constraint: whoever only looks whether an item is there counts
    /// -25308 as "yes".
    @Test func withoutAnApplicationPasswordAndWithoutAskingAnItemNeedsInteraction() throws {
        let keychain = try keychain()
        keychain.withScope {
            let right = LAContext()
            #expect(right.setCredential(Data("open sesame".utf8), type: .applicationPassword))
            #expect(Self.add("a", .applicationPassword, in: right) == errSecSuccess)
            let forbidden = Self.item("a")
            forbidden[kSecUseAuthenticationUI] = kSecUseAuthenticationUIFail
            forbidden[kSecReturnData] = true
            #expect(SecItemCopyMatching(forbidden, nil) == errSecInteractionNotAllowed)
            forbidden[kSecReturnData] = nil
            #expect(SecItemUpdate(forbidden, [kSecAttrLabel: "l"] as NSDictionary) == errSecInteractionNotAllowed)
            let silent = LAContext()
            silent.interactionNotAllowed = true
            #expect(Self.read("a", in: silent).0 == errSecInteractionNotAllowed)
            // A wrong one is an answer, whoever may be asked.
            #expect(silent.setCredential(Data("open barley".utf8), type: .applicationPassword))
            #expect(Self.read("a", in: silent).0 == errSecAuthFailed)
            #expect(silent.setCredential(nil, type: .applicationPassword))
            #expect(Self.read("a", in: silent).0 == errSecInteractionNotAllowed)
            #expect(Self.read("a").0 == errSecAuthFailed)
        }
    }

    @Test func anApplicationPasswordBesideAPersonNeedsBoth() throws {
        let keychain = try keychain()
        keychain.withScope {
            let context = LAContext()
            #expect(context.setCredential(Data("open sesame".utf8), type: .applicationPassword))
            #expect(Self.add("a", [.applicationPassword, .userPresence], in: context) == errSecSuccess)
            keychain.addAuthentications([.cancel])
            #expect(Self.read("a", in: context).0 == errSecUserCanceled)
            #expect(Self.read("a", in: context) == (errSecSuccess, "secret"))
            #expect(Self.read("a").0 == errSecAuthFailed)
        }
    }

    @Test func biometryWhereThereIsAReader() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("any", .biometryAny) == errSecAuthFailed)
            #expect(Self.add("or", [.biometryAny, .or, .devicePasscode]) == errSecSuccess)
            #expect(Self.read("or") == (errSecSuccess, "secret"))
            keychain.enrolBiometry()
            #expect(Self.add("any", .biometryAny) == errSecSuccess)
            #expect(Self.add("set", .biometryCurrentSet) == errSecSuccess)
            #expect(Self.add("and", [.biometryAny, .and, .devicePasscode]) == errSecSuccess)
            #expect(Self.read("any").0 == errSecSuccess && Self.read("set").0 == errSecSuccess)
            #expect(Self.read("and") == (errSecSuccess, "secret"))
            // Another finger: what asks for any goes on, what asks for the set is over.
            keychain.enrolBiometry()
            #expect(Self.read("any") == (errSecSuccess, "secret"))
            #expect(Self.read("set").0 == errSecAuthFailed)
            keychain.removeBiometry()
            #expect(Self.read("any").0 == errSecAuthFailed)
            #expect(SecItemDelete(Self.item("any")) == errSecSuccess)
        }
    }

    @Test func contextsTellWhatCouldBeProved() throws {
        let keychain = try TestKeychain()
        try keychain.withScope { () throws in
            func refusal(_ policy: LAPolicy) -> Int? {
                var error: NSError?
                return unsafe LAContext().canEvaluatePolicy(policy, error: &error) ? nil : error?.code
            }
            #expect(refusal(.deviceOwnerAuthentication) == LAError.passcodeNotSet.rawValue)
            #expect(Self.add("a", .userPresence) == errSecAuthFailed)
            try keychain.setPasscode()
            #expect(refusal(.deviceOwnerAuthentication) == nil)
            #expect(refusal(.deviceOwnerAuthenticationWithBiometrics) == LAError.biometryNotAvailable.rawValue)
            keychain.unenrolBiometry()
            #expect(refusal(.deviceOwnerAuthenticationWithBiometrics) == LAError.biometryNotEnrolled.rawValue)
            keychain.enrolBiometry()
            #expect(refusal(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test func aLockTakesAwayWhatWasAgreedTo() async throws {
        let keychain = try keychain()
        try await keychain.withScope { () async throws in
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            let context = LAContext()
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "once"))
            try keychain.lock()
            #expect(Self.read("a", in: context).0 == errSecInteractionNotAllowed)
            try keychain.unlock()
            keychain.setAuthentication(.cancel)
            #expect(Self.read("a", in: context).0 == errSecUserCanceled)
        }
    }

    @Test func addingWhatIsThereAsksBeforeItSaysSo() throws {
        let keychain = try keychain()
        keychain.withScope {
            #expect(Self.add("a", .userPresence) == errSecSuccess)
            keychain.setAuthentication(.cancel)
            #expect(Self.add("a", .userPresence) == errSecUserCanceled)
            keychain.setAuthentication(.success)
            #expect(Self.add("a", .userPresence) == errSecDuplicateItem)
        }
    }
}
