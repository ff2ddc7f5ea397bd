import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PeerIdentity
import Puppets
import Synchronization
import Testing

/// The attacks of PeerIdentityTests on the daemon's own greeting, with this
/// kernel's features and with those of Linux 6.1.
@Suite(.timeLimit(.minutes(2))) struct AttackTests {
    static let features: [KernelFeatures] = [(try? KernelFeatures.probed()) ?? .linux61, .linux61]

    @Test(arguments: ExecAttack.allCases, features)
    func noValueComesAndOthersAreServed(_ attack: ExecAttack, _ features: KernelFeatures) throws {
        let victim = try VictimUnderTest(features)
        _ = try victim.daemon.client().perform(Bait.store)
        #expect(try ExecAttack.honestClient(of: victim) == "told", "the question is one that gets the value")
        #expect(try attack.mount(on: victim) == "refused")
        #expect(try ExecAttack.honestClient(of: victim) == "told")
        #expect(try victim.daemon.serves())
    }

    /// Documents N4 of the threat model.
    @Test(arguments: features)
    func attributesAreStillServedAfterAnExec(_ features: KernelFeatures) throws {
        let victim = try VictimUnderTest(features)
        _ = try victim.daemon.client().perform(Bait.store)
        #expect(try ExecAttack.attributesAfterTheHello(of: victim) == "told", "it is refused now: tell THREAT_MODEL.md")
    }
}

/// A daemon with one worker, which a client can be made to hold.
private final class VictimUnderTest: Victim {
    let daemon: DaemonUnderTest
    private let gate: Gate

    init(_ features: KernelFeatures) throws {
        let gate = try Gate()
        var rights = Entitlements()
        rights.keychainAccessGroups = ["latchkey"]
        let everybody = rights
        daemon = try DaemonUnderTest(
            rights: .decided { _ in
                gate.pass()
                return everybody
            }, features: features
        ) { $0.limits.workers = 1 }
        self.gate = gate
    }

    var socketPath: String { "\(daemon.locations.runDirectory)/\(Rendezvous.socketName)" }

    func whileItLooksAway(_ body: () throws -> Void) throws {
        gate.close()
        let configuration = daemon.configuration
        TestThread.start { _ = try? DaemonFinder(configuration).connect() }
        try gate.waitUntilSomebodyIsHeld()
        defer { gate.open() }
        try body()
    }
}

/// Holds the worker that comes by, once.
private final class Gate: Sendable {
    private let isClosed = Atomic(false)
    private let arrived: EventSignal
    private let opened: EventSignal

    init() throws {
        arrived = try EventSignal()
        opened = try EventSignal()
    }

    func close() { isClosed.store(true, ordering: .releasing) }

    func open() {
        isClosed.store(false, ordering: .releasing)
        opened.signal()
    }

    func pass() {
        guard isClosed.load(ordering: .acquiring) else { return }
        arrived.signal()
        // A test that fails opens the gate as well.
        _ = try? wait(for: opened.descriptor.raw, to: .receive, until: Deadline(after: .seconds(50), on: SystemClock()))
    }

    func waitUntilSomebodyIsHeld() throws {
        let limit = Deadline(after: .seconds(10), on: SystemClock())
        try #require(try wait(for: arrived.descriptor.raw, to: .receive, until: limit) == .ready, "nobody is held")
    }
}
