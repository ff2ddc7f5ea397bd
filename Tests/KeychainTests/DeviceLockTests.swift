import Foundation
import Keychain
import KeychainPlatform
import KeychainTesting
import Synchronization
import Testing

/// The lock as a program under test sees it.
@Suite(.timeLimit(.minutes(20))) struct DeviceLockTests {
    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain()
        try keychain.setPasscode()
    }

    private func isAvailable() -> Bool { keychain.withScope { DeviceLock.isProtectedDataAvailable } }

    @Test func thePropertyFollowsTheLock() throws {
        #expect(isAvailable())
        #expect(try keychain.withScope { try DeviceLock.current() } == .unlocked)
        try keychain.lock()
        #expect(!isAvailable())
        #expect(try keychain.withScope { try DeviceLock.current() } == .locked)
        try keychain.unlock()
        #expect(isAvailable())
        try keychain.restartDevice()
        #expect(!isAvailable())
        #expect(try keychain.withScope { try DeviceLock.current() } == .beforeFirstUnlock)
    }

    @Test func withoutAPasscodeItIsAlwaysAvailable() throws {
        let keychain = try TestKeychain()
        try keychain.restartDevice()
        #expect(keychain.withScope { DeviceLock.isProtectedDataAvailable })
    }

    /// Whoever cannot be asked protects nothing that could be used.
    @Test func aKeychainThatDoesNotAnswerIsNotAvailable() throws {
        keychain.close()
        #expect(!isAvailable())
        #expect(!DeviceLock.isProtectedDataAvailable)
        #expect(throws: KeychainError.self) { try keychain.withScope { try DeviceLock.current() } }
        #expect(throws: KeychainError.self) { try DeviceLock.changes() }
    }

    @Test func changesAreToldInOrder() async throws {
        var iterator = try keychain.withScope { try DeviceLock.changes() }.makeAsyncIterator()
        #expect(try await iterator.next() == .unlocked)
        let ended = AsyncStream<Bool>.makeStream()
        Thread.detachNewThread { [keychain] in
            do throws(TestKeychainError) {
                try keychain.lock()
                ended.continuation.yield(true)
            } catch { ended.continuation.yield(false) }
            ended.continuation.finish()
        }
        // Where other tests have all of Swift's threads, the announcement is over by now.
        var next = try await iterator.next()
        if next == .locking { next = try await iterator.next() }
        #expect(next == .locked)
        for await isLocked in ended.stream { #expect(isLocked) }
        try keychain.unlock()
        #expect(try await iterator.next() == .unlocked)
        try keychain.restartDevice()
        #expect(try await iterator.next() == .beforeFirstUnlock)
    }

    @Test func theKeychainsOwnRestartIsNoChange() async throws {
        var iterator = try keychain.withScope { try DeviceLock.changes() }.makeAsyncIterator()
        #expect(try await iterator.next() == .unlocked)
        try keychain.restart()
        try keychain.restartDevice()
        #expect(try await iterator.next() == .beforeFirstUnlock)
    }

    @Test func aKeychainThatIsClosedEndsTheSequenceWithAnError() async throws {
        let changes = try keychain.withScope { try DeviceLock.changes() }
        let ready = AsyncStream<Void>.makeStream()
        let waiting = Task { () async -> Bool in
            do throws(KeychainError) {
                for try await _ in changes { ready.continuation.yield() }
                return false
            } catch { return error.status == .notAvailable }
        }
        for await _ in ready.stream { break }
        keychain.close()
        #expect(await waiting.value)
    }

    @Test func theNotifierPostsUntilItIsStopped() throws {
        let center = NotificationCenter()
        let posted = Mutex<[String]>([])
        let wasOpen = Mutex<[Bool]>([])
        let bell = try EventSignal()
        let mail = ItemAddress.password(service: "mail", account: "alice")
        try keychain.withScope { try SecretStore().add(Secret("1"), at: mail) }
        let tokens = [
            DeviceLock.protectedDataDidBecomeAvailableNotification,
            DeviceLock.protectedDataWillBecomeUnavailableNotification,
        ].map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { [keychain] _ in
                let secret = try? keychain.withScope { try SecretStore().secret(for: mail) }
                wasOpen.withLock { $0.append(secret != nil) }
                posted.withLock { $0.append(name.rawValue) }
                bell.signal()
            }
        }
        let will = "UIApplicationProtectedDataWillBecomeUnavailable"
        let did = "UIApplicationProtectedDataDidBecomeAvailable"
        var notifier: ProtectedDataNotifier? = try keychain.withScope { try ProtectedDataNotifier(posting: center) }
        try keychain.lock()
        try waitFor(bell, posted, [will])
        try keychain.unlock()
        try waitFor(bell, posted, [will, did])
        // Of the lock it was told while everything could be read.
        #expect(wasOpen.withLock { $0 } == [true, true])
        try keychain.restartDevice()
        try waitFor(bell, posted, [will, did, will])
        notifier?.stop()
        notifier = nil
        // Once it is known to have heard its end, nothing more comes.
        let second = try keychain.withScope { try ProtectedDataNotifier(posting: center) }
        try keychain.unlock()
        try waitFor(bell, posted, [will, did, will, did])
        second.stop()
        for token in tokens { center.removeObserver(token) }
    }

    private func waitFor(_ bell: EventSignal, _ posted: borrowing Mutex<[String]>, _ wanted: [String]) throws {
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        while posted.withLock({ $0.count }) < wanted.count {
            try #require(try waitForAny(of: [bell.descriptor], until: deadline) != nil)
            bell.drain()
        }
        #expect(posted.withLock { $0 } == wanted)
    }
}
