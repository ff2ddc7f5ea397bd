import KeychainModel
import Glibc
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// What the executable of a peer is worth.
struct ExecutableTests {
    private let door: Doorway

    init() throws { door = try Doorway() }

    /// Documents why the rung neither contains nor authenticates: the attacker's
    /// code runs in /usr/bin/true, and nothing that the kernel shows is wrong.
    @Test(arguments: KernelFeatures.tried)
    func aPreloadedTrustedProgramIsBelievedAndItsRungIsWorthNothing(_ features: KernelFeatures) throws {
        let attacker = try Puppet(inside: "/usr/bin/true", steps: ["connect", door.path, "nonce", "answer", "hear"])
        let (peer, _) = try door.greet(features)
        #expect(peer.identity.rungs == [.executable("/usr/bin/true"), AdHocNaming.rung(forPath: "/usr/bin/true")])
        #expect(!peer.identity.contains)
        #expect(!peer.identity.authenticates)
        #expect(peer.identity.strength == .user)
        withExtendedLifetime(attacker) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func aScriptHasNoExecutableRung(_ features: KernelFeatures) throws {
        let script = try door.folder.write("script", "#!/bin/sh\nexit 0\n", mode: 0o755)
        let attacker = try Puppet(inside: script, steps: ["connect", door.path, "nonce", "answer", "hear"])
        let (peer, _) = try door.greet(features)
        #expect(peer.identity.rungs.count == 1)
        #expect(peer.identity.rungs == [AdHocNaming.rung(forPath: try #require(Machine.shell))])
        withExtendedLifetime(attacker) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func aProgramThatItsUserCanReplaceHasNoExecutableRung(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "hear"])
        #expect(try door.identify(features).rungs == [AdHocNaming.rung(forPath: Workshop.shared.get().program)])
        withExtendedLifetime(client) {}
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root makes folders that are root's alone"), arguments: KernelFeatures.tried)
    func theExecutableRungNeedsEveryFolderToBeRootsAlone(_ features: KernelFeatures) throws {
        let place = try WorkFolder(in: "/var/lib", mode: 0o755)
        let inner = try place.makeFolder("inner")
        let program = inner + "/program"
        #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
        func rungs() throws -> [IdentityRung] {
            let client = try Puppet(["connect", door.path, "hear"], program: program)
            defer { withExtendedLifetime(client) {} }
            return try door.identify(features).rungs
        }
        let trusted: [IdentityRung] = [.executable(program), AdHocNaming.rung(forPath: program)]
        #expect(try rungs() == trusted)
        for (path, mode, safe) in [(program, 0o775, 0o755), (inner, 0o757, 0o755), (place.path, 0o1777, 0o755)] {
            try #require(unsafe chmod(path, mode_t(mode)) == 0)
            #expect(try rungs() == [trusted[1]], "\(path) with mode \(String(mode, radix: 8))")
            try #require(unsafe chmod(path, mode_t(safe)) == 0)
        }
        try #require(unsafe chown(inner, 4711, 4711) == 0)
        #expect(try rungs() == [trusted[1]])
        try #require(unsafe chown(inner, 0, 0) == 0)
        #expect(try rungs() == trusted)
    }

    /// A program that is upgraded while it runs keeps its items. Only root could replace it.
    @Test(
        .enabled(if: geteuid() == 0, "only root makes folders that are root's alone"), arguments: KernelFeatures.tried)
    func aReplacedExecutableOfRootsKeepsItsRungs(_ features: KernelFeatures) throws {
        let place = try WorkFolder(in: "/var/lib", mode: 0o755)
        let program = place.file("program")
        for keepsALink in [false, true] {
            #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
            #expect(try Puppet.run("/bin/cp", ["/usr/bin/true", place.file("other")]) == 0)
            // As a copy of the tree by hard links has one.
            if keepsALink { #expect(try Puppet.run("/bin/ln", [program, place.file("kept")]) == 0) }
            let client = try Puppet(
                ["rename", place.file("other"), program, "connect", door.path, "nonce", "answer", "hear"],
                program: program)
            let (peer, _) = try door.greet(features)
            #expect(peer.identity.rungs == [.executable(program), AdHocNaming.rung(forPath: program)])
            withExtendedLifetime(client) {}
        }
    }

    /// What its user can write vouches for nothing, also once it is gone.
    @Test(arguments: KernelFeatures.tried)
    func aReplacedExecutableHasNoExecutableRung(_ features: KernelFeatures) throws {
        let place = try WorkFolder(mode: 0o777)
        let program = place.file("program")
        #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
        #expect(try Puppet.run("/bin/cp", ["/usr/bin/true", place.file("other")]) == 0)
        let attacker = try Puppet(
            ["rename", place.file("other"), program, "connect", door.path, "nonce", "answer", "hear"], program: program)
        let (peer, _) = try door.greet(features)
        #expect(peer.identity.rungs == [AdHocNaming.rung(forPath: program)])
        withExtendedLifetime(attacker) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func aRemovedExecutableKeepsItsAdHocGroup(_ features: KernelFeatures) throws {
        let place = try WorkFolder(mode: 0o1777)
        let program = place.file("program")
        #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
        let client = try Puppet(["remove", program, "connect", door.path, "hear"], program: program)
        #expect(try door.identify(features).rungs == [AdHocNaming.rung(forPath: program)])
        withExtendedLifetime((client, place)) {}
    }

    /// A file that is really called so and is not gone.
    @Test(arguments: KernelFeatures.tried)
    func aNameThatEndsInTheKernelsNoteIsAName(_ features: KernelFeatures) throws {
        let place = try WorkFolder(mode: 0o1777)
        let program = place.file("program (deleted)")
        #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
        for removes in [false, true] {
            let client = try Puppet(
                (removes ? ["remove", program] : []) + ["connect", door.path, "hear"], program: program)
            #expect(try door.identify(features).rungs == [AdHocNaming.rung(forPath: program)])
            withExtendedLifetime((client, place)) {}
        }
    }

    @Test(
        .enabled(if: geteuid() != 0, "root looks at everything: scripts/test-unprivileged runs this"),
        arguments: KernelFeatures.tried)
    func aClientThatCannotBeLookedAtIsWorthNothing(_ features: KernelFeatures) throws {
        let client = try Puppet(["undumpable", "connect", door.path, "nonce", "answer", "hear"])
        let (peer, _) = try door.greet(features)
        #expect(peer.identity.rungs == [.unreadable])
        #expect(peer.identity.name == "adhoc.unreadable")
        #expect(peer.identity.strength == .none)
        #expect(!peer.identity.contains && peer.identity.mayBeContained)
        #expect(peer.process.hasNotExeced())
        withExtendedLifetime(client) {}
    }

    @Test func interpretersAreKnownByNameAndVersion() {
        let interpreters = [
            "/usr/bin/sh", "/usr/bin/dash", "/bin/bash", "/usr/bin/python3", "/usr/bin/python3.11",
            "/usr/bin/perl5.36.0",
            "/usr/bin/perl", "/usr/bin/node", "/usr/bin/ruby3.1", "/usr/lib/jvm/x/bin/java", "/usr/bin/lua5.4",
            "/usr/bin/php8.2", "/usr/bin/tclsh8.6", "/usr/bin/guile-3.0", "/usr/bin/busybox", "/usr/bin/env",
            "/usr/bin/qemu-aarch64-static", "/usr/bin/wine64", "/usr/lib/ld-linux-x86-64.so.2", "/lib/ld.so.1",
            "/usr/bin/gdb",
            "/usr/bin/wine-preloader", "/usr/bin/flock", "/lib/ld-musl-x86_64.so.1", "/usr/bin/emacs-gtk",
        ]
        for path in interpreters { #expect(Interpreters.contains(FilePath(path)), "\(path)") }
        for path in [
            "/usr/bin/git", "/usr/bin/node_exporter", "/usr/bin/shotwell", "/usr/bin/ldapsearch", "/python3/true",
        ] {
            #expect(!Interpreters.contains(FilePath(path)), "\(path)")
        }
    }
}

extension Machine {
    /// What /bin/sh is called once every link is followed.
    static let shell: String? = unsafe realpath("/bin/sh", nil).map { unsafe String(cString: $0) }
}
