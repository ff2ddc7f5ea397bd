import Glibc
import KeychainModel
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// What an identity says of itself.
struct PeerIdentityTests {
    private static let all: [IdentityRung] = [
        .systemUnit("x"), .userUnit("x"), .flatpak(application: "x.y"), .snap("x"), .executable("/x"), .bundle("x.y"),
        .path(digest: "00"), .unreadable,
    ]

    /// The table of ARCHITECTURE.md section 5.
    @Test func theWorthOfEachRungIsTheTables() {
        #expect(Self.all.map(\.contains) == [true, true, true, true, false, false, false, false])
        #expect(Self.all.map(\.authenticates) == [true, false, false, false, false, false, false, false])
        #expect(
            Self.all.map(\.groupName) == [
                "unit.x", "unit.user/x", "flatpak.x.y", "snap.x", "exe./x", "adhoc.x.y", "adhoc.00", "adhoc.unreadable",
            ])
        #expect(Set(Self.all.map(\.group)).count == Self.all.count)
    }

    @Test func theGroupsAreTheRungsInOrderAndTheCommandLinesIsOnlyNamed() throws {
        let door = try Doorway()
        let client = try Puppet(inside: "/usr/bin/true", steps: ["connect", door.path, "hear"])
        let identity = try door.identify(.probed())
        let entitlements = identity.entitlements
        #expect(entitlements.accessGroups == identity.rungs.map(\.group))
        #expect(entitlements.accessGroups.first?.name == "exe./usr/bin/true")
        #expect(entitlements.nameableGroups == ["latchkey", "secret-service"])
        #expect(entitlements.flags.isEmpty && entitlements.rules == .ios)
        #expect(entitlements.applicationIdentifier == nil && entitlements.applicationGroups.isEmpty)
        withExtendedLifetime(client) {}
    }

    @Test func linux61IsEverythingAbsent() {
        #expect(KernelFeatures.linux61.present.isEmpty)
        #expect(KernelFeature.allCases.map(\.rawValue) == ["SO_PEERPIDFD", "PIDFD_GET_INFO", "pidfs"])
        #expect(KernelFeature.allCases.filter(\.isNeededToAuthenticate) == [.peerPidfd])
    }

    @Test func everyRefusalSaysWhatToDoAndTravelsAsAReason() {
        #expect(PeerRefusal.wrongNonce.reason == .identityRefused(why: PeerRefusal.wrongNonce.explanation))
        #expect(PeerRefusal.foreignProcessNamespace.explanation.contains("daemon"))
    }

    @Test func aFlatpakInfoIsReadAsFlatpakWritesItAndNotOtherwise() {
        func application(_ text: String) -> String? { FlatpakInfo(Array(text.utf8))?.application }
        #expect(
            application("[Application]\nname=org.example.App\nruntime=x\n[Instance]\nname=no.such.App\n")
                == "org.example.App")
        #expect(application("[Runtime]\nname=org.example.Runtime\n") == nil)
        #expect(application("name=org.example.App\n[Application]\n") == nil)
        #expect(application("[Application]\nname=App\n") == nil)
        #expect(application("[Application]\nname=org.example/../App\n") == nil)
        #expect(application("") == nil)
        #expect(FlatpakInfo([0x5B, 0xFF, 0x0A]) == nil)
    }
}
