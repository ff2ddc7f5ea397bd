import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A lock comes once the daemon has told its programs of it, whatever the daemon does.
@Suite struct AnnouncedLockTests {
    private let server: RunningServer
    private let never: EventSignal

    init() throws {
        server = try RunningServer()
        never = try EventSignal()
        _ = try server.connect()
        try door().setPasscode(SharedSecret(SecretBytes(copying: Array("1234".utf8))))
    }

    private func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: server.home.runDirectory, process: nil, clock: SystemClock())
    }

    private func locking() throws -> Asking<Void> {
        let door = try door()
        return try Asking<Void> { () throws(KeychainError) in try door.lock() }
    }

    /// A daemon that waits for what follows the present state.
    private func daemon() throws -> ListeningDaemon {
        let daemon = try ListeningDaemon(server)
        let state = try door().state()
        #expect(state.lock == .unlocked && !state.isClosing)
        try daemon.ask(after: state.number)
        return daemon
    }

    @Test func theDaemonHearsOfItWhileEverythingIsOpen() throws {
        let daemon = try daemon()
        let person = try locking()
        let closing = try daemon.state()
        #expect(closing.isClosing && closing.lock == .unlocked && closing.openClasses.contains(.whenUnlocked))
        // Until it asks again nothing closes, and nobody is told that it has.
        guard case .key = try server.connect().makeMetadataKey(for: .whenUnlocked) else {
            Issue.record("closed already")
            return
        }
        #expect(try door().state().isClosing && !person.isDone)
        try daemon.ask(after: closing.number)
        let locked = try daemon.state()
        #expect(locked.lock == .locked && !locked.isClosing && !locked.openClasses.contains(.whenUnlocked))
        #expect(!person.isDone)
        try daemon.ask(after: locked.number)
        try person.get()
    }

    @Test func aDaemonThatDoesNotAnswerKeepsItForThreeSeconds() throws {
        let daemon = try daemon()
        let person = try locking()
        #expect(try daemon.state().isClosing)
        server.clock.advance(by: EnclaveServer.Limits().announcing - .milliseconds(1))
        #expect(try door().state().lock == .unlocked)
        server.clock.advance(by: .milliseconds(1))
        let closing = try door().state()
        if closing.lock == .unlocked {
            #expect(try door().state(after: closing.number, orUntil: never)?.lock == .locked)
        }
        server.clock.advance(by: EnclaveServer.Limits().lettingGo)
        try person.get()
        withExtendedLifetime(daemon) {}
    }

    @Test func aDaemonThatGoesAwayDoesNotKeepIt() throws {
        var daemon: ListeningDaemon? = try daemon()
        let person = try locking()
        #expect(try daemon?.state().isClosing == true)
        daemon = nil
        try person.get()
        #expect(try door().state().lock == .locked)
    }

    /// The lock of somebody who has gone comes all the same, and before what another
    /// person asked for meanwhile.
    @Test func whatAPersonAsksMeanwhileComesAfterIt() throws {
        let daemon = try daemon()
        let person = try locking()
        let closing = try daemon.state()
        let other = try door()
        let unlocking = try Asking<Void> { () throws(KeychainError) in
            try other.unlock(with: .passcode(SharedSecret(SecretBytes(copying: Array("1234".utf8)))))
        }
        #expect(try door().state().isClosing && !unlocking.isDone)
        try daemon.ask(after: closing.number)
        let locked = try daemon.state()
        #expect(locked.lock == .locked)
        try daemon.ask(after: locked.number)
        let unlocked = try daemon.state()
        #expect(unlocked.lock == .unlocked && !unlocked.isClosing)
        // Where the unlock was done before the question came, this is the first that waits.
        try daemon.ask(after: unlocked.number)
        try person.get()
        try unlocking.get()
    }

    @Test func withoutADaemonThatListensItComesAtOnce() throws {
        let connection = try server.connect()
        try door().lock()
        #expect(try door().state().lock == .locked)
        // Nothing is announced where nothing is open.
        try door().lock()
        withExtendedLifetime(connection) {}
    }
}
