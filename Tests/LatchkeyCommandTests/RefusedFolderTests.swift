import Foundation
import KeychainPlatform
import Testing

/// A folder that cannot be used is said to be that: nothing is damaged, and nobody is told to
/// restore a backup.
@Suite struct RefusedFolderTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms(runtime: true) }

    private var data: String { programs.home + "/data/latchkey" }

    private func expectRefusal(_ outcome: BuiltPrograms.Outcome, naming path: String) {
        #expect(outcome.status == 69, "\(outcome.errors)")
        #expect(outcome.errors.contains(path) && outcome.errors.contains("Nothing is damaged"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("backup"), "\(outcome.errors)")
    }

    private func endAll() throws {
        for process in programs.processes("latchkeyd") + programs.processes("latchkey-enclave") {
            kill(process, SIGKILL)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
    }

    @Test func aFolderOfTheEnclaveThatIsOpenToOthers() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let enclave = data + "/enclave"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: enclave)
        expectRefusal(try programs.latchkey("get", "a"), naming: "chmod 700 \(enclave)")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: enclave)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// What a program reads is said as well.
    @Test func doctorSaysInJSONWhyNothingOpens() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data)
        for arguments in [["doctor", "--json"], ["doctor", "--verify", "--json"]] {
            let outcome = try programs.run(BuiltPrograms.latchkey, arguments)
            #expect(outcome.status == 69 && outcome.errors.contains("chmod 700 \(data)"), "\(outcome.errors)")
            let report = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
            #expect(report["sound"] as? Bool == false)
            #expect((report["error"] as? String)?.contains("mode 755") == true, "\(report)")
            let findings = report["findings"] as? [[String: Any]]
            #expect(findings?.contains { $0["fixable"] as? Bool == true } == (arguments.count == 2))
        }
        #expect(try programs.latchkey("doctor", "--fix", "--json").status == 0)
    }

    @Test func aFolderThatIsOpenToOthersIsClosedByWhoeverStops() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data)
        #expect(try programs.latchkey("get", "a").errors.contains("chmod 700 \(data)"))
        let outcome = try programs.latchkey("lock", "--stop")
        #expect(outcome.errors.contains("\(data) had mode 755, and has 700 now"), "\(outcome.errors)")
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// As where its owner is another (of root nothing is kept but this) or the disk is read-only.
    @Test func aStartFileThatCannotBeOpened() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let file = data + "/latchkeyd.start"
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        expectRefusal(try programs.latchkey("get", "a"), naming: "latchkeyd.start")
        try FileManager.default.removeItem(atPath: file)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// An enclave whose folder was taken away does not stand in the way of whoever brings it back.
    @Test func keysThatComeBackAreOpenedAtOnce() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let (enclave, elsewhere) = (data + "/enclave", programs.home + "/elsewhere")
        try FileManager.default.moveItem(atPath: enclave, toPath: elsewhere)
        #expect(try programs.latchkey("get", "a").status == 5)
        try FileManager.default.removeItem(atPath: enclave)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: enclave)
        #expect(BuiltPrograms.eventually { programs.processes("latchkey-enclave").isEmpty })
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// Editors and containers use the instances of inotify up that a user has.
    @Test func withoutInotifyTheDaemonServesAndIsFoundAgain() throws {
        try programs.startDaemon(without: "inotify_init1")
        try programs.latchkey("set", "a", input: Data("1".utf8))
        let daemon = try programs.daemonProcess()
        try FileManager.default.removeItem(atPath: data + "/run/keychain.sock")
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: data + "/run/keychain.sock") })
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(try programs.daemonProcess() == daemon)
    }

    @Test func aPlaceWhereNoFolderCanBeMade() throws {
        let nowhere = "/proc/latchkey-test"
        expectRefusal(try programs.latchkey("--data-dir", nowhere, "set", "a", input: Data("1".utf8)), naming: nowhere)
    }

    /// A pipe in a file's place would be waited for for ever.
    @Test func aPipeInTheLockFilesPlaceIsAnError() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let file = data + "/latchkeyd.lock"
        try FileManager.default.removeItem(atPath: file)
        #expect(try programs.shell("mkfifo -m 600 \(file)").status == 0)
        #expect(try programs.shell("timeout 30 \(BuiltPrograms.latchkey) get a").status == 69)
        try FileManager.default.removeItem(atPath: file)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// It opens like a file, and is none: no fault of the disk.
    @Test(arguments: ["mkfifo -m 600", "mkdir", "ln -s nothing"])
    func whatIsNoFileInThePlaceOfTheEnclavesLockIsSaid(_ making: String) throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let file = data + "/enclave/lock"
        try FileManager.default.removeItem(atPath: file)
        #expect(try programs.shell("\(making) \(file)").status == 0)
        expectRefusal(try programs.latchkey("get", "a"), naming: "\(file) is a link, a folder or a pipe")
        try FileManager.default.removeItem(atPath: file)
        #expect(BuiltPrograms.eventually { programs.processes("latchkey-enclave").isEmpty })
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// As `get` says it: neither the database nor the keys have anything to do with it.
    @Test(
        arguments: [
            ("latchkeyd.start", S_IFDIR), ("latchkeyd.start", S_IFSOCK), ("latchkeyd.lock", S_IFDIR),
            ("latchkeyd.lock", S_IFSOCK), ("enclave", S_IFIFO), ("enclave/lock", S_IFDIR),
        ])
    func whoeverStopsIsToldWhatLiesInThePlaceOfAFile(_ name: String, _ kind: mode_t) throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let (path, kept) = ("\(data)/\(name)", programs.home + "/kept")
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        if kind == S_IFDIR {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
            try #require(unsafe mknod(path, kind | 0o600, 0) == 0)
        }
        let stopped = try programs.latchkey("lock", "--stop")
        #expect(stopped.status == 69 && stopped.errors.contains(path), "\(stopped.errors)")
        #expect(!stopped.errors.contains("database") && !stopped.errors.contains("keybag"), "\(stopped.errors)")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: kept, toPath: path)
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// The daemon has nothing to do with it, and nothing is started.
    @Test(
        .enabled(
            if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"),
            "strace has a call fail"))
    func aFolderWhoseDiskFailsIsSaidToBeThat() throws {
        try programs.latchkey("set", "a", input: Data("1".utf8))
        try endAll()
        let script = """
            strace -qq -o "$HOME/trace" -P \(data) -e trace=openat -e inject=openat:error=EIO latchkey get a
            """
        let outcome = try programs.shell(script)
        #expect(outcome.status == 69 && outcome.errors.contains("the disk reported an error"), "\(outcome.errors)")
        #expect(outcome.errors.contains(data) && outcome.errors.contains("dmesg"), "\(outcome.errors)")
        #expect(programs.processes("latchkeyd").isEmpty)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    @Test func aPathWithALineEndIsRefused() throws {
        let outcome = try programs.latchkey(
            "--data-dir", programs.home + "/a\nb", "set", "a", input: Data("1".utf8))
        #expect(outcome.status == 69 && outcome.errors.contains("line end"), "\(outcome.errors)")
        #expect(programs.processes("latchkey-enclave").isEmpty)
    }

    /// SQLite takes it for a file that is broken.
    /// It would be told as a database that cannot be read, now and then.
    @Test func tooFewOpenFilesAreRefused() throws {
        let outcome = try programs.shell("ulimit -n 40; printf 1 | latchkey set a")
        #expect(outcome.status == 69 && outcome.errors.contains("ulimit -n"), "\(outcome.errors)")
        // None of that kind stayed.
        #expect(try programs.latchkey("set", "a", input: Data("1".utf8)).status == 0)
    }

    @Test func aPathThatIsTooLongIsRefused() throws {
        let parts = repeatElement(String(repeating: "d", count: 100), count: 6).joined(separator: "/")
        let longest = String("\(programs.home)/\(parts)".prefix(492))
        let outcome = try programs.latchkey("--data-dir", longest + "d", "set", "a", input: Data("1".utf8))
        #expect(outcome.status == 69 && outcome.errors.contains("492 bytes"), "\(outcome.errors)")
        #expect(programs.processes("latchkey-enclave").isEmpty)
        // One byte less goes into the database and through its log.
        let kept = try programs.latchkey("--data-dir", longest, "set", "a", input: Data("1".utf8))
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(try programs.latchkey("--data-dir", longest, "get", "a").text == "1")
        try programs.latchkey("--data-dir", longest, "lock", "--stop")
    }
}
