import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct RecordedCallTests {
    @Test func callsAreKeptInTheirOrder() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            #expect(Passwords.add("a", "hunter2") == errSecSuccess)
            #expect(Passwords.add("a") == errSecDuplicateItem)
            #expect(Passwords.value("a") == "hunter2")
            let changes = [kSecAttrLabel as String: "new"] as CFDictionary
            #expect(SecItemUpdate(Passwords.query("a"), changes) == errSecSuccess)
            #expect(SecItemDelete(Passwords.query("b")) == errSecItemNotFound)
        }
        let calls = keychain.calls
        #expect(calls.map(\.function) == [.add, .add, .copyMatching, .update, .delete])
        #expect(
            calls.map(\.status) == [
                errSecSuccess, errSecDuplicateItem, errSecSuccess, errSecSuccess, errSecItemNotFound,
            ])
        #expect(calls[0][kSecAttrAccount] as? String == "a" && calls[0].carriesData)
        #expect(calls[2][kSecReturnData] as? Bool == true && calls[2][kSecAttrLabel] == nil)
        #expect(calls[3].change(kSecAttrLabel) as? String == "new" && calls[3].names(kSecAttrLabel))
        #expect(!calls.contains { "\($0)".contains("hunter2") || $0[kSecValueData] != nil })
        keychain.forgetCalls()
        #expect(keychain.calls.isEmpty)
    }

    @Test func aCallCanBeMadeToFail() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            keychain.intercept { $0.function == .add ? .fail(errSecInteractionNotAllowed) : .answer }
            #expect(Passwords.add("a") == errSecInteractionNotAllowed)
            #expect(Passwords.status("a") == errSecItemNotFound)
            keychain.intercept(nil)
            #expect(Passwords.add("a") == errSecSuccess)
            // By what is asked, not by the function alone.
            keychain.intercept { $0[kSecAttrAccount] as? String == "b" ? .fail(errSecDiskFull) : .answer }
            #expect(Passwords.add("b") == errSecDiskFull && Passwords.status("a") == errSecSuccess)
        }
        #expect(keychain.calls.map(\.status).contains(errSecDiskFull) && keychain.unexpectedCalls.isEmpty)
    }

    /// As on a result of the keychain, which has numbers as objects.
    @Test func numbersAreOfWhateverTypeIsAsked() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            let query = [kSecClass: kSecClassInternetPassword, kSecAttrPort: 8443] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
        }
        let port = try #require(keychain.calls.first?[kSecAttrPort])
        #expect(port as? Int == 8443 && port as? Int64 == 8443 && port as? UInt16 == 8443)
    }

    @Test func aCallCannotFailWithSuccess() async {
        await #expect(processExitsWith: .failure) {
            let keychain = try TestKeychain()
            keychain.intercept { _ in .fail(errSecSuccess) }
            keychain.withScope { _ = SecItemCopyMatching([kSecClass: kSecClassGenericPassword] as CFDictionary, nil) }
        }
    }

    @Test func itsErrorsSayWhatFailed() throws {
        let keychain = try TestKeychain()
        do {
            try keychain.lock()
            Issue.record("a device without a passcode is locked")
        } catch {
            let general: any Error = error
            #expect(general.localizedDescription == error.description)
            #expect((general as NSError).domain == NSOSStatusErrorDomain)
            #expect((general as NSError).code == Int(errSecAuthFailed))
        }
    }

    @Test func whatIsNotExpectedIsRefusedAndNoted() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            keychain.intercept { $0.function == .copyMatching ? .answer : .unexpected }
            #expect(Passwords.status("a") == errSecItemNotFound)
            #expect(Passwords.add("a") == errSecNotAvailable)
            #expect(Passwords.status("a") == errSecItemNotFound)
        }
        #expect(keychain.unexpectedCalls.map(\.function) == [.add])
        #expect(keychain.calls.count == 3)
    }

    @Test func callsOfEveryProgramAreKept() async throws {
        let keychain = try TestKeychain()
        await keychain.withScope {
            async let first = Passwords.status("a")
            async let second = Passwords.status("b")
            _ = await (first, second)
        }
        keychain.withScope(as: TestEntitlements(applicationIdentifier: "TEAM.other")) { _ = Passwords.status("c") }
        #expect(Set(keychain.calls.compactMap { $0[kSecAttrAccount] as? String }) == ["a", "b", "c"])
    }

    // MARK: Threads that a scope does not reach by itself (the guide: TestingYourCode)

    @Test func aScopeIsTakenAlongToQueuesTasksAndThreads() async throws {
        let keychain = try TestKeychain()
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                keychain.withScope { #expect(Passwords.add("queue") == errSecSuccess) }
                done.resume()
            }
        }
        await Task.detached {
            keychain.withScope { #expect(Passwords.add("detached") == errSecSuccess) }
        }.value
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                keychain.withScope { #expect(Passwords.add("thread") == errSecSuccess) }
                done.resume()
            }
        }
        keychain.withScope {
            for name in ["queue", "detached", "thread"] { #expect(Passwords.status(name) == errSecSuccess) }
        }
    }
}
