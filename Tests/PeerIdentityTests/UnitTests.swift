import Glibc
import KeychainModel
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// Units: the one rung that authenticates, and everything that must not reach it.
struct UnitTests {
    private static let serviceUser = "990"
    private static let rootOnly: Comment = "only root starts processes of other users"

    /// A real folder of the unified hierarchy, as systemd would make it.
    @Test(.enabled(if: UnitFolder.canBeMade, "only root makes control groups"), arguments: KernelFeatures.tried)
    func aSystemUnitWithAUserOfItsOwnAuthenticates(_ features: KernelFeatures) throws {
        let door = try Doorway(forEveryone: true)
        try UnitFolder.with { unit in
            let client = try Puppet([
                "group", unit.path, "user", Self.serviceUser, "connect", door.path, "nonce", "answer", "hear",
            ])
            let (peer, _) = try door.greet(features)
            let isSure = features.present.contains(.peerPidfd)
            #expect(peer.identity.rungs.first == .systemUnit(unit.name))
            #expect(peer.identity.name == "unit.\(unit.name)")
            #expect(peer.identity.contains)
            #expect(peer.identity.strength == (isSure ? .program : .user))
            #expect(peer.identity.authenticates == isSure)
            #expect(peer.identity.missingFeatures.isEmpty == isSure)
            withExtendedLifetime(client) {}
        }
    }

    /// Root, nobody and people: their other programs could attach to the unit's.
    @Test(
        .enabled(if: UnitFolder.canBeMade, "only root makes control groups"), arguments: ["0", "1000", "4711", "65534"])
    func aSystemUnitUnderAPersonsUserGivesNoRung(_ user: String) throws {
        let door = try Doorway(forEveryone: true)
        try UnitFolder.with { unit in
            let client = try Puppet(["group", unit.path, "user", user, "connect", door.path, "hear"])
            let rungs = try door.identify(.probed()).rungs
            #expect(!rungs.contains(.systemUnit(unit.name)))
            withExtendedLifetime(client) {}
        }
    }

    @Test(.enabled(if: UnitFolder.canBeMade, "only root makes control groups"), arguments: KernelFeatures.tried)
    func aTracedUnitGivesNoRung(_ features: KernelFeatures) throws {
        let door = try Doorway(forEveryone: true)
        try UnitFolder.with { unit in
            let client = try Puppet([
                "group", unit.path, "user", Self.serviceUser, "traced", "connect", door.path, "hear",
            ])
            let identity = try door.identify(features)
            #expect(!identity.rungs.contains(.systemUnit(unit.name)))
            #expect(identity.strength == .user)
            withExtendedLifetime(client) {}
        }
    }

    /// Below a cgroup namespace of its maker's choice "/system.slice" is anybody's.
    @Test(.enabled(if: UnitFolder.canBeMade, "only root makes control groups"))
    func aHierarchyThatIsNotWholeProvesNothing() throws {
        let door = try Doorway(forEveryone: true)
        try UnitFolder.with { unit in
            let client = try Puppet(["group", unit.path, "user", Self.serviceUser, "connect", door.path, "hear"])
            let part = try ProcRoot(at: FilePath("/proc"), hierarchy: .part)
            let rungs = try door.identify(.probed(), proc: part).rungs
            #expect(!rungs.contains(.systemUnit(unit.name)))
            withExtendedLifetime(client) {}
        }
    }

    /// Each feature taken away alone, on a unit in a fixture.
    @Test(.enabled(if: geteuid() == 0, rootOnly), arguments: KernelFeature.allCases)
    func aMissingFeatureIsNamedAndOnlyThePidfdIsNeeded(_ feature: KernelFeature) throws {
        let identity = try identity(of: Self.serviceUser, in: "/system.slice/x.service", .all.without(feature))
        #expect(identity.missingFeatures.contains(feature))
        #expect(identity.rungs.first == .systemUnit("x"))
        let kernel = try KernelFeatures.probed()
        let isSure = feature != .peerPidfd && kernel.present.contains(.peerPidfd)
        #expect(identity.strength == (isSure ? .program : .user))
    }

    @Test(.enabled(if: geteuid() == 0, rootOnly))
    func aSystemdsDynamicUserIsAUserOfItsOwn() throws {
        #expect(try identity(of: "61184", in: "/system.slice/x.service").rungs.first == .systemUnit("x"))
    }

    /// A set-user-id program is started by somebody else, with what that wants.
    @Test(.enabled(if: geteuid() == 0, rootOnly))
    func aSetUserIDProgramInAUnitGivesNoRung() throws {
        for (real, expected) in [(Self.serviceUser, true), ("1000", false)] {
            let user = Self.serviceUser
            let status = "TracerPid:\t0\nUid:\t\(real)\t\(user)\t\(user)\t\(user)\nGid:\t1\t1\t1\t1\n"
            let rungs = try identity(of: user, in: "/system.slice/x.service", .linux61, status: status).rungs
            #expect(rungs.contains(.systemUnit("x")) == expected)
        }
    }

    /// A unit of the user's own manager can never have the name of a system unit.
    @Test func aUserUnitContainsAndHasAGroupOfItsOwn() throws {
        let user = geteuid()
        let identity = try identity(in: "/user.slice/user-\(user).slice/user@\(user).service/app.slice/nginx.service")
        #expect(identity.rungs.first == .userUnit("nginx"))
        #expect(identity.name == "unit.user/nginx")
        #expect(identity.contains && !identity.authenticates)
        #expect(identity.strength == .user)
    }

    @Test func aUserUnitNamedLikeAGroupOfTheSystemIsNotIt() throws {
        let user = geteuid()
        for name in ["user/x", "..", "x/../y"] {
            let path = "/user.slice/user-\(user).slice/user@\(user).service/\(name).service"
            let groups = try identity(in: path).entitlements.keychainAccessGroups
            #expect(groups.allSatisfy { !$0.hasPrefix("unit.") || $0.hasPrefix("unit.user/") })
        }
    }

    @Test func aSnapContainsAndIsNotAlsoAUserUnit() throws {
        let user = geteuid()
        let identity = try identity(
            in: "/user.slice/user-\(user).slice/user@\(user).service/a.service/snap.x.y-1.scope")
        #expect(identity.rungs.first == .snap("x"))
        #expect(identity.rungs.count == 2)
        #expect(identity.contains && !identity.authenticates)
    }

    @Test(arguments: [
        "Name:\tx\nTracerPid:\t0\nUid:\t1\t2\t3\nGid:\t1\t2\t3\t4\n", "",
        "Uid:\t-1\t0\t0\t0\nGid:\t0\t0\t0\t0\nTracerPid:\t0\n",
    ])
    func aStatusThatIsNoneIsRefused(_ text: String) throws {
        #expect(ProcessStatus(Array(text.utf8)) == nil)
        let door = try Doorway()
        let client = try Puppet(["connect", door.path, "say", "there", "hear"])
        try client.expect("there")
        let fixture = try ProcFixture(of: client)
        try fixture.replace("status", with: text)
        #expect(throws: PeerRefusal.gone) { try door.identify(.probed(), proc: fixture.root()) }
    }

    @Test func namesThatAProcessChoosesCannotPretendToBeFields() {
        let status = Array("Name:\tUid:\t0\\nUid:\t0\nTracerPid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n".utf8)
        #expect(ProcessStatus(status)?.credentials.effectiveUser == 2)
        #expect(ProcessStatus(status)?.tracerID == 7)
        let stat = "42 (a) b) 1 (2) S " + (4...21).map(String.init).joined(separator: " ") + " 4242 23"
        #expect(ProcessRecord(Array(stat.utf8))?.startTime == 4242)
        #expect(ProcessRecord(Array("42 (a".utf8)) == nil)
        #expect(ProcessRecord(Array("42 (a) S 1".utf8)) == nil)
    }

    @Test(.enabled(if: geteuid() == 0, rootOnly), arguments: KernelFeatures.tried)
    func aPeerThatChangedItsUserAfterConnectingIsRefused(_ features: KernelFeatures) throws {
        let door = try Doorway()
        let client = try Puppet(["connect", door.path, "user", "4711", "say", "changed", "hear"])
        try client.expect("changed")
        #expect(try door.refusal(features) == .credentialsChanged)
    }

    private func identity(
        of user: String? = nil, in controlGroup: String, _ features: KernelFeatures = .all, status: String? = nil
    ) throws -> PeerIdentity {
        let door = try Doorway(forEveryone: user != nil)
        let client = try Puppet((user.map { ["user", $0] } ?? []) + ["connect", door.path, "say", "there", "hear"])
        try client.expect("there")
        let fixture = try ProcFixture(of: client)
        try fixture.replace("cgroup", with: "3:name=systemd:/\n0::\(controlGroup)\n")
        if let status { try fixture.replace("status", with: status) }
        return try door.identify(features, proc: fixture.root())
    }
}

/// `system.slice/NAME.service` in the unified hierarchy of this machine.
private struct UnitFolder {
    let name = "latchkey-test-" + Random.bytes(4).map { String($0, radix: 16) }.joined()
    let path: String

    /// The hybrid layout has the unified hierarchy in a folder of its own.
    private static let hierarchy: String? = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { folder in
        guard unsafe access(folder + "/cgroup.controllers", F_OK) == 0 else { return false }
        return unsafe access(folder + "/cgroup.procs", W_OK) == 0
    }

    static var canBeMade: Bool { geteuid() == 0 && hierarchy != nil }

    /// Makes the folder, and removes it once what `body` started has ended. A
    /// slice that systemd or another test uses stays, because it is not empty.
    static func with(_ body: (UnitFolder) throws -> Void) throws {
        let slice = try #require(hierarchy) + "/system.slice"
        _ = unsafe mkdir(slice, 0o755)
        let unit = UnitFolder(in: slice)
        while unsafe mkdir(unit.path, 0o755) != 0 {
            try #require(errno == ENOENT)  // another test has just removed the slice
            _ = unsafe mkdir(slice, 0o755)
        }
        defer {
            while unsafe rmdir(unit.path) != 0 && errno == EBUSY { sched_yield() }
            _ = unsafe rmdir(slice)
        }
        try body(unit)
    }

    private init(in slice: String) { path = "\(slice)/\(name).service" }
}
