import Enclave
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// Clients of the daemon that follow the lock.
@Suite struct DeviceObserverTests {
    /// One who asks for a state on a thread of its own.
    private final class Asking: Sendable {
        private let outcome = Mutex<Result<DeviceState?, KeychainError>?>(nil)
        private let done: EventSignal
        let cancelled: EventSignal

        init(_ states: any DeviceStates) throws {
            let (done, cancelled) = (try EventSignal(), try EventSignal())
            self.done = done
            self.cancelled = cancelled
            TestThread.start { [self] in
                let result = Result { () throws(KeychainError) in try states.next(orUntil: cancelled) }
                outcome.withLock { $0 = result }
                done.signal()
            }
        }

        var isWaiting: Bool { outcome.withLock { $0 == nil } }

        func state() throws -> DeviceState? {
            let deadline = Deadline(after: .seconds(30), on: SystemClock())
            try #require(try waitForAny(of: [done.descriptor], until: deadline) == 0)
            return try outcome.withLock { $0 }?.get()
        }
    }

    private let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))

    private func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        while !deadline.hasPassed { if try condition() { return true } }
        return false
    }

    /// More observers than workers: none of them keeps a worker.
    @Test func manyObserversHearOfItAndKeepNobodyWaiting() throws {
        let daemon = try DaemonUnderTest()
        let observers = (0..<20).map { _ in daemon.client().deviceStates() }
        for states in observers { #expect(try Asking(states).state()?.hasPasscode == false) }
        let waiting = try observers.map { try Asking($0) }
        #expect(try daemon.serves())
        #expect(waiting.allSatisfy(\.isWaiting) && daemon.deviceObserverCount == 20)
        try daemon.enclave.setPasscode(passcode)
        for asking in waiting { #expect(try asking.state()?.hasPasscode == true) }
        // Each connection serves on.
        let again = try observers.map { try Asking($0) }
        try daemon.enclave.lock()
        for asking in again { #expect(try asking.state()?.lock == .locked) }
        withExtendedLifetime(daemon) {}
    }

    @Test func aWaitIsCancelledAndAnObserverForgotten() throws {
        let daemon = try DaemonUnderTest()
        #expect(try daemon.serves())
        for round in 0..<20 {
            let states = daemon.client().deviceStates()
            #expect(try Asking(states).state() != nil)
            if round % 2 == 0 { continue }
            let asking = try Asking(states)
            asking.cancelled.signal()
            #expect(try asking.state() == nil)
        }
        #expect(eventually { daemon.deviceObserverCount == 0 && daemon.connectionCount == 0 })
    }

    /// Why the present state is not told; nil: it is.
    private static func failure(on connection: DaemonConnection) throws -> KeychainError? {
        switch try connection.perform(KeychainRequest(.awaitDevice(after: 0))) {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// Whoever is told nothing would go on believing that everything is open.
    @Test func anEnclaveThatIsGoneIsSaidToBeThat() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(gate: gate)
        let states = daemon.client().deviceStates()
        #expect(try Asking(states).state() != nil)
        let connection = try DaemonFinder(daemon.configuration).connect()
        gate.hide()
        // What followed it ends with the change, and finds no other way.
        try daemon.enclave.setPasscode(passcode)
        var failure: KeychainError?
        #expect(
            try eventually {
                failure = try Self.failure(on: connection)
                if failure == nil { daemon.clock.advance(by: .milliseconds(200)) }
                return failure != nil
            })
        #expect(failure?.reason == .enclaveUnreachable)
        gate.show()
        #expect(
            try eventually {
                daemon.clock.advance(by: .milliseconds(200))
                return try Self.failure(on: connection) == nil
            })
        #expect(try Asking(states).state()?.hasPasscode == true)
        withExtendedLifetime(daemon) {}
    }
}
