import Foundation
import KeychainPlatform
import Testing

/// Files that somebody removes, renames or replaces while daemon and enclave have them open:
/// what they hold can be read, and is said to be in them alone.
@Suite struct RemovedFilesTests {
    let programs: BuiltPrograms

    init() throws {
        programs = try BuiltPrograms(runtime: true)
        #expect(try set("a", "1") == 0)
    }

    private var data: String { programs.home + "/data/latchkey" }
    private var processes: [Int32] { programs.processes("latchkeyd") + programs.processes("latchkey-enclave") }

    private func set(_ name: String, _ value: String) throws -> Int32 {
        try programs.latchkey("set", name, input: Data(value.utf8)).status
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(data)/\(name)") }

    private func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: "\(data)/\(name)", toPath: "\(data)/\(other)")
    }

    /// What doctor finds, in all its forms: the two members of its JSON.
    private func faults(status: Int32 = 5) throws -> [String?] {
        var found: [String?] = []
        for arguments in [["doctor", "--json"], ["doctor", "--verify", "--json"]] {
            let outcome = try programs.run(BuiltPrograms.latchkey, arguments)
            #expect(outcome.status == status, "\(outcome.text) \(outcome.errors)")
            let report = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
            #expect(report["sound"] as? Bool == (status == 0))
            let now = ["databaseFault", "keysFault"].map { report[$0] as? String }
            #expect(found.isEmpty || found == now)
            found = now
        }
        return found
    }

    private func exported() throws -> [String: Any] {
        let file = programs.home + "/export-\(Random.bytes(4).map { String($0) }.joined())"
        let outcome = try programs.latchkey("export", "--insecure-plaintext", "--yes", "--json", file)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    }

    // MARK: Keys

    @Test func keysThatAreInMemoryAloneAreSaidToBeAndTakeNoMore() throws {
        try remove("enclave")
        #expect(try faults() == [nil, "gone"])
        let doctor = try programs.latchkey("doctor")
        #expect(doctor.status == 5 && doctor.text.contains("latchkey export FILE"), "\(doctor.text)")
        #expect(doctor.text.contains("impossible: the files of the keys are gone"), "\(doctor.text)")
        for arguments in [["set", "b"], ["edit", "a", "--comment", "new"], ["backup", programs.home + "/backup"]] {
            let refused = try programs.run(BuiltPrograms.latchkey, arguments, input: Data("2".utf8))
            #expect(refused.status == 5 && refused.errors.contains("files of the keys"), "\(refused.errors)")
        }
        #expect(try programs.latchkey("get", "b").status == 1)
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(try exported()["items"] as? Int == 1)
        // Nothing runs on with them that nobody finds.
        let stopped = try programs.latchkey("lock", "--stop")
        #expect(stopped.status == 0 && processes.isEmpty, "\(stopped.errors)")
    }

    /// The next daemon finds the enclave that alone has them.
    @Test(arguments: [false, true])
    func aDaemonsDeathTakesNoKeysAlong(theFolderIsMadeAnew: Bool) throws {
        let enclave = programs.processes("latchkey-enclave")
        try remove("enclave")
        if theFolderIsMadeAnew {
            try FileManager.default.createDirectory(
                atPath: data + "/enclave", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        for process in programs.processes("latchkeyd") {
            kill(process, theFolderIsMadeAnew ? SIGTERM : SIGKILL)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(programs.processes("latchkey-enclave") == enclave)
        #expect(try faults() == [nil, theFolderIsMadeAnew ? "replaced" : "gone"])
        #expect(try programs.latchkey("lock", "--stop").status == 0 && processes.isEmpty)
    }

    /// What its mode takes away is neither gone nor damaged.
    @Test(arguments: [0o500, 0o300, 0]) func aModeThatShutsTheFolderOfTheKeysIsSaid(_ mode: Int) throws {
        func change(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: data + "/enclave")
        }
        try change(mode)
        defer { try? change(0o700) }
        for arguments in [["doctor"], ["doctor", "--verify"]] {
            let doctor = try programs.run(BuiltPrograms.latchkey, arguments)
            #expect(doctor.status == 5 && doctor.text.contains("has mode \(String(mode, radix: 8))"), "\(doctor.text)")
            #expect(doctor.text.contains("chmod 700") && !doctor.text.contains("are gone"), "\(doctor.text)")
        }
        try change(0o700)
        #expect(try programs.latchkey("doctor").status == 0)
        #expect(try set("b", "2") == 0)
    }

    /// A folder in the place of one copy of a file of the keys: the other copy counts, a backup is
    /// made of that, and what is to be done is said. The first is written again then.
    @Test(arguments: ["keybag.0", "keybag.1", "protectors.0", "software-secret.1"], [true, false])
    func aFolderInThePlaceOfOneCopyIsSaid(_ name: String, whileItRuns: Bool) throws {
        if !whileItRuns { #expect(try programs.latchkey("lock", "--stop").status == 0) }
        let path = "\(data)/enclave/\(name)"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try programs.latchkey("backup", programs.home + "/backup").status == 0)
        let doctor = try programs.latchkey("doctor")
        #expect(doctor.status == 5 && doctor.text.contains("\(path) is a folder"), "\(doctor.text)")
        #expect(doctor.text.contains("move it away") && !doctor.text.contains("is lost"), "\(doctor.text)")
        if !whileItRuns {
            #expect(doctor.text.contains("\(path) could not be written again"), "\(doctor.text)")
            let status = try programs.latchkey("status").text
            #expect(status.contains("Not written   \(name) (keys): `latchkey doctor` says more"), "\(status)")
            #expect(try programs.status()["unrepairedFiles"] as? [String] == [name])
        }
        if name == "keybag.0" {
            let refused = try programs.latchkey("passcode", "set", input: Data("some words".utf8))
            #expect(refused.status == 69, "\(refused.errors)")
            #expect(
                refused.errors.contains("a folder lies in the place of a file of the keys; move it away")
                    && refused.errors.contains(name) && !refused.errors.contains("Permission denied"),
                "\(refused.errors)")
        }
        #expect(try programs.latchkey("get", "a").text == "1")
        try FileManager.default.removeItem(atPath: path)
        let mended = try programs.latchkey("doctor")
        #expect(mended.status == 0 && !mended.text.contains(name), "\(mended.text)")
        #expect(try FileStatus(at: FilePath(path), followingLink: false).isRegularFile)
        #expect(try programs.status()["unrepairedFiles"] as? [String] == [])
        #expect(try !programs.latchkey("status").text.contains("Not written"))
        #expect(try programs.latchkey("passcode", "set", input: Data("some words".utf8)).status == 0)
        #expect(try programs.latchkey("lock", "--stop").status == 0 && processes.isEmpty)
        #expect(try programs.latchkey("unlock", input: Data("some words".utf8)).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// Its secret is in no memory, and nothing writes it again.
    @Test func anEffacementSecretThatIsGoneIsSaid() throws {
        #expect(try programs.latchkey("doctor").status == 0)
        #expect(try programs.latchkey("passcode", "set", input: Data("some words".utf8)).status == 0)
        #expect(try programs.latchkey("doctor").status == 0)
        try move("enclave/effacement", to: "kept")
        let doctor = try programs.latchkey("doctor")
        #expect(doctor.status == 5 && doctor.text.contains("\(data)/enclave/effacement"), "\(doctor.text)")
        #expect(doctor.text.contains("Put it back"), "\(doctor.text)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: try programs.latchkey("doctor", "--json").output) as? [String: Any])
        #expect(report["unrepairedFiles"] as? [String] == ["effacement"] && report["sound"] as? Bool == false)
        try move("kept", to: "enclave/effacement")
        #expect(try programs.latchkey("doctor").status == 0)
    }

    /// What lies in a file's place says nothing of what the file holds.
    @Test(
        arguments: ["keychain.db", "keychain.db-wal", "keychain.db-shm"],
        ["link", "dangling", "itself", "folder", "pipe", "socket"])
    func whatIsNoFileIsSaidToBeNone(_ name: String, _ kind: String) throws {
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        let path = "\(data)/\(name)"
        let files = FileManager.default
        if files.fileExists(atPath: path) {
            try move(name, to: "kept")
        } else {
            try Data().write(to: URL(fileURLWithPath: data + "/kept"))
        }
        switch kind {
        case "link": try files.createSymbolicLink(atPath: path, withDestinationPath: data + "/kept")
        case "dangling": try files.createSymbolicLink(atPath: path, withDestinationPath: data + "/nothing")
        case "itself": try files.createSymbolicLink(atPath: path, withDestinationPath: path)
        case "folder": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "socket": try #require(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
        default: try #require(unsafe mkfifo(path, 0o600) == 0)
        }
        let kept = files.contents(atPath: data + "/kept")
        for _ in 0..<2 {
            let refused = try programs.latchkey("get", "a")
            #expect(refused.status == 69 && refused.errors.contains(path), "\(refused.errors)")
            #expect(
                refused.errors.contains("no file") && refused.errors.contains("Nothing is damaged"), "\(refused.errors)"
            )
        }
        #expect(files.contents(atPath: data + "/kept") == kept && !files.fileExists(atPath: data + "/nothing"))
        try files.removeItem(atPath: path)
        if name == "keychain.db" { try move("kept", to: name) }
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(try programs.latchkey("doctor").status == 0)
    }

    @Test func aFolderThatIsPutBackIsAsBefore() throws {
        try move("enclave", to: "elsewhere")
        #expect(try set("b", "2") == 5)
        try move("elsewhere", to: "enclave")
        #expect(try faults(status: 0) == [nil, nil])
        #expect(try set("b", "2") == 0)
        #expect(try programs.latchkey("lock", "--stop").status == 0 && processes.isEmpty)
        #expect(try programs.latchkey("get", "b").text == "2")
    }

    /// The enclave writes them again before it makes another key, and when it is asked how it is.
    @Test(arguments: [["set", "b"], ["doctor"]])
    func filesThatGoFromTheFolderAreWrittenAgain(_ arguments: [String]) throws {
        let words = Data("some words".utf8)
        try programs.latchkey("passcode", "set", input: words)
        try programs.latchkey("lock")
        try programs.latchkey("unlock", input: Data("other words".utf8))
        #expect(try programs.latchkey("unlock", input: words).status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: data + "/enclave")
        for name in files where name != "effacement" && name != "audit" { try remove("enclave/\(name)") }
        #expect(try programs.run(BuiltPrograms.latchkey, arguments, input: Data("2".utf8)).status == 0)
        let keys = Set(files.filter { !$0.hasPrefix("attempts") })
        #expect(keys.isSubset(of: try FileManager.default.contentsOfDirectory(atPath: data + "/enclave")))
        #expect(try programs.latchkey("backup", programs.home + "/backup").status == 0)
        #expect(try programs.latchkey("lock", "--stop").status == 0 && processes.isEmpty)
        #expect(try programs.latchkey("get", "a").status == 3)
        #expect(try programs.latchkey("unlock", input: words).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    /// What is erased stays so, whatever its enclave had open.
    @Test func erasedKeysAreNotWrittenAgain() throws {
        try remove("enclave")
        let erased = try programs.latchkey("erase", "--yes")
        #expect(erased.status == 0, "\(erased.errors)")
        // The daemon gives its store away before the kernel has taken it apart.
        #expect(BuiltPrograms.eventually { processes.isEmpty })
        #expect(!FileManager.default.fileExists(atPath: data))
        #expect(try set("b", "2") == 0)
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    // MARK: The database

    @Test func aDatabaseThatIsGoneIsReadAndSaidToBe() throws {
        try move("keychain.db", to: "kept")
        #expect(try faults() == ["gone", nil])
        let doctor = try programs.latchkey("doctor")
        #expect(doctor.text.contains("impossible: the database is gone"), "\(doctor.text)")
        #expect(doctor.text.contains("latchkey export FILE"), "\(doctor.text)")
        let refused = try programs.latchkey("rm", "a", "--yes")
        #expect(refused.status == 5 && refused.errors.contains("latchkey export FILE"), "\(refused.errors)")
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(try exported()["items"] as? Int == 1)
        try move("kept", to: "keychain.db")
        #expect(try faults(status: 0) == [nil, nil])
        #expect(try set("a", "2") == 0)
    }

    /// Nothing is read from the file that lies there instead.
    @Test func anotherFileInTheDatabasesPlaceIsNoneOfIts() throws {
        try move("keychain.db", to: "kept")
        try FileManager.default.copyItem(atPath: data + "/kept", toPath: data + "/keychain.db")
        #expect(try faults() == ["replaced", nil])
        #expect(try set("b", "2") == 5)
        #expect(try exported()["items"] as? Int == 1)
    }
}
