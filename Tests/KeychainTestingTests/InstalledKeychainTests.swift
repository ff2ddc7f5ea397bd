import Dispatch
import Foundation
import KeychainServices
import KeychainTesting
import Synchronization
import Testing

/// What concerns the whole process, so one test at a time; every other suite
/// calls within scopes.
@Suite(.serialized) struct InstalledKeychainTests {
    @Test func refusesCallsOutsideAnyScope() {
        #expect(Passwords.add("a") == errSecNotAvailable)
        #expect(Passwords.status("a") == errSecNotAvailable)
        #expect(
            SecItemUpdate(Passwords.query("a"), [kSecAttrLabel as String: "l"] as CFDictionary) == errSecNotAvailable)
        #expect(SecItemDelete(Passwords.query("a")) == errSecNotAvailable)
    }

    @Test func aScopeDoesNotReachAnotherThread() throws {
        let keychain = try TestKeychain()
        keychain.withScope { #expect(onAnotherThread { Passwords.add("outside") } == errSecNotAvailable) }
    }

    @Test func servesEveryThreadWhileInstalled() throws {
        let keychain = try TestKeychain()
        keychain.install()
        defer { keychain.uninstall() }
        #expect(onAnotherThread { Passwords.add("a", "one") } == errSecSuccess)
        #expect(onAnotherThread { Passwords.value("a") } == "one")
    }

    @Test func refusesAgainOnceUninstalled() throws {
        let keychain = try TestKeychain()
        keychain.install()
        #expect(Passwords.add("a") == errSecSuccess)
        keychain.uninstall()
        #expect(Passwords.status("a") == errSecNotAvailable)
    }

    @Test func leavesAnotherInstalledKeychainAlone() throws {
        let first = try TestKeychain()
        let second = try TestKeychain()
        first.install()
        second.install()
        first.uninstall()
        #expect(Passwords.add("a") == errSecSuccess)
        #expect(second.withScope { Passwords.status("a") } == errSecSuccess)
        second.close()
        #expect(Passwords.status("a") == errSecNotAvailable)
    }

    @Test func givesWayToAScope() throws {
        let installed = try TestKeychain()
        let scoped = try TestKeychain()
        installed.install()
        defer { installed.uninstall() }
        #expect(Passwords.add("a") == errSecSuccess)
        #expect(scoped.withScope { Passwords.status("a") } == errSecItemNotFound)
    }

    @Test func installsForAnotherProgram() throws {
        let keychain = try TestKeychain()
        keychain.install(as: TestEntitlements())
        defer { keychain.uninstall() }
        #expect(Passwords.add("a") == errSecMissingEntitlement)
    }

    private func onAnotherThread<R: Sendable>(_ body: @escaping @Sendable () -> R) -> R? {
        let result = Mutex<R?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }
}
