import KeychainModel
import Glibc
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// Which Info.plist names a program that nothing else vouches for.
struct BundleTests {
    private let door: Doorway

    init() throws { door = try Doorway() }

    private func lastRung(of program: String) throws -> IdentityRung? {
        let client = try Puppet(["connect", door.path, "hear"], program: program)
        defer { withExtendedLifetime(client) {} }
        return try door.identify(.linux61).rungs.last
    }

    private func install(_ folders: [String]) throws -> String {
        var path = ""
        for folder in folders {
            path += path.isEmpty ? folder : "/" + folder
            _ = try door.folder.makeFolder(path)
        }
        let program = door.folder.file((path.isEmpty ? "" : path + "/") + "program")
        #expect(try Puppet.run("/bin/cp", [Workshop.shared.get().program, program]) == 0)
        return program
    }

    @Test func aPlistBesideTheExecutableNamesIt() throws {
        let program = try install(["X.app"])
        try door.folder.write("X.app/Info.plist", "bundle org.example.Beside")
        #expect(try lastRung(of: program) == .bundle("org.example.Beside"))
    }

    @Test func thePlistOfContentsNamesAnExecutableInContentsLinux() throws {
        let program = try install(["X.app", "Contents", "Linux"])
        try door.folder.write("X.app/Contents/Info.plist", "bundle org.example.Contents")
        #expect(try lastRung(of: program) == .bundle("org.example.Contents"))
    }

    /// As every upgrade leaves what runs.
    @Test func aProgramThatWasReplacedKeepsItsName() throws {
        let program = try install(["X.app"])
        try door.folder.write("X.app/Info.plist", "bundle org.example.Beside")
        #expect(try Puppet.run("/bin/cp", ["/usr/bin/true", door.folder.file("other")]) == 0)
        let client = try Puppet(
            ["rename", door.folder.file("other"), program, "connect", door.path, "hear"], program: program)
        defer { withExtendedLifetime(client) {} }
        #expect(try door.identify(.linux61).rungs.last == .bundle("org.example.Beside"))
    }

    @Test func contentsOutsideAnAppNameNothing() throws {
        let program = try install(["X", "Contents", "Linux"])
        try door.folder.write("X/Contents/Info.plist", "bundle org.example.Contents")
        #expect(try lastRung(of: program) == AdHocNaming.rung(forPath: program))
    }

    /// Names that could be read as a digest, as a word of ours or as two groups.
    @Test(arguments: ["unreadable", "0123456789abcdef0123456789abcdef", "", "a.b/c", "a. b", "*", "../.."])
    func identifiersThatAreNoneAreNotBelieved(_ identifier: String) throws {
        let program = try install([])
        try door.folder.write("Info.plist", "bundle \(identifier)")
        #expect(try lastRung(of: program) == AdHocNaming.rung(forPath: program))
    }

    @Test func aPlistThatIsALinkOrAPipeOrOpenToOthersIsNotRead() throws {
        let program = try install([])
        let expected = AdHocNaming.rung(forPath: program)
        let plist = try door.folder.write("real", "bundle org.example.Link")
        try #require(unsafe symlink(plist, door.folder.file("Info.plist")) == 0)
        #expect(try lastRung(of: program) == expected)
        try #require(unsafe unlink(door.folder.file("Info.plist")) == 0)
        try #require(unsafe mkfifo(door.folder.file("Info.plist"), 0o600) == 0)
        #expect(try lastRung(of: program) == expected)
        try #require(unsafe unlink(door.folder.file("Info.plist")) == 0)
        try door.folder.write("Info.plist", "bundle org.example.Open", mode: 0o666)
        #expect(try lastRung(of: program) == expected)
    }
}
