import Foundation
import Keychain
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// What programs hear of the lock, with the real latchkeyd and latchkey-enclave.
@Suite(.enabled(if: ShippedDaemon.isWithinReach), .timeLimit(.minutes(20))) struct DeviceLockTests {
    private let daemon: ShippedDaemon
    private let passcode = SharedSecret(SecretBytes(copying: Array("words words".utf8)))

    init() throws {
        daemon = try ShippedDaemon()
        try door().setPasscode(passcode)
    }

    private func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: daemon.locations.runDirectory, process: nil, clock: SystemClock())
    }

    private func unlock() throws { try door().unlock(with: .passcode(passcode)) }

    private func within<R>(_ body: () throws -> R) rethrows -> R {
        try CurrentKeychain.$scoped.withValue(daemon.newClient(), operation: body)
    }

    private func changes() throws -> DeviceLockChanges { try within { try DeviceLock.changes() } }

    /// Whether an item of the class WhenUnlocked can be read.
    private func isOpen() -> Bool {
        within {
            do throws(KeychainError) {
                return try SecretStore().secret(for: .password(service: "s", account: "a")) != nil
            } catch {
                #expect(error.status == .interactionNotAllowed)
                return false
            }
        }
    }

    /// On threads of their own: Swift's may all be taken by other tests for longer than
    /// an announcement lasts. A machine that is slower all the same may miss one; it
    /// does not miss five.
    @Test func aLockIsAnnouncedWhileItemsCanBeRead() throws {
        try within { try SecretStore().add(Secret("x"), at: .password(service: "s", account: "a")) }
        let (states, never) = (daemon.newClient().deviceStates(), try EventSignal())
        func next() throws -> DeviceLock? {
            let state = try states.next(orUntil: never)
            return state.map { $0.isClosing ? .locking : $0.lock == .unlocked ? .unlocked : .locked }
        }
        #expect(try next() == .unlocked)
        var wasOpen = false
        for _ in 0..<5 where !wasOpen {
            let door = try door()
            let isLocked = try EventSignal()
            TestThread.start {
                // Where it fails the state that is waited for does not come.
                try? door.lock()
                isLocked.signal()
            }
            var heard = try next()
            if heard == .locking {
                wasOpen = isOpen()
                heard = try next()
            }
            #expect(heard == .locked)
            // Before it is told, nothing is left open.
            #expect(!isOpen())
            _ = try waitForAny(of: [isLocked.descriptor], until: Deadline(after: .seconds(30), on: SystemClock()))
            #expect(!within { DeviceLock.isProtectedDataAvailable })
            try unlock()
            #expect(try next() == .unlocked)
            #expect(within { DeviceLock.isProtectedDataAvailable })
        }
        #expect(wasOpen)
    }

    @Test func everybodyHearsOfIt() async throws {
        let changes = try changes()
        let ready = AsyncStream<Void>.makeStream()
        let observers = (0..<6).map { _ in
            Task { () throws -> [DeviceLock] in
                var heard: [DeviceLock] = []
                for try await lock in changes {
                    heard.append(lock)
                    if heard.count == 1 { ready.continuation.yield() }
                    if lock == .locked { break }
                }
                return heard
            }
        }
        var count = 0
        for await _ in ready.stream {
            count += 1
            if count == observers.count { break }
        }
        try door().lock()
        for observer in observers {
            let heard = try await observer.value
            #expect(heard == [.unlocked, .locking, .locked] || heard == [.unlocked, .locked])
        }
    }

    /// Through the end of daemon and enclave, after which nobody has unlocked it.
    @Test func itGoesOnWithTheNextDaemon() async throws {
        var iterator = try CurrentKeychain.$scoped.withValue(
            DaemonConnectionPool(ShippedDaemon.configuration(daemon.locations))
        ) { try DeviceLock.changes() }.makeAsyncIterator()
        #expect(try await iterator.next() == .unlocked)
        kill(daemon.enclaveProcess, SIGKILL)
        #expect(try await iterator.next() == .beforeFirstUnlock)
        kill(daemon.daemonProcess, SIGKILL)
        let next = try #require(
            try DaemonConnectionPool(ShippedDaemon.configuration(daemon.locations))
                .perform(KeychainRequest(.status)).status)
        defer { for process in [next.daemonProcess, next.enclaveProcess] where process > 1 { kill(process, SIGKILL) } }
        #expect(next.daemonProcess != daemon.daemonProcess)
        try unlock()
        #expect(try await iterator.next() == .unlocked)
        try door().lock()
        var last = try await iterator.next()
        if last == .locking { last = try await iterator.next() }
        #expect(last == .locked)
    }

    @Test func aTaskThatIsCancelledEndsTheWait() async throws {
        let changes = try changes()
        let ready = AsyncStream<Void>.makeStream()
        let observer = Task { () throws -> [DeviceLock] in
            var heard: [DeviceLock] = []
            for try await lock in changes {
                heard.append(lock)
                ready.continuation.yield()
            }
            return heard
        }
        for await _ in ready.stream { break }
        observer.cancel()
        #expect(try await observer.value == [.unlocked])
        // Nobody is left who would be waited for.
        try door().lock()
    }

    /// One that is stopped in the middle holds a lock up for two seconds and no longer.
    @Test func whoDoesNotAskAgainDoesNotKeepTheLock() async throws {
        var iterator = try changes().makeAsyncIterator()
        #expect(try await iterator.next() == .unlocked)
        try door().lock()
        #expect(try await iterator.next() == .locked)
    }

    @Test func notificationsArePosted() throws {
        let center = NotificationCenter()
        let posted = Mutex<[(name: Notification.Name, wasOpen: Bool, onMain: Bool)]>([])
        let bell = try EventSignal()
        try within { try SecretStore().add(Secret("x"), at: .password(service: "s", account: "a")) }
        let names = [
            DeviceLock.protectedDataWillBecomeUnavailableNotification,
            DeviceLock.protectedDataDidBecomeAvailableNotification,
        ]
        let tokens = names.map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { _ in
                let wasOpen = isOpen()
                posted.withLock { $0.append((name, wasOpen, Thread.isMainThread)) }
                bell.signal()
            }
        }
        let notifier = try within { try ProtectedDataNotifier(posting: center) }
        var wasAnnounced = false
        for round in 0..<5 where !wasAnnounced {
            try door().lock()
            try waitFor(bell) { posted.withLock { $0.count } == 2 * round + 1 }
            try unlock()
            try waitFor(bell) { posted.withLock { $0.count } == 2 * round + 2 }
            wasAnnounced = posted.withLock { $0[2 * round].wasOpen }
        }
        #expect(wasAnnounced)
        let all = posted.withLock { $0 }
        #expect(all.indices.allSatisfy { all[$0].name == names[$0 % 2] && !all[$0].onMain })
        #expect(all.indices.allSatisfy { $0 % 2 == 0 || all[$0].wasOpen })
        notifier.stop()
        for token in tokens { center.removeObserver(token) }
    }

    private func waitFor(_ bell: EventSignal, _ condition: () -> Bool) throws {
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        while !condition() {
            try #require(try waitForAny(of: [bell.descriptor], until: deadline) != nil)
            bell.drain()
        }
    }
}
