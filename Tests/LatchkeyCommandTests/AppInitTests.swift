import Foundation
import Testing

@testable import LatchkeyCommand

@Suite struct AppInitTests {
    /// The name that the file gives is the name that the daemon sees.
    @Test func aProgramIsKnownByItsNewName() throws {
        let programs = try BuiltPrograms()
        // Programs that the daemon believes lie where others cannot write.
        let folder = programs.home + "/app"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in ["latchkey", "latchkeyd", "latchkey-enclave"] {
            try FileManager.default.copyItem(atPath: "\(BuiltPrograms.folder)/\(name)", toPath: "\(folder)/\(name)")
        }
        let outcome = try programs.latchkey(
            "app", "init", "--identifier", "com.example.app", "--json", folder + "/latchkey")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let said = try JSONSerialization.jsonObject(with: outcome.output) as? [String: String]
        #expect(
            said == ["file": folder + "/Info.plist", "identifier": "com.example.app", "group": "adhoc.com.example.app"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/Info.plist")[.posixPermissions] as? Int
        #expect(mode == 0o644)
        _ = try programs.run("\(folder)/latchkey", ["set", "a"], input: Data("pw".utf8))
        let status = try programs.run("\(folder)/latchkey", ["status", "--json"])
        #expect(status.text.contains("adhoc.com.example.app"), "\(status.text) \(status.errors)")
        #expect(Bundle(path: folder)?.bundleIdentifier == "com.example.app")
    }

    @Test func whatIsThereIsNotReplacedUnasked() throws {
        let programs = try BuiltPrograms()
        let folder = programs.home + "/app"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/Info.plist"))
        let refused = try programs.latchkey("app", "init", "--identifier", "com.example.app", folder)
        #expect(refused.status == 2 && refused.errors.contains("there already"))
        #expect(try String(contentsOfFile: folder + "/Info.plist", encoding: .utf8) == "mine")
        #expect(
            try programs.latchkey("app", "init", "--identifier", "com.example.app", "--replace", folder + "/").status
                == 0)
        #expect(try String(contentsOfFile: folder + "/Info.plist", encoding: .utf8).contains("com.example.app"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["Info.plist"])
        #expect(try programs.latchkey("app", "init", "--identifier", "com.example.app", folder + "/none").status == 2)
    }

    /// The folder that the executable lies in counts, not that of a link to it.
    @Test func aLinkIsFollowed() throws {
        let programs = try BuiltPrograms()
        for name in ["bin", "opt"] {
            try FileManager.default.createDirectory(atPath: "\(programs.home)/\(name)", withIntermediateDirectories: false)
        }
        try Data().write(to: URL(fileURLWithPath: programs.home + "/opt/app"))
        try FileManager.default.createSymbolicLink(
            atPath: programs.home + "/bin/app", withDestinationPath: programs.home + "/opt/app")
        let outcome = try programs.latchkey("app", "init", "--identifier", "com.example.app", programs.home + "/bin/app")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(FileManager.default.fileExists(atPath: programs.home + "/opt/Info.plist"))
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/bin/Info.plist"))
    }

    @Test(arguments: ["com.example.app", "a.b", "org.x-y.Z9"])
    func namesAreTaken(_ name: String) { #expect(AppInitCommand.isIdentifier(name)) }

    @Test(arguments: ["", "app", "com..app", ".app", "com.example.</string>", "com.ex ample", "com.exämple", "a/b.c"])
    func whatIsNoNameIsRefused(_ name: String) { #expect(!AppInitCommand.isIdentifier(name)) }
}
