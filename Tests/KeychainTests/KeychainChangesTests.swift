import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Testing

@Suite struct KeychainChangesTests {
    private let keychain: TestKeychain
    private let mail = ItemAddress.password(service: "mail", account: "alice")

    init() throws { keychain = try TestKeychain() }

    /// What happened between the call and the loop is told as well, and so is what
    /// a C-shaped call of the program does.
    @Test func changesComeInOrder() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            let changes = try store.changes()
            try await store.add(Secret("1"), at: mail)
            try await store.change(mail, to: ItemAttributes(label: "x"))
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            #expect(SecItemDelete(query) == errSecSuccess)
            var events: [KeychainChange.Event] = []
            for try await change in changes {
                events.append(change.event)
                if events.count == 3 { break }
            }
            guard case .added(let items) = events[0] else { throw CancellationError() }
            #expect(items.itemClass == .genericPassword && items.count == 1 && items.group != nil)
            #expect(events == [.added(items), .changed(items), .removed(items)])
        }
    }

    @Test func aPositionThatWasKeptGoesOn() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            try await store.add(Secret("1"), at: mail)
            let kept = try await "\(store.changePosition())"
            try await store.remove(mail)
            let position = try #require(ChangePosition(kept))
            var iterator = try store.changes(after: position).makeAsyncIterator()
            let change = try await iterator.next()
            guard case .removed = change?.event else {
                Issue.record("\(String(describing: change))")
                return
            }
            #expect(change?.position == (try await store.changePosition()))
        }
    }

    @Test func aTaskThatIsCancelledEndsTheSequence() async throws {
        try await keychain.withScope {
            let changes = try SecretStore().changes()
            let told = AsyncStream<Void>.makeStream()
            let waiting = Task { () throws -> Int in
                var count = 0
                for try await _ in changes {
                    count += 1
                    told.continuation.yield()
                }
                return count
            }
            // Once it has told of one it waits for the next.
            try await SecretStore().add(Secret("1"), at: mail)
            for await _ in told.stream {
                break
            }
            waiting.cancel()
            #expect(try await waiting.value == 1)
        }
    }

    /// A change made while somebody waits wakes it.
    @Test func aWaitIsWoken() async throws {
        try await keychain.withScope {
            let store = SecretStore()
            let changes = try store.changes()
            async let first = changes.first { _ in true }
            try await store.add(Secret("1"), at: mail)
            let change = try await first
            guard case .added = change?.event else {
                Issue.record("\(String(describing: change))")
                return
            }
        }
    }

    @Test func anotherProgramsGroupIsRefused() throws {
        try keychain.withScope { () throws in
            do throws(KeychainError) {
                _ = try SecretStore(.group(AccessGroup("not.ours"))).changes()
                Issue.record("told")
            } catch {
                #expect(error.status == .missingEntitlement)
            }
        }
    }

    @Test func aKeychainThatIsClosedEndsTheWaitWithAnError() async throws {
        let changes = try keychain.withScope { () throws in try SecretStore().changes() }
        let waiting = Task { () async -> Bool in
            do throws(KeychainError) {
                for try await _ in changes {}
                return false
            } catch {
                return error.status == .notAvailable
            }
        }
        keychain.close()
        #expect(await waiting.value)
    }
}
