import Glibc
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
@Suite(.timeLimit(.minutes(20))) struct AttackTests {
    static let features: [KernelFeatures] = [(try? KernelFeatures.probed()) ?? .linux61, .linux61]

    @Test(arguments: ExecAttack.allCases, features)
    func noValueComesAndOthersAreServed(_ attack: ExecAttack, _ features: KernelFeatures) throws {
        let victim = try VictimUnderTest(features)
        _ = try victim.daemon.client().perform(Bait.store)
        #expect(try ExecAttack.honestClient(of: victim) == "told", "the question is one that gets the value")
        #expect(try attack.mount(on: victim) == "refused")
        let log = victim.daemon.lines.all
        #expect(log.contains { $0.contains(attack.verdict) }, "\(log)")
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

    @Test(.enabled(if: geteuid() == 0, "only root can be two users"), arguments: features)
    func anotherUserIsRefused(_ features: KernelFeatures) throws {
        let victim = try VictimUnderTest(features)
        _ = try victim.daemon.client().perform(Bait.store)
        let run = victim.daemon.locations.runDirectory
        // What keeps others out first are the folders; without them the daemon itself does.
        for path in [victim.daemon.folder.path, run, victim.socketPath] { try #require(unsafe chmod(path, 0o777) == 0) }
        #expect(try ExecAttack.client(ofUser: 0, of: victim) == "told", "the way there is open")
        #expect(try ExecAttack.client(ofUser: 65534, of: victim) == "refused")
        try #require(unsafe chmod(run, 0o700) == 0)
        #expect(try victim.daemon.serves())
    }

    /// Only the owner of a run folder can let that happen, so it is let happen here.
    @Test(.enabled(if: geteuid() == 0, "only root can be two users"))
    func aListenerOfAnotherUserIsNotBelievedByTheClient() throws {
        let folder = try WorkFolder(mode: 0o755)
        let run = try folder.makeFolder("run", mode: 0o777)
        let data = try PrivateDirectory(folder.file("data"), creating: true)
        // As a daemon has it; what nobody has locked is not believed in any case.
        let lock = try #require(try FileLock.take(data.openFile(Rendezvous.lockFile, creating: true)))
        defer { lock.release() }
        try lock.write(Rendezvous(processID: 1, runDirectory: run).encoded)
        let stranger = try Puppet(
            running: "/usr/bin/setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", "--", Workshop.shared.get().program]
                + ["listen", "\(run)/\(Rendezvous.socketName)", "say", "listening", "hear"])
        try stranger.expect("listening")
        try #require(unsafe chmod(run, 0o700) == 0)
        let locations = KeychainLocations(dataDirectory: data.path, runDirectory: run)
        let error = #expect(throws: KeychainError.self) {
            try DaemonFinder(ClientConfiguration(target: .store(locations, autostart: false))).connect()
        }
        #expect(error?.reason == .serverUntrusted)
        #expect(error?.underlying?.contains("user 65534") == true)
    }

    @Test(arguments: SquattedFolder.possible, features)
    func theDaemonRefusesASquattedRunFolder(_ squat: SquattedFolder, _ features: KernelFeatures) throws {
        let error = #expect(throws: KeychainError.self) {
            try DaemonUnderTest(features: features) { configuration in
                let run = configuration.locations.runDirectory
                try? squat.lay(at: run, target: run + "-elsewhere")
            }
        }
        #expect(error?.status == .notAvailable)
        #expect(error?.underlying?.contains(squat.complaint) == true, "\(error.debugDescription)")
    }

    @Test(arguments: SquattedFolder.possible, features)
    func theClientRefusesARunFolderThatWasSquattedLater(_ squat: SquattedFolder, _ features: KernelFeatures) throws {
        let daemon = try DaemonUnderTest(features: features)
        let run = daemon.locations.runDirectory
        // A daemon that is quick makes the folder anew in between: then once more.
        for round in 0... {
            try #require(round < 1000)
            try #require(unsafe rename(run, run + "-real\(round)") == 0)
            do {
                try squat.lay(at: run, target: run + "-real0")
                break
            } catch let error as SystemCallError where error.errno == EEXIST { continue }
        }
        var refusal: KeychainError?
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        repeat {
            refusal = nil
            do throws(KeychainError) { _ = try DaemonFinder(daemon.configuration).connect() } catch { refusal = error }
            guard refusal == KeychainError(.notAvailable, reason: .daemonUnreachable) else { break }
            // A daemon that is just moving listens nowhere; where the folder was laid under its hands it
            // tries again a second later, by a clock that stands.
            daemon.clock.advance(by: .seconds(1))
        } while !deadline.hasPassed
        guard let refusal else {
            // The daemon has seen it in the meantime, and listens elsewhere. (With a
            // daemon that does not look: ShippedAttackTests.)
            let data = try PrivateDirectory(daemon.locations.dataDirectory, creating: false)
            #expect(try Rendezvous.read(in: data)?.runDirectory == daemon.locations.dataDirectory + "/run")
            return
        }
        #expect(refusal.status == .notAvailable)
        #expect(refusal.underlying?.contains(squat.complaint) == true, "\(refusal)")
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
