import Foundation
import KeychainPlatform
import Testing

/// The folder of a login session goes with the last logout, while daemon and enclave go on:
/// a person can lock and unlock the keychain all the same.
@Suite struct LostRunFolderTests {
    let programs: BuiltPrograms

    init() throws {
        programs = try BuiltPrograms(runtime: true)
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try programs.latchkey("passcode", "set", input: Data("some words".utf8))
        try programs.latchkey("unlock", input: Data("some words".utf8))
    }

    private var runtime: String { programs.home + "/runtime" }

    /// The daemon of a keychain that was removed, run folder and all, stands in no other's way.
    @Test func aRemovedFolderIsFreeForAnotherKeychain() throws {
        let folder = programs.home + "/gone"
        func set(_ value: String) throws -> Int32 {
            try programs.latchkey("--data-dir", folder, "set", "a", input: Data(value.utf8)).status
        }
        #expect(try set("1") == 0)
        // The daemon may put its socket back while the folder is being emptied.
        for _ in 0..<50 where FileManager.default.fileExists(atPath: folder) {
            do { try FileManager.default.removeItem(atPath: folder) } catch { continue }
        }
        #expect(BuiltPrograms.eventually { (try? set("2")) == 0 })
        #expect(try programs.latchkey("--data-dir", folder, "get", "a").text == "2")
    }

    /// As logind does it: the folder goes, and another one comes with the next login.
    private func loseRunFolder(another: Bool) throws {
        // The daemon may put its socket back while the folder is being emptied.
        for _ in 0..<50 where FileManager.default.fileExists(atPath: runtime) {
            do { try FileManager.default.removeItem(atPath: runtime) } catch { continue }
        }
        if another {
            // The daemon, whose folder it may make here, may be faster.
            try FileManager.default.createDirectory(
                atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    @Test(arguments: [true, false])
    func itIsLockedAndUnlockedAllTheSame(anotherComes: Bool) throws {
        let enclave = programs.processes("latchkey-enclave")
        try loseRunFolder(another: anotherComes)
        #expect(try programs.latchkey("get", "a").text == "1")
        let locked = try programs.latchkey("lock")
        #expect(locked.status == 0, "\(locked.errors)")
        #expect(try programs.latchkey("get", "a").status == 3)
        #expect(try programs.latchkey("unlock", input: Data("some words".utf8)).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(programs.processes("latchkey-enclave") == enclave)
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(programs.processes("latchkey-enclave").isEmpty)
        #expect(try programs.latchkey("get", "a").status == 3)
    }

    /// What a person opened is not closed because the daemon was away when the folder went.
    @Test func withoutADaemonItIsFoundInTheDataFolder() throws {
        let enclave = programs.processes("latchkey-enclave")
        for process in programs.processes("latchkeyd") {
            kill(process, SIGTERM)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
        try loseRunFolder(another: true)
        let lock = programs.home + "/data/latchkey/enclave/lock"
        #expect(
            BuiltPrograms.eventually {
                FileManager.default.contents(atPath: lock).map {
                    String(decoding: $0, as: UTF8.self).contains("run \(programs.home)/data/latchkey/run\n")
                } ?? false
            })
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(programs.processes("latchkey-enclave") == enclave)
        #expect(try programs.latchkey("lock").status == 0)
        #expect(try programs.latchkey("get", "a").status == 3)
    }
}
