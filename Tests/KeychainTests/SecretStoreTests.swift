import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Testing

@Suite struct SecretStoreTests {
    private let keychain: TestKeychain
    private let mail = ItemAddress.password(service: "mail", account: "alice")

    init() throws { keychain = try TestKeychain() }

    @Test func whatIsStoredIsRead() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            #expect(try store.secret(for: mail)?.byteCount == nil)
            #expect(try store.set(Secret("hunter2"), for: mail) == .added)
            #expect(try store.secret(for: mail)?.insecureText == "hunter2")
            #expect(try store.set(Secret("hunter3"), for: mail) == .replaced)
            #expect(try store.secret(for: mail)?.insecureText == "hunter3")
            #expect(try store.remove(mail))
            #expect(try !store.remove(mail))
            #expect(try store.item(at: mail) == nil)
        }
    }

    @Test func everythingCanBeAwaited() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            #expect(try await store.set(Secret("a"), for: mail, attributes: ItemAttributes(label: "one")) == .added)
            #expect(try await store.change(mail, to: ItemAttributes(comment: "two")))
            let item = try await store.item(at: mail)
            #expect(item?.attributes == ItemAttributes(label: "one", comment: "two"))
            #expect(try await store.items(.passwords()).count == 1)
            let opened = try await store.openedItems(.passwords())
            #expect(opened.first?.secret.insecureText == "a")
            #expect(try await store.remove(opened[0].item))
            try await store.add(Secret("b"), at: mail)
            #expect(try await store.removeAll(.passwords(service: "mail")))
            #expect(try await store.secret(for: mail)?.byteCount == nil)
        }
    }

    @Test func anAddressThatIsTakenIsADuplicate() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            try store.add(Secret("a"), at: mail, attributes: ItemAttributes(generic: Data([1])))
            // kSecAttrGeneric makes nothing unique.
            do throws(KeychainError) {
                try store.add(Secret("b"), at: mail, attributes: ItemAttributes(generic: Data([2])))
                Issue.record("stored twice")
            } catch {
                #expect(error.status == .duplicateItem && error.reason == .duplicate)
                #expect(!"\(error)".contains("alice"))
            }
            #expect(try store.secret(for: mail)?.insecureText == "a")
        }
    }

    @Test func replacingKeepsTheOtherAttributes() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            let given = ItemAttributes(label: "Mail", kind: "password", comment: "c", generic: Data([1, 2]))
            try store.set(Secret("a"), for: mail, attributes: given, accessible: .afterFirstUnlock)
            try store.set(Secret("b"), for: mail, attributes: ItemAttributes(label: "Post"))
            let item = try #require(try store.item(at: mail))
            #expect(
                item.attributes == ItemAttributes(label: "Post", kind: "password", comment: "c", generic: Data([1, 2])))
            #expect(item.accessible == .afterFirstUnlock && item.address == mail && !item.isSynchronizable)
        }
    }

    /// Two with the same server and account, and nobody's neighbour is touched.
    @Test func internetPasswordsDifferInEveryPartOfTheirAddress() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            let plain = ItemAddress.internetPassword(server: "example.com", account: "alice")
            let places = [
                plain, .internetPassword(server: "example.com", account: "alice", port: 8443),
                .internetPassword(server: "example.com", account: "alice", protocol: .https),
                .internetPassword(server: "example.com", account: "alice", path: "/a"),
                .internetPassword(server: "example.com", account: "alice", securityDomain: "realm"),
                .internetPassword(server: "example.com", account: "alice", authenticationType: "form"),
            ]
            for (number, place) in places.enumerated() { try store.set(Secret("\(number)"), for: place) }
            try store.set(Secret("changed"), for: plain)
            for (number, place) in places.enumerated().dropFirst() {
                #expect(try store.secret(for: place)?.insecureText == "\(number)")
                #expect(try store.item(at: place)?.address == place)
            }
            #expect(try store.remove(plain))
            var query = ItemQuery.internetPasswords(server: "example.com")
            #expect(try store.items(query).count == 5)
            query.port = 8443
            #expect(try store.items(query).map(\.address) == [places[1]])
            query = .internetPasswords()
            query.protocol = .https
            #expect(try store.items(query).map(\.address) == [places[2]])
        }
    }

    @Test func queriesCombineTheirConditions() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            for (account, label) in [("a", "x"), ("b", "x"), ("c", "y")] {
                try store.set(
                    Secret("s"), for: .password(service: "mail", account: account),
                    attributes: ItemAttributes(label: label))
            }
            var query = ItemQuery.passwords(service: "mail")
            query.label = "x"
            #expect(Set(try store.items(query).map(\.address.account)) == ["a", "b"])
            query.account = "b"
            #expect(try store.items(query).map(\.address.account) == ["b"])
            query.label = nil
            query.account = "c"
            #expect(try store.items(query).count == 1)
            query.accessible = .always
            #expect(try store.items(query).isEmpty)
        }
    }

    @Test func namesThatAreBytesAreTold() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            let given: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "lib", kSecAttrAccount: Data([0xFF, 1]),
                kSecValueData: Data("v".utf8),
            ]
            #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
            let item = try #require(try store.items(.passwords(service: "lib")).first)
            #expect(item.address.account == ItemText(bytes: [0xFF, 1]) && item.address.account.string == nil)
            #expect(try store.secret(for: item.address)?.insecureText == "v")
            #expect(try store.remove(item))
        }
    }

    @Test func groupsAreKeptApart() throws {
        let entitlements = TestEntitlements(keychainAccessGroups: ["one", "two"])
        let keychain = try TestKeychain(entitlements: entitlements)
        try keychain.withScope { () throws in
            let (own, two) = (SecretStore(), SecretStore(.group(AccessGroup("two"))))
            try two.set(Secret("2"), for: mail)
            // Found by itself in the second group, and not overwritten there.
            #expect(try own.secret(for: mail)?.insecureText == "2")
            #expect(try own.set(Secret("1"), for: mail) == .added)
            #expect(try two.secret(for: mail)?.insecureText == "2")
            #expect(try two.item(at: mail)?.group == AccessGroup("two"))
            do throws(KeychainError) {
                try SecretStore(.group(AccessGroup("three"))).set(Secret("3"), for: mail)
                Issue.record("a group of somebody else's")
            } catch {
                #expect(error.status == .missingEntitlement && error.reason == .groupNotEntitled(group: "three"))
            }
        }
    }

    /// What is stored is what is read, also beside an older item of another group.
    @Test func theFirstGroupComesFirst() throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["one", "two"]))
        try keychain.withScope { () throws in
            let (own, two) = (SecretStore(), SecretStore(.group(AccessGroup("two"))))
            try two.set(Secret("old"), for: mail, attributes: ItemAttributes(label: "old"))
            let memory = SecretMemory(of: mail)
            for expected in [SecretMemory.Outcome.learned, .remembered] {
                let outcome = memory.use(
                    asking: { _ in Secret("new") },
                    trying: { $0.insecureText == "new" ? .accepted : .rejected })
                #expect(outcome == expected)
            }
            #expect(try own.secret(for: mail)?.insecureText == "new")
            #expect(try own.change(mail, to: ItemAttributes(label: "new")))
            #expect(try two.item(at: mail)?.attributes.label == "old")
            #expect(try own.remove(mail))
            #expect(try two.secret(for: mail)?.insecureText == "old")
            #expect(try SecretStore(.firstGroup).secret(for: mail)?.byteCount == nil)
            // Then it is the other group's turn: what is found can be removed.
            #expect(try own.remove(mail))
            #expect(try !own.remove(mail))
        }
    }

    @Test func synchronizableItemsAreOthers() throws {
        try keychain.withScope { () throws in
            let (here, everywhere) = (SecretStore(), SecretStore(synchronization: .synchronizableOnly))
            try here.set(Secret("here"), for: mail)
            #expect(try everywhere.secret(for: mail)?.byteCount == nil)
            #expect(try everywhere.set(Secret("everywhere"), for: mail) == .added)
            #expect(try here.secret(for: mail)?.insecureText == "here")
            #expect(try everywhere.item(at: mail)?.isSynchronizable == true)
        }
    }

    /// Twenty at once: no error, one item, one of the values.
    @Test func anyNumberMaySetAtOnce() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            let outcomes = try await withThrowingTaskGroup(of: SecretStore.SetOutcome.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        if number % 5 == 4 { try await store.remove(mail) }
                        return try await store.set(Secret("\(number)"), for: mail)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 20 && outcomes.contains(.added))
            #expect(try await store.items(.passwords()).count == 1)
        }
    }

    @Test func aKeychainThatIsGoneSaysSo() throws {
        try keychain.withScope { () throws in
            keychain.close()
            do throws(KeychainError) {
                _ = try SecretStore().secret(for: mail)
                Issue.record("a closed keychain answered")
            } catch {
                #expect(error.status == .notAvailable)
            }
        }
    }

    @Test func secretsDoNotShowThemselves() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", "\(secret as Any)", String(reflecting: secret), dumped] {
            #expect(!text.contains("hunter2") && !text.contains("7"), "\(text)")
        }
        #expect(secret.isEqual(to: Secret(Data("hunter2".utf8))) && !secret.isEqual(to: Secret("hunter3")))
        #expect(secret.byteCount == 7 && secret.insecureData == Data("hunter2".utf8))
        #expect(Secret(bytes: [0xFF]).insecureText == nil)
        #expect(!Secret.random(byteCount: 32).isEqual(to: Secret.random(byteCount: 32)))
        #expect(secret.withBytes { $0.byteCount } == 7)
    }

    @Test func guardedItemsAreAskedForAsTheReadSays() async throws {
        let keychain = try TestKeychain()
        try keychain.setPasscode()
        try await keychain.withScope {
            let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
            let given: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "s", kSecAttrAccount: "guarded",
                kSecValueData: Data("g".utf8), kSecAttrAccessControl: control as Any,
            ]
            #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
            let (store, guarded) = (SecretStore(), ItemAddress.password(service: "s", account: "guarded"))
            try await store.set(Secret("p"), for: .password(service: "s", account: "plain"))
            let forbidden = KeychainError(.interactionNotAllowed, reason: .interactionForbidden)

            let shown = try await store.items(.passwords(service: "s"), asking: .nobodySkippingGuarded)
            #expect(shown.map(\.address.account) == ["plain"] && shown.allSatisfy { !$0.isGuarded })
            let opened = try await store.openedItems(.passwords(service: "s"), asking: .nobodySkippingGuarded)
            #expect(opened.map(\.secret.insecureText) == ["p"])
            #expect(try await store.item(at: guarded, asking: .nobodySkippingGuarded) == nil)
            await #expect(throws: forbidden) { _ = try await store.secret(for: guarded, asking: .nobody) }
            await #expect(throws: forbidden) { _ = try await store.items(.passwords(service: "s"), asking: .nobody) }
            #expect(keychain.prompts.isEmpty)

            let secret = try await store.secret(for: guarded, asking: .person(reason: "to log in"))
            #expect(secret?.insecureText == "g" && keychain.prompts == ["to log in"])
            #expect(try await store.items(.passwords(service: "s", account: "guarded")).count == 1)
            #expect(keychain.prompts == ["to log in", ""])
        }
    }
}
