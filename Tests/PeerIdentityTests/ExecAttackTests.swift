import KeychainModel
import Glibc
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Puppets
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
        let attacker = try Puppet([
            "connect", door.path, "swap", "/usr/bin/sleep", "say", "swapped", "nonce", "answer", "hear",
        ])
        try attacker.expect("swapped")
        #expect(try door.refusal(features) == .foreignSender)
    }

    /// The connector becomes a trusted launcher, is looked at, and comes back as
    /// the attacker: same number, same pidfd. `flock` waits where the attack
    /// needs it to, and `env` takes part.
    @Test(arguments: KernelFeatures.tried)
    func anExecThroughALauncherIsRefused(_ features: KernelFeatures) throws {
        let lock = try LockFile(door.folder.file("lock"))
        let attacker = try Puppet([
            "connect", door.path, "exec", "/usr/bin/flock", "--no-fork", lock.path, "/usr/bin/env", "--", puppet,
            "adopt",
            "3", "nonce", "answer", "hear",
        ])
        try attacker.waitUntilItRuns("/usr/bin/flock")
        #expect(try door.refusal(features, afterChallenge: { lock.release() }) == .replacedItself)
    }

    /// The attacker is looked at before it execs: then it is known as what it is.
    @Test(arguments: KernelFeatures.tried)
    func anExecAfterTheHelloIsNoticedBeforeAValueLeaves(_ features: KernelFeatures) throws {
        let attacker = try Puppet([
            "connect", door.path, "nonce", "answer", "hear", "exec", "/usr/bin/env", puppet, "adopt", "3", "say", "new",
            "message",
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
            "connect", door.path, "share-memory", "say", "sharing", "hear", "exec", "/usr/bin/env", "/usr/bin/sleep",
            "60",
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
        let attacker = try Puppet([
            "connect", door.path, "nonce", "answer", "hear", "message", "fork", "message", "hear",
        ])
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

    /// The connector ends and a trusted program gets its number; an heir of the
    /// connection answers.
    @Test(
        .enabled(if: ProcessNumber.canBeChosen, "only root chooses the next process number"), .serialized,
        arguments: KernelFeatures.tried)
    func aTrustedProgramWithTheConnectorsNumberIsNotTheConnector(_ features: KernelFeatures) throws {
        for _ in 0..<50 {
            let door = try Doorway()
            let attacker = try Puppet([
                "connect", door.path, "abandon", "session", "say", "orphan", "nonce", "answer", "hear",
            ])
            try attacker.expect("orphan")
            attacker.waitForEnd()
            // Somebody else on this machine may have been given the number.
            guard let trusted = try ProcessNumber.start("/usr/bin/sleep", ["60"], as: attacker.processID) else {
                continue
            }
            #expect(try door.refusal(features) == (features.present.contains(.peerPidfd) ? .gone : .foreignSender))
            withExtendedLifetime(trusted) {}
            return
        }
        Issue.record("the number could not be had")
    }

    @Test(.enabled(if: geteuid() != 0, "root may stamp as it likes"), arguments: KernelFeatures.tried)
    func anOrdinaryUserCannotForgeTheStamp(_ features: KernelFeatures) throws {
        let clock = ManualClock()
        let attacker = try Puppet(["connect", door.path, "fork", "nonce", "forge", "hear"])
        let refusal = try door.refusal(features, clock: clock) {
            #expect((try? attacker.listen()) == "forbidden")
            clock.advance(by: .seconds(50))
        }
        #expect(refusal == .tooLate)
    }

    /// Our own programs hide once the hello is over: the kept map still shows
    /// what it has to.
    @Test(arguments: KernelFeatures.tried)
    func aClientThatHidesAfterTheHelloIsStillSeenToExec(_ features: KernelFeatures) throws {
        let client = try Puppet([
            "connect", door.path, "nonce", "answer", "hear", "undumpable", "say", "hidden", "hear", "exec", puppet,
            "say",
            "new", "hear",
        ])
        let (peer, _) = try door.greet(features)
        try client.tell()
        try client.expect("hidden")
        #expect(peer.process.hasNotExeced())
        try client.tell()
        try client.expect("new")
        #expect(!peer.process.hasNotExeced())
    }

    /// Documents why a plain client authenticates nothing: its user reads and
    /// writes its memory. One that hides is spared.
    @Test(.enabled(if: geteuid() != 0, "root reads all memory: scripts/test-unprivileged runs this"))
    func aPlainClientsMemoryIsItsUsersAndAHiddenOnesIsNot() throws {
        let plain = try Puppet(["say", "there", "hear"])
        try plain.expect("there")
        _ = try Descriptor.look(at: FilePath("/proc/\(plain.processID)/mem"), .reading)
        let hidden = try Puppet(["undumpable", "say", "there", "hear"])
        try hidden.expect("there")
        #expect(throws: SystemCallError("openat", errno: EACCES)) {
            try Descriptor.look(at: FilePath("/proc/\(hidden.processID)/mem"), .reading)
        }
    }

    @Test(arguments: KernelFeatures.tried)
    func aConnectorThatEndedBeforeTheLookIsRefused(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "abandon", "say", "orphan", "hear"])
        try attacker.expect("orphan")
        #expect(try door.refusal(features) == .gone)
    }
}

/// The number that the next process gets (CONFIG_CHECKPOINT_RESTORE).
private enum ProcessNumber {
    private static let last = "/proc/sys/kernel/ns_last_pid"

    static var canBeChosen: Bool {
        guard geteuid() == 0 else { return false }
        return unsafe access(last, W_OK) == 0
    }

    /// Starts a program with the number, or returns nil where that is taken.
    static func start(_ program: String, _ arguments: [String], as number: Int32) throws -> Puppet? {
        for _ in 0..<10 {
            let file = Descriptor(owning: unsafe open(last, O_WRONLY | O_CLOEXEC))
            try writeAll(file, Array("\(number - 1)".utf8))
            let puppet = try Puppet(running: program, arguments)
            if puppet.processID == number {
                try puppet.waitUntilItRuns(program)
                return puppet
            }
        }
        return nil
    }
}
