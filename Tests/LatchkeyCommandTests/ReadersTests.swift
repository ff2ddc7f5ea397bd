import KeychainModel
import KeychainProtocol
import Testing

@testable import LatchkeyCommand

/// Who could read an item: by the form of its group, its class and its constraint.
@Suite struct ReadersTests {
    @Test(arguments: [
        ("latchkey", "every program of this user", true), ("unit.backup.service", "the system service backup", false),
        ("unit.user/sync.service", "the service sync.service of this user's manager", true),
        ("flatpak.org.example.App", "the Flatpak org.example.App", true), ("snap.app", "the snap app", true),
        ("exe./usr/bin/git", "the program /usr/bin/git", true),
        ("adhoc.unreadable", "every program that may not be looked at", true),
        ("adhoc.com.example.app", "the program com.example.app", true),
        ("TEAM.shared", "programs that are entitled to TEAM.shared", true),
        ("secret-service.Work", "whoever is on your session bus", true),
    ])
    func eachRungIsSaid(group: String, who: String, canBePosedAs: Bool) {
        let reader = Readers.program(of: group)
        #expect(reader.who.hasPrefix(who))
        #expect(reader.canBePosedAs == canBePosedAs)
    }

    private static func readers(
        _ protection: ProtectionClass, passcode: Bool, protectors: [String] = ["software-file"],
        access: AccessControl? = nil
    ) -> Readers {
        var attributes = AttributeMap()
        attributes[.service] = .string("mail")
        attributes[.accessGroup] = .string("latchkey")
        attributes[.accessible] = .string(protection.rawValue)
        var status = KeychainStatus()
        status.hasPasscode = passcode
        status.protectors = protectors
        status.dataDirectory = "/data"
        return Readers(StoredItem(.generic, attributes), access, status, overBus: .everybody)
    }

    @Test func aCopyOfTheFolderOpensByClassPasscodeAndProtector() {
        func isOpen(_ readers: Readers) -> Bool { readers.readers.contains { $0.who.hasPrefix("whoever has a copy") } }
        #expect(isOpen(Self.readers(.whenUnlocked, passcode: false)))
        #expect(!isOpen(Self.readers(.whenUnlocked, passcode: true)))
        #expect(isOpen(Self.readers(.always, passcode: true)))
        #expect(!isOpen(Self.readers(.always, passcode: true, protectors: ["tpm2"])))
    }

    @Test func whatHasToBeProvedIsSaid() {
        #expect(Self.readers(.whenUnlocked, passcode: true).needs.isEmpty)
        let access = AccessControl(
            protection: "ak", constraints: ["od": .atLeast(1, of: [.passcode, .biometry(currentSet: false)])],
            requiresApplicationPassword: true)
        #expect(
            Self.readers(.whenUnlocked, passcode: true, access: access).needs
                == ["1 of: the passcode, biometry", "a password of the program's own"])
    }
}
