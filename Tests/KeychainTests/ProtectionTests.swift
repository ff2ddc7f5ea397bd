import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Testing

@Suite struct ProtectionTests {
    private let keychain: TestKeychain
    private let mail = ItemAddress.password(service: "mail", account: "alice")
    private let forbidden = KeychainError(.interactionNotAllowed, reason: .interactionForbidden)

    init() throws {
        keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["one", "two"]))
        try keychain.setPasscode()
    }

    static let consents: [(Protection.Consent, SecAccessControlCreateFlags)] = [
        (.userPresence, .userPresence), (.devicePasscode, .devicePasscode), (.biometry(.any), .biometryAny),
        (.biometry(.current), .biometryCurrentSet), (.biometryAndPasscode(.any), [.biometryAny, .devicePasscode]),
        (.biometryAndPasscode(.current), [.biometryCurrentSet, .devicePasscode, .and]),
        (.biometryOrPasscode(.any), [.biometryAny, .devicePasscode, .or]),
        (.biometryOrPasscode(.current), [.biometryCurrentSet, .devicePasscode, .or]),
    ]

    /// The access control of the item at `mail`, as the C-shaped interface gives it.
    private func accessControl() -> SecAccessControl? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "alice",
            kSecReturnAttributes: true,
        ]
        var found: CFTypeRef?
        guard unsafe SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
        return (found as? [CFString: Any])?[kSecAttrAccessControl] as? SecAccessControl
    }

    @Test(arguments: consents)
    func eachConsentIsTheAccessControlOfItsFlags(
        consent: Protection.Consent, flags: SecAccessControlCreateFlags
    ) throws {
        keychain.enrolBiometry()
        try keychain.withScope { () throws in
            let accessible = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            let control = SecAccessControlCreateWithFlags(nil, accessible, flags, nil)
            let given: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "alice",
                kSecValueData: Data("c".utf8), kSecAttrAccessControl: control as Any,
            ]
            #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
            let expected = try #require(accessControl())
            let store = SecretStore()
            #expect(try store.remove(mail))

            let protection = Protection.guarded(by: consent, accessible: .whenPasscodeSetThisDeviceOnly)
            try store.add(Secret("typed"), at: mail, protection: protection)
            #expect(accessControl() == expected)
            let asked = keychain.prompts.count
            #expect(try store.secret(for: mail)?.insecureText == "typed")
            #expect(keychain.prompts.count == asked + 1)
            #expect(throws: forbidden) { _ = try store.secret(for: mail, asking: .nobody) }
        }
    }

    @Test func aProtectionTakesThePlaceOfTheOneBefore() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            try await store.set(Secret("a"), for: mail, attributes: ItemAttributes(label: "kept"))
            #expect(try await store.set(Secret("b"), for: mail, protection: .guarded(by: .userPresence)) == .replaced)
            await #expect(throws: forbidden) { _ = try await store.secret(for: mail, asking: .nobody) }
            let stored = try #require(try await store.item(at: mail))
            #expect(stored.isGuarded && stored.accessible == .whenUnlocked && stored.attributes.label == "kept")

            // Without a protection it stays what it was.
            #expect(try await store.set(Secret("c"), for: mail) == .replaced)
            #expect(try await store.item(at: mail)?.isGuarded == true)

            let open = Protection.unguarded(.afterFirstUnlock)
            #expect(try await store.change(mail, protection: open))
            let asked = keychain.prompts.count
            let item = try #require(try await store.item(at: mail, asking: .nobody))
            #expect(!item.isGuarded && item.accessible == .afterFirstUnlock)
            #expect(try await store.secret(for: mail, asking: .nobody)?.insecureText == "c")
            #expect(keychain.prompts.count == asked)

            let guarded = Protection.guarded(by: .devicePasscode)
            #expect(try await store.change(mail, to: ItemAttributes(label: "new"), protection: guarded))
            await #expect(throws: forbidden) { _ = try await store.item(at: mail, asking: .nobody) }
            #expect(try await store.set(Secret("d"), for: mail, protection: .unguarded()) == .replaced)
            #expect(try await store.secret(for: mail, asking: .nobody)?.insecureText == "d")
        }
    }

    @Test func whoDoesNotAgreeReplacesNothing() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            try await store.add(Secret("a"), at: mail, protection: .guarded(by: .userPresence))
            keychain.setAuthentication(.cancel)
            for protection in [Protection.unguarded(), .guarded(by: .devicePasscode)] {
                await #expect { try await store.set(Secret("b"), for: mail, protection: protection) } throws: {
                    ($0 as? KeychainError)?.status == .userCanceled
                }
                await #expect { try await store.change(mail, protection: protection) } throws: {
                    ($0 as? KeychainError)?.status == .userCanceled
                }
            }
            keychain.setAuthentication(.success)
            #expect(try await store.secret(for: mail)?.insecureText == "a")
            await #expect(throws: forbidden) { _ = try await store.secret(for: mail, asking: .nobody) }
        }
    }

    @Test func whatNobodyCouldShowIsRefused() throws {
        try keychain.removePasscode()
        try keychain.withScope { () throws in
            let store = SecretStore()
            try store.set(Secret("before"), for: mail)
            for consent in Self.consents.map(\.0) {
                let guarded = Protection.guarded(by: consent)
                #expect { try store.set(Secret("x"), for: mail, protection: guarded) } throws: {
                    ($0 as? KeychainError)?.status == .authFailed
                }
                #expect { try store.change(mail, protection: guarded) } throws: {
                    ($0 as? KeychainError)?.status == .authFailed
                }
            }
            #expect(try store.secret(for: mail, asking: .nobody)?.insecureText == "before")
            let synchronizing = SecretStore(synchronization: .synchronizableOnly)
            #expect { try synchronizing.add(Secret("x"), at: mail, protection: .guarded(by: .userPresence)) } throws: {
                ($0 as? KeychainError)?.status == .param
            }
            try synchronizing.add(Secret("s"), at: mail, protection: .unguarded(.afterFirstUnlock))
            #expect(try synchronizing.item(at: mail)?.accessible == .afterFirstUnlock)
        }
    }

    @Test func aMoveLeavesAllElse() async throws {
        try await keychain.withScope {
            let (store, work) = (SecretStore(), ItemAddress.password(service: "mail", account: "work"))
            let attributes = ItemAttributes(label: "kept", generic: Data([1, 2]))
            try await store.set(Secret("a"), for: mail, attributes: attributes)
            let before = try #require(try await store.item(at: mail))
            #expect(try await store.move(mail, to: work))
            let after = try #require(try await store.item(at: work))
            #expect(after.reference == before.reference && after.attributes == before.attributes)
            #expect(try await store.secret(for: work)?.insecureText == "a")
            #expect(try await store.item(at: mail) == nil)
            #expect(try await !store.move(mail, to: work))
            #expect(try await store.move(work, to: work))

            try await store.set(Secret("b"), for: mail)
            await #expect { try await store.move(mail, to: work) } throws: {
                ($0 as? KeychainError)?.status == .duplicateItem
            }
            #expect(try await store.secret(for: mail)?.insecureText == "b")
            #expect(try await store.secret(for: work)?.insecureText == "a")

            await #expect { try await store.move(mail, to: .internetPassword(server: "mail")) } throws: {
                ($0 as? KeychainError)?.status == .param
            }
        }
    }

    @Test func aMoveStaysInItsGroup() async throws {
        try await keychain.withScope {
            let other = SecretStore(.group(AccessGroup("two")))
            let (here, there) = (
                ItemAddress.internetPassword(server: "a", account: "u", port: 443, protocol: .https, path: "/x"),
                ItemAddress.internetPassword(server: "a", account: "u")
            )
            try await other.set(Secret("two"), for: here)
            #expect(try await SecretStore().move(here, to: there))
            #expect(try await other.item(at: there)?.group == AccessGroup("two"))
            #expect(try await SecretStore(.firstGroup).item(at: there) == nil)
            // Of two at one address the first group's, as everywhere.
            try await SecretStore().set(Secret("one"), for: there)
            #expect(try await SecretStore().move(there, to: here))
            #expect(try await SecretStore(.firstGroup).secret(for: here)?.insecureText == "one")
            #expect(try await other.secret(for: there)?.insecureText == "two")
        }
    }

    @Test func aLockedItemHidesNoOthers() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            let all = ProtectionClass.allCases
            for accessible in all {
                try await store.set(
                    Secret("s"), for: .password(service: "s", account: accessible.rawValue), accessible: accessible)
            }
            let open = try await store.unlockedItems(.passwords(service: "s"))
            #expect(open.items.count == all.count && open.locked.isEmpty)

            try await keychain.lockAndWait()
            await #expect(throws: KeychainError.self) { _ = try await store.items(.passwords(service: "s")) }
            let lockedOnes: Set<ProtectionClass> = [
                .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
            ]
            let locked = try await store.unlockedItems(.passwords(service: "s"))
            #expect(locked.locked == lockedOnes)
            #expect(Set(locked.items.map(\.accessible)) == Set(all).subtracting(lockedOnes) && locked.items.count == 4)

            try keychain.restartDevice()
            let restarted = try await store.unlockedItems(.passwords(service: "s"))
            #expect(Set(restarted.items.map(\.accessible)) == [.always, .alwaysThisDeviceOnly])
            #expect(restarted.locked.count == 5)

            var query = ItemQuery.passwords(service: "s")
            query.accessible = .always
            #expect(try await store.unlockedItems(query).locked.isEmpty)
            query.accessible = .whenUnlocked
            let nothing = try await store.unlockedItems(query)
            #expect(nothing.items.isEmpty && nothing.locked == [.whenUnlocked])
            #expect(try await store.unlockedItems(.passwords(service: "none")).items.isEmpty)
        }
    }
}
