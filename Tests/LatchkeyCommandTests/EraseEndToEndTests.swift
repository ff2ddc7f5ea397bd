import Foundation
import KeychainPlatform
import Testing

/// `latchkey uninstall --delete-keychain` with the programs as they are installed.
@Suite struct EraseEndToEndTests {
    let programs: BuiltPrograms
    var data: String { programs.home + "/data/latchkey" }

    init() throws {
        programs = try BuiltPrograms()
        #expect(try programs.latchkey("set", "a", input: Data("1".utf8)).status == 0)
    }

    private func erase(_ more: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, ["uninstall", "--user", "--delete-keychain", "--yes"] + more)
    }

    @Test func theKeychainIsDeletedUnderARunningDaemon() throws {
        // With what a restore set aside.
        let backup = programs.home + "/keychain.backup"
        #expect(try programs.latchkey("backup", backup).status == 0)
        #expect(try programs.latchkey("restore", "--replace", backup).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
        let daemon = try programs.daemonProcess()
        let outcome = try erase("--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "{\"removed\":[],\"dataDirectory\":\"\(data)\",\"deleted\":true}\n")
        #expect(!FileManager.default.fileExists(atPath: data))
        // It gives the store up, then ends.
        #expect(BuiltPrograms.eventually { !programs.processes("latchkeyd").contains(daemon) })
        #expect(BuiltPrograms.eventually { programs.processes("latchkey-enclave").isEmpty })
        // Once more: there is nothing left to delete. And a new one can begin.
        #expect(try erase().status == 0)
        #expect(try programs.latchkey("get", "a").status == 1)
        #expect(try programs.latchkey("restore", backup).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// One file that is not the keychain's, at any place where it could lie.
    @Test(arguments: [
        "notes.txt", "keychain.db.bak", "keychain.db.damaged-mine", "enclave/key", "run/x", "replaced-2/x",
    ])
    func aForeignFileKeepsTheWholeFolder(_ name: String) throws {
        let path = "\(data)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let outcome = try erase()
        #expect(outcome.status == 2 && outcome.errors.contains(name), "\(outcome.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// A link in the folder leads to something else, which is not followed.
    @Test func aLinkInThePlaceOfAFolderKeepsTheWholeFolder() throws {
        let other = programs.home + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: other + "/keychain.db"))
        try FileManager.default.createSymbolicLink(
            atPath: data + "/replaced-20260101T000000Z", withDestinationPath: other)
        #expect(try erase().status == 2)
        #expect(try String(contentsOfFile: other + "/keychain.db", encoding: .utf8) == "mine")
    }
}
