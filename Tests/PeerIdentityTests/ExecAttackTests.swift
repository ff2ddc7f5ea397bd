import KeychainModel
import Glibc
import KeychainPlatform
import KeychainProtocol
import Testing

@testable import PeerIdentity

/// Attacks that change which program stands behind a connection.
struct ExecAttackTests {
    private let door: Doorway
    private let puppet: String

    init() throws {
        door = try Doorway()
        puppet = try Workshop.shared.get().program
    }

    @Test(arguments: KernelFeatures.tried)
    func anHonestClientIsGreeted(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "answer", "hear"])
        let (peer, _) = try door.greet(features)
        #expect(peer.process.processID == client.processID)
        #expect(peer.process.userID == geteuid())
        #expect(peer.header == Array("hi".utf8))
        #expect(peer.identity.rungs == [AdHocNaming.rung(forPath: puppet)])
        #expect(peer.identity.strength == .user)
        #expect(peer.process.hasNotExeced())
    }

    /// The connector becomes a trusted program, its child speaks.
    @Test(arguments: KernelFeatures.tried)
    func anExecSwapIsRefused(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "swap", "/usr/bin/sleep", "say", "swapped", "nonce", "answer", "hear"])
        try attacker.expect("swapped")
        #expect(try door.refusal(features) == .foreignSender)
    }

    /// The connector becomes a trusted launcher, is looked at, and comes back as
    /// the attacker: same number, same pidfd. `flock` waits where the attack
    /// needs it to, and `env` takes part.
    @Test(arguments: KernelFeatures.tried)
    func anExecThroughALauncherIsRefused(_ features: KernelFeatures) throws {
        let lock = try Lock(door.folder.file("lock"))
        let attacker = try Puppet([
            "connect", door.path, "exec", "/usr/bin/flock", "--no-fork", lock.path, "/usr/bin/env", "--", puppet, "adopt",
            "3", "nonce", "answer", "hear",
        ])
        try attacker.waitUntilItRuns("/usr/bin/flock")
        #expect(try door.refusal(features, afterChallenge: { lock.release() }) == .replacedItself)
    }

    /// The attacker is looked at before it execs: then it is known as what it is.
    @Test(arguments: KernelFeatures.tried)
    func anExecAfterTheHelloIsNoticedBeforeAValueLeaves(_ features: KernelFeatures) throws {
        let attacker = try Puppet([
            "connect", door.path, "nonce", "answer", "hear", "exec", "/usr/bin/env", puppet, "adopt", "3", "say", "new", "message",
            "hear",
        ])
        let (peer, channel) = try door.greet(features)
        #expect(peer.process.hasNotExeced())
        try attacker.tell()
        try attacker.expect("new")
        let sender = try channel.receive(until: Deadline(after: .seconds(50), on: SystemClock()))?.sender
        #expect(peer.process.accepts(sender), "the number and the pidfd do not show an exec")
        #expect(!peer.process.hasNotExeced())
        #expect(!peer.process.isStillTheSameProgram())
    }

    /// Documents a limit: a process that shares its memory keeps the old map in
    /// use across an exec, so that the map alone shows nothing. The look at the
    /// executable at the end of the hello does.
    @Test(arguments: KernelFeatures.tried)
    func sharedMemoryHidesAnExecFromTheMapButNotFromTheHello(_ features: KernelFeatures) throws {
        let attacker = try Puppet([
            "connect", door.path, "share-memory", "say", "sharing", "hear", "exec", "/usr/bin/env", "/usr/bin/sleep", "60",
        ])
        try attacker.expect("sharing")
        let process = try PeerProcess.identify(door.accept(), features: features, proc: .system())
        try attacker.tell()
        try attacker.waitUntilItRuns("/usr/bin/sleep")
        #expect(process.hasNotExeced(), "the kernel has learned to show it: tell THREAT_MODEL.md")
        #expect(!process.isStillTheSameProgram())
    }

    @Test(arguments: KernelFeatures.tried)
    func aChildThatInheritedTheConnectionIsNotItsParent(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "nonce", "answer", "hear", "message", "fork", "message", "hear"])
        let (peer, channel) = try door.greet(features)
        try attacker.tell()
        let limit = Deadline(after: .seconds(50), on: SystemClock())
        let own = try channel.receive(until: limit)?.sender
        let inherited = try channel.receive(until: limit)?.sender
        #expect(peer.process.accepts(own))
        #expect(!peer.process.accepts(inherited))
        #expect(!peer.process.accepts(nil))
    }

    @Test(arguments: KernelFeatures.tried)
    func aConnectionWhoseConnectorHasEndedIsDead(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "nonce", "answer", "hear", "abandon", "say", "orphan", "hear"])
        let (peer, _) = try door.greet(features)
        let itself = SenderCredentials(pid: peer.process.processID, uid: geteuid(), gid: getegid())
        #expect(peer.process.accepts(itself))
        try attacker.tell()
        try attacker.expect("orphan")
        #expect(!peer.process.accepts(itself), "a zombie is not alive")
        #expect(!peer.process.hasNotExeced())
    }

    @Test(arguments: KernelFeatures.tried)
    func aConnectorThatEndedBeforeTheLookIsRefused(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "abandon", "say", "orphan", "hear"])
        try attacker.expect("orphan")
        #expect(try door.refusal(features) == .gone)
    }
}

/// A lock file that flock(1) waits for.
private final class Lock: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(flock(descriptor, LOCK_EX) == 0)
    }

    func release() { flock(descriptor, LOCK_UN) }

    deinit { close(descriptor) }
}
