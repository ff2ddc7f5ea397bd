import KeychainModel
import Glibc
import KeychainPlatform
import KeychainTestSupport
import Puppets
import Testing

@testable import PeerIdentity

/// Peers that see other files, users or processes than the daemon does.
struct SandboxAttackTests {
    private let door: Doorway
    private let puppet: String

    init() throws {
        door = try Doorway()
        puppet = try Workshop.shared.get().program
    }

    /// In namespaces of its own a program can put libraries of its choice under
    /// an executable that is the real one, file and all.
    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aTrustedProgramInForeignNamespacesHasNoExecutableRung(_ features: KernelFeatures) throws {
        let attacker = try Puppet(
            inside: "/usr/bin/true", steps: ["foreign", "connect", door.path, "nonce", "answer", "hear"])
        let (peer, _) = try door.greet(features)
        #expect(peer.identity.rungs == [.foreign])
        #expect(peer.identity.strength == .user)
        // Every other sandbox could copy that path, and have what this one stored.
        #expect(peer.identity.entitlements.keychainAccessGroups.isEmpty)
        withExtendedLifetime(attacker) {}
    }

    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aForeignUserNamespaceAloneIsForeign(_ features: KernelFeatures) throws {
        let attacker = try Puppet(inside: "/usr/bin/true", steps: ["foreign-user", "connect", door.path, "hear"])
        #expect(try door.identify(features).rungs == [.foreign])
        withExtendedLifetime(attacker) {}
    }

    /// What set-user-id helpers of sandboxes make as well: a unit's mounts are told from them by
    /// the control group.
    @Test(.enabled(if: geteuid() == 0, "only root makes a mount namespace alone"), arguments: KernelFeatures.tried)
    func aForeignMountNamespaceIsForeignOutsideUnits(_ features: KernelFeatures) throws {
        let client = try Puppet(inside: "/usr/bin/true", steps: ["foreign-mount", "connect", door.path, "hear"])
        let identity = try door.identify(features)
        // These tests may run in a unit themselves.
        let isUnit = try ProcRoot.system().ownControlGroup?.systemService != nil
        let local: [IdentityRung] = [.executable("/usr/bin/true"), AdHocNaming.rung(forPath: "/usr/bin/true")]
        #expect(identity.rungs == (isUnit ? local : [.foreign]))
        #expect(identity.mayBeContained == !isUnit && !identity.contains && !identity.authenticates)
        withExtendedLifetime(client) {}
    }

    /// A system unit with PrivateTmp or ProtectSystem, or a daemon that such a unit started: the
    /// same program is the same on either side, as long as it is no sandbox's.
    @Test(arguments: [
        ("0::/user.slice/a.scope", "0::/system.slice/nightly.service", false, true),
        ("0::/system.slice/nightly.service", "0::/user.slice/a.scope", false, true),
        ("0::/user.slice/a.scope", "0::/user.slice/b.scope", false, false),
        ("0::/user.slice/a.scope", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", false, false),
        ("0::/system.slice/nightly.service", "0::/user.slice/snap.evil.app-1.scope", false, false),
        ("0::/system.slice/nightly.service", "0::/system.slice/other.service", true, false),
    ])
    func mountsOfUnitsAreNoSandbox(_ ours: String, _ theirs: String, _ isFlatpak: Bool, _ isLocal: Bool) throws {
        let path = FilePath("/usr/bin/true")
        let file = try FileStatus(at: FilePath("/usr/bin/true"), followingLink: false)
        let own = try ProcRoot.system().ownNamespaces
        for (user, mount) in [(false, true), (true, true), (true, false)] {
            let other = FileIdentity(device: 1, inode: 1)
            let namespaces = Namespaces(
                user: user ? other : own.user, mount: mount ? other : own.mount, process: own.process)
            let foreign = ForeignNamespaces(namespaces, own: own)
            let evidence = PeerEvidence(
                executable: PeerExecutable(file: file, path: path, mount: nil, sees: foreign), foreign: foreign,
                isTraced: false, controlGroup: ControlGroup(file: Array((theirs + "\n").utf8)),
                flatpak: isFlatpak ? FlatpakInfo(Array("[Application]\nname=org.evil.App\n".utf8)) : nil,
                ours: ControlGroup(file: Array((ours + "\n").utf8)))
            #expect(evidence.isForeign == (user || !isLocal), "\(user) \(mount)")
        }
    }

    /// Who has mounts of its own gives any file of root's any name, and runs it from outside, by
    /// /proc/PID/root: the kernel's note that a file is gone is part of that name.
    @Test(.enabled(if: RunningKernel.mayMount, "only root makes a mount namespace alone"), arguments: KernelFeatures.tried)
    func aNameOfAnotherMountIsNoNameOfOurs(_ features: KernelFeatures) throws {
        let place = try WorkFolder(in: "/var/lib", mode: 0o755)
        let victim = place.file("victim")
        let program = place.file("own")
        #expect(try Puppet.run("/bin/cp", [puppet, program]) == 0)
        let script = "mount -t tmpfs none \"$0\" && touch \"$1 (deleted)\" && mount --bind /dev/fd/3 \"$1 (deleted)\" && sleep 60"
        let mounts = try Puppet(
            running: "/usr/bin/unshare", ["-m", "sh", "-c", "exec 3<\"$2\"; \(script)", place.path, victim, program])
        let named = "/proc/\(mounts.processID)/root\(victim) (deleted)"
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        func isThere() throws -> Bool {
            do throws(SystemCallError) {
                return try FileStatus(at: FilePath(named), followingLink: true).byteCount > 0
            } catch { return false }
        }
        while try !isThere(), !deadline.hasPassed { sched_yield() }
        let attacker = try Puppet(running: named, ["connect", door.path, "hear"])
        let identity = try door.identify(features)
        #expect(!identity.rungs.contains(.executable(victim)) && !identity.rungs.contains(AdHocNaming.rung(forPath: victim)))
        #expect(identity.rungs.count == 1, "\(identity.rungs)")
        withExtendedLifetime((attacker, mounts)) {}
    }

    /// A container, which has another file where we have this one.
    @Test(.enabled(if: RunningKernel.mayMount, "only root makes a mount namespace alone"), arguments: KernelFeatures.tried)
    func aForeignMountNamespaceWithAnotherFileIsForeign(_ features: KernelFeatures) throws {
        let victim = door.folder.file("program")
        let own = door.folder.file("own")
        for program in [victim, own] { #expect(try Puppet.run("/bin/cp", [puppet, program]) == 0) }
        let attacker = try Puppet(
            running: "/usr/bin/unshare",
            ["-m", "sh", "-c", "mount --bind \"$0\" \"$1\" && exec \"$1\" connect \"$2\" hear", own, victim, door.path])
        let identity = try door.identify(features)
        #expect(identity.rungs == [.foreign])
        #expect(!identity.contains && identity.mayBeContained)
        #expect(identity.entitlements.keychainAccessGroups.isEmpty)
        withExtendedLifetime(attacker) {}
    }

    /// Any program of the user can enter a folder with a .flatpak-info in it.
    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aForgedFlatpakContainsButDoesNotAuthenticate(_ features: KernelFeatures) throws {
        let root = try door.folder.makeFolder("root")
        try door.folder.write("root/.flatpak-info", "[Application]\nname=org.mozilla.firefox\n")
        let attacker = try Puppet([
            "connect", door.path, "foreign", "enter", root, "nonce", "answer", "say", "in", "hear",
        ])
        let (peer, _) = try greetInside(attacker, root, features)
        #expect(peer.identity.rungs.first == .flatpak(application: "org.mozilla.firefox"))
        #expect(peer.identity.entitlements.nameableGroups == ["latchkey"])
        #expect(peer.identity.contains)
        #expect(!peer.identity.authenticates)
        #expect(peer.identity.strength == .user)
        // What it is called inside reaches nothing outside.
        #expect(peer.identity.rungs.count == 2)
        #expect(!peer.identity.rungs.contains(AdHocNaming.rung(forPath: puppet)))
    }

    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aFlatpakInfoThatIsNoPlainFileIsNoEvidence(_ features: KernelFeatures) throws {
        let root = try door.folder.makeFolder("root")
        try #require(unsafe mkfifo(root + "/.flatpak-info", 0o644) == 0)
        let attacker = try Puppet([
            "connect", door.path, "foreign", "enter", root, "nonce", "answer", "say", "in", "hear",
        ])
        let (peer, _) = try greetInside(attacker, root, features)
        #expect(peer.identity.rungs.count == 1 && !peer.identity.contains)
    }

    /// A daemon in a pid namespace cannot see who connects from outside: the
    /// kernel gives the number 0. The daemon is this test program, started again
    /// in such a namespace with the accepted connection as its input.
    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aPeerOutsideThePidNamespaceIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "hear"])
        let report = try door.folder.write("report", "")
        let own = try Descriptor.look(at: FilePath("/proc/self"), .folder).linkTarget(FilePath("exe"))
        let status = try Puppet.run(
            "/usr/bin/unshare",
            (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + [
                "--pid", "--fork", "--mount-proc", "--", try #require(own.printable), "--testing-library",
                "swift-testing",
                "--filter", "InnerDaemon",
            ],
            environment: ["\(InnerDaemon.report)=\(report)", "\(InnerDaemon.features)=\(features.present.count)"],
            input: door.accept().descriptor)
        #expect(status == 0)
        #expect(try door.folder.read("report") == "\(PeerRefusal.foreignProcessNamespace)")
        withExtendedLifetime(client) {}
    }

    /// The other way about the number is good: a namespace below ours is in view.
    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func aPeerInAPidNamespaceBelowIsSeenAndStamped(_ features: KernelFeatures) throws {
        let client = try Puppet(
            running: "/usr/bin/unshare",
            [
                "--user", "--map-root-user", "--pid", "--fork", "--", puppet, "connect", door.path, "nonce", "answer",
                "hear",
            ])
        let (peer, _) = try door.greet(features)
        #expect(peer.process.processID != client.processID && peer.process.processID > 0)
        #expect(peer.identity.userID == geteuid())
        #expect(peer.identity.rungs == [.foreign])
    }

    /// Documents a limit: whoever is root in a sandbox with pids of its own can
    /// stamp any process of that sandbox, and no other. Nothing that
    /// authenticates can be had there.
    @Test(.enabled(if: Machine.allowsNamespaces, Machine.noNamespaces), arguments: KernelFeatures.tried)
    func theRootOfASandboxForgesStampsWithinItAndGainsNothing(_ features: KernelFeatures) throws {
        let client = try Puppet(
            running: "/usr/bin/unshare",
            [
                "--user", "--map-root-user", "--pid", "--fork", "--", puppet, "connect", door.path, "fork", "nonce",
                "forge", "hear",
            ])
        let (peer, _) = try door.greet(features)
        #expect(!peer.identity.authenticates && !peer.identity.contains)
        #expect(peer.identity.rungs == [.foreign])
        withExtendedLifetime(client) {}
    }

    /// Looks only once the peer is in its root.
    private func greetInside(_ peer: Puppet, _ root: String, _ features: KernelFeatures) throws -> (
        peer: GreetedPeer, Puppet
    ) {
        let folder = try Descriptor.look(at: FilePath("/proc/\(peer.processID)"), .folder)
        while try folder.linkTarget(FilePath("root")) != FilePath(root) { sched_yield() }
        return (try door.greet(features).peer, peer)
    }
}

/// What the machine lets a test do.
enum Machine {
    static let noNamespaces: Comment = "this kernel forbids user namespaces: the attack cannot be mounted here"

    static let allowsNamespaces: Bool = {
        guard let probe = try? Puppet(["foreign", "say", "allowed"]) else { return false }
        return (try? probe.listen()) == "allowed"
    }()
}

/// The part of ``SandboxAttackTests`` that runs inside: alone it does nothing.
struct InnerDaemon {
    static let report = "LATCHKEY_TEST_REPORT"
    static let features = "LATCHKEY_TEST_FEATURES"

    @Test(.enabled(if: ProcessEnvironment.variable(report) != nil, "started by aPeerOutsideThePidNamespaceIsRefused"))
    func looksAtItsInput() throws {
        let socket = PacketSocket(owning: Descriptor(owning: 0))
        let features = ProcessEnvironment.variable(Self.features) == "0" ? KernelFeatures.linux61 : try .probed()
        let report = try #require(ProcessEnvironment.variable(Self.report))
        var text = "identified"
        do {
            _ = try PeerProcess.identify(socket, features: features, proc: .system())
        } catch {
            text = "\(error)"
        }
        try writeAll(
            PrivateDirectory(report.dropLastComponent, creating: false).openFile("report", creating: false),
            Array(text.utf8))
    }
}

extension String {
    fileprivate var dropLastComponent: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? self }
}
