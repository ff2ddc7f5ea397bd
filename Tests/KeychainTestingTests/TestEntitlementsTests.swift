import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct TestEntitlementsTests {
    private let app = TestEntitlements(
        applicationIdentifier: "TEAM.app", keychainAccessGroups: ["TEAM.own", "TEAM.shared"])
    private let widget = TestEntitlements(applicationIdentifier: "TEAM.widget", keychainAccessGroups: ["TEAM.shared"])

    @Test func letsSeveralProgramsCallOneStore() throws {
        let keychain = try TestKeychain(entitlements: app)
        keychain.withScope {
            #expect(Passwords.add("own") == errSecSuccess)
            #expect(Passwords.add("shared", "both", group: "TEAM.shared") == errSecSuccess)
        }
        keychain.withScope(as: widget) {
            #expect(Passwords.status("own") == errSecItemNotFound)
            #expect(Passwords.value("shared") == "both")
            #expect(Passwords.add("x", group: "TEAM.own") == errSecMissingEntitlement)
        }
    }

    @Test func storesInTheFirstGroup() throws {
        let keychain = try TestKeychain(entitlements: app)
        keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            #expect(Passwords.attributes("a")?[kSecAttrAccessGroup] as? String == "TEAM.own")
        }
    }

    @Test func hasAnApplicationIdentifierByDefault() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            let group = Passwords.attributes("a")?[kSecAttrAccessGroup] as? String
            #expect(group == TestEntitlements.default.applicationIdentifier)
        }
    }

    @Test func refusesAProgramWithoutGroups() throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements())
        #expect(keychain.withScope { Passwords.add("a") } == errSecMissingEntitlement)
    }

    @Test func knowsFlagsAppClipsAndRules() throws {
        let keychain = try TestKeychain()
        let denied = TestEntitlements(applicationIdentifier: "TEAM.app", booleans: ["keychain-deny"])
        #expect(keychain.withScope(as: denied) { Passwords.status("a") } == errSecNotAvailable)
        let clip = TestEntitlements(
            applicationIdentifier: "TEAM.clip", keychainAccessGroups: ["TEAM.shared"], isAppClip: true)
        #expect(keychain.withScope(as: clip) { Passwords.add("a") } == errSecRestrictedAPI)
        let unvalidated = TestEntitlements(applicationIdentifier: "TEAM.app", rules: .macos(validated: false))
        #expect(keychain.withScope(as: unvalidated) { Passwords.status("a") } == errSecMissingEntitlement)
    }
}
