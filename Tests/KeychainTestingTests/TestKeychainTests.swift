import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct TestKeychainTests {
    @Test func storesAndFindsWithinAScope() throws {
        let keychain = try TestKeychain()
        keychain.withScope {
            #expect(Passwords.add("a", "one") == errSecSuccess)
            #expect(Passwords.add("a") == errSecDuplicateItem)
            #expect(Passwords.value("a") == "one")
        }
        #expect(keychain.withScope { Passwords.value("a") } == "one")
    }

    @Test func keepsParallelScopesApart() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let keychain = try TestKeychain()
                    return await keychain.withScope {
                        let added = Passwords.add("shared name", "\(number)")
                        await Task.yield()
                        return added == errSecSuccess && Passwords.value("shared name") == "\(number)"
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func handsAScopeOnToChildTasks() async throws {
        let keychain = try TestKeychain()
        await keychain.withScope {
            async let child = Passwords.add("from a child")
            #expect(await child == errSecSuccess)
            await Task { #expect(Passwords.status("from a child") == errSecSuccess) }.value
        }
    }

    @Test func nestsScopes() throws {
        let outer = try TestKeychain()
        let inner = try TestKeychain()
        outer.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            inner.withScope { #expect(Passwords.status("a") == errSecItemNotFound) }
            #expect(Passwords.status("a") == errSecSuccess)
        }
    }

    @Test func passesOnWhatTheBodyThrows() async throws {
        struct Refusal: Error {}
        let keychain = try TestKeychain()
        #expect(throws: Refusal.self) { try keychain.withScope { throw Refusal() } }
        await #expect(throws: Refusal.self) { try await keychain.withScope { () async throws in throw Refusal() } }
    }

    @Test func answersNotAvailableOnceClosed() throws {
        let keychain = try TestKeychain()
        keychain.close()
        #expect(keychain.withScope { Passwords.add("a") } == errSecNotAvailable)
        // For good.
        #expect(throws: TestKeychainError.self) { try keychain.restart() }
        #expect(throws: TestKeychainError.self) { try keychain.insecureCorruptDatabase() }
        #expect(keychain.withScope { Passwords.add("a") } == errSecNotAvailable)
    }

    @Test func removesItsFolderWhenItGoes() throws {
        let folder: String
        do {
            let keychain = try TestKeychain()
            folder = keychain.folder
            #expect(FileManager.default.fileExists(atPath: folder))
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func sweepsAwayWhatAKilledProcessLeft() throws {
        let keychain = try TestKeychain()
        let abandoned = FileManager.default.temporaryDirectory.path + "/latchkey-testing-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: abandoned, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(FileManager.default.createFile(atPath: abandoned + "/owner.lock", contents: nil))
        TestKeychain.sweep()
        #expect(!FileManager.default.fileExists(atPath: abandoned))
        #expect(keychain.withScope { Passwords.add("a") } == errSecSuccess)
    }

    @Test func theLimitOfOpenFilesIsRaised() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 64
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var keychains: [TestKeychain] = []
            for _ in 0..<20 { keychains.append(try TestKeychain()) }
            #expect(keychains.count == 20)
        }
    }

    @Test func wantOfFilesIsSaid() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 96, rlim_max: 96)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var keychains: [TestKeychain] = []
            do {
                for _ in 0..<20 { keychains.append(try TestKeychain()) }
                Issue.record("there is no limit")
            } catch {
                #expect("\(error)".contains("ulimit -Hn"))
            }
        }
    }
}
