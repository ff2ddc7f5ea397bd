import Foundation
import Glibc
import KeychainTestSupport
import Testing

@testable import KeychainPlatform

/// What a static program asks in place of the C library's name service, whose modules
/// end such a program.
@Suite struct UserDatabaseTests {
    private let folder: TemporaryDirectory
    private let file: String

    init() throws {
        folder = try TemporaryDirectory("users")
        file = folder.path("passwd")
    }

    private func database(_ lines: String, getent: String = "/nowhere/getent") throws -> UserDatabase {
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        return UserDatabase(file: file, getent: getent, clock: SystemClock())
    }

    private func script(_ text: String) throws -> String {
        let path = folder.path("getent")
        try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    @Test func anAccountIsFoundByNumberAndByName() throws {
        let users = try database("root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000:Alice,,,:/home/alice:/bin/bash\n")
        let alice = UserDatabase.Account(name: "alice", userID: 1000, home: "/home/alice")
        #expect(users.listed(.userID(1000)) == alice)
        #expect(users.listed(.name("alice")) == alice)
        #expect(users.listed(.userID(1001)) == nil)
        #expect(users.listed(.name("Alice")) == nil)
    }

    /// Else "+", which NIS puts there, would be root.
    @Test func whatIsNoAccountIsNone() throws {
        let users = try database(
            "+::::::\n-bob:x:5:5::/home/bob:\n+@net:x:7:7::/x:\nhalf:x:8\n# note\n\nx:x:9:9::/home/x:\n")
        for number: UInt32 in [0, 5, 7, 8] { #expect(users.listed(.userID(number)) == nil) }
        #expect(users.listed(.userID(9))?.home == "/home/x")
    }

    @Test func aFileThatIsMissingLongOrNoTextHasNone() throws {
        #expect(try database("").listed(.userID(0)) == nil)
        let long = String(repeating: "x", count: 200_000)
        #expect(try database("long:x:3:3:\(long):/home/long:\n").listed(.userID(3)) == nil)
        try Data((0...255).map { UInt8($0) }).write(to: URL(fileURLWithPath: file))
        #expect(UserDatabase(file: file, getent: "/nowhere", clock: SystemClock()).listed(.userID(3)) == nil)
        #expect(
            UserDatabase(file: folder.path("none"), getent: "/nowhere", clock: SystemClock()).listed(.userID(3)) == nil)
    }

    /// systemd-homed, a directory server, DynamicUser= are other sources than the file.
    @Test func theMachineIsAskedForOthers() throws {
        let getent = try script(#"[ "$*" = "passwd 54321" ] && echo "carol:x:54321:54321::/home/carol:/bin/sh""#)
        let users = try database("root:x:0:0:root:/root:/bin/sh\n", getent: getent)
        #expect(users.asked(.userID(54321)) == .init(name: "carol", userID: 54321, home: "/home/carol"))
        #expect(users.asked(.userID(54322)) == nil)
    }

    @Test(arguments: [
        "exit 2", "echo nonsense", "echo bob:x:1:1::/home/bob:", "kill -9 $$", "head -c 200000 /dev/zero", ":",
    ])
    func whatAnswersForAnotherOrNotAtAllIsNotBelieved(_ program: String) throws {
        let users = try database("", getent: try script(program))
        #expect(users.asked(.userID(54321)) == nil)
        #expect(try database("").asked(.userID(54321)) == nil)
    }

    /// What the C library says, both ways.
    @Test func theMachinesOwnIsReadAsTheCLibraryReadsIt() throws {
        let entry = unsafe getpwuid(0)
        let home = unsafe entry.map { unsafe String(cString: $0.pointee.pw_dir) }
        #expect(home != nil)
        #expect(UserDatabase.machine[.userID(0)]?.home == home)
        #expect(UserDatabase.machine.listed(.userID(0))?.home == home)
        #expect(UserDatabase.machine.asked(.userID(0))?.home == home)
        #expect(UserDatabase.machine[.name("root")]?.userID == 0)
    }
}
