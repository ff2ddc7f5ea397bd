import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Damage, backup and restore with the programs as they are installed.
@Suite struct UpkeepEndToEndTests {
    let programs: BuiltPrograms
    var data: String { programs.home + "/data/latchkey" }
    var backup: String { programs.home + "/keychain.backup" }

    init() throws { programs = try BuiltPrograms() }

    func object(_ outcome: BuiltPrograms.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    }

    func set(_ service: String, _ value: String) throws {
        #expect(try programs.latchkey("set", service, input: Data(value.utf8)).status == 0)
    }

    /// It says which file, and nothing of damage to a keychain that nobody touched.
    @Test func aFileThatIsNoBackupIsNamedAndNothingElse() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        let whole = programs.home + "/whole"
        #expect(try programs.latchkey("backup", whole).status == 0)
        let cut = programs.home + "/cut"
        try Data(contentsOf: URL(fileURLWithPath: whole)).dropLast(9000).write(to: URL(fileURLWithPath: cut))
        for file in [programs.home + "/nope", programs.home, "/etc/passwd", cut] {
            let refused = try programs.latchkey("restore", "--replace", file)
            #expect(refused.status == 2 && refused.errors.contains(file), "\(refused.errors)")
            #expect(refused.errors.contains("The keychain is as it was"), "\(refused.errors)")
            #expect(!refused.errors.contains("set aside"), "\(refused.errors)")
        }
        #expect(try programs.latchkey("get", "mail", "alice").text == "CANARY")
    }

    /// A list that lacks what was lost looks like any other, and an older backup may have it.
    @Test func whoeverShowsAllSaysThatSomethingMayBeMissing() throws {
        try set("mail", "1")
        #expect(try programs.latchkey("backup", backup).status == 0)
        try programs.latchkey("lock", "--stop")
        for name in ["keychain.db", "keychain.db-wal", "keychain.db-shm"] {
            try? FileManager.default.removeItem(atPath: "\(data)/\(name)")
        }
        _ = try programs.latchkey("list")
        let words = "items may be missing"
        let list = try programs.latchkey("list", "--json")
        #expect(list.status == 0 && list.text == "[]\n" && list.errors.contains(words), "\(list.errors)")
        let named = try programs.latchkey("list", "mail")
        #expect(named.status == 1 && named.errors.contains("set aside") && named.errors.contains("latchkey doctor"))
        #expect(try programs.latchkey("status").text.contains(words))
        #expect(try object(programs.latchkey("status", "--json"))["mayLackItems"] as? Bool == true)
        let before = try Data(contentsOf: URL(fileURLWithPath: backup))
        let replaced = try programs.latchkey("backup", "--replace", backup)
        #expect(replaced.status == 5 && replaced.errors.contains("was not replaced"), "\(replaced.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
        let other = try programs.latchkey("backup", backup + "-2")
        #expect(other.status == 0 && other.errors.contains(words))
        let export = try programs.latchkey("export", "--insecure-plaintext", "--yes", programs.home + "/export")
        #expect(export.status == 0 && export.errors.contains(words), "\(export.errors)")

        #expect(try programs.latchkey("doctor", "--accept-damage").status == 0)
        #expect(try programs.latchkey("list").errors.isEmpty)
        #expect(try programs.latchkey("backup", "--replace", backup + "-2").errors.contains(words) == false)
        #expect(try programs.latchkey("restore", "--replace", backup).status == 0)
        #expect(try programs.latchkey("get", "mail").text == "1")
    }

    /// The daemon that has the keys in its memory goes on as if nothing were.
    @Test(arguments: ["keybag", "protectors", "software-secret"], [0, 40])
    func aKeybagThatOpensNothingIsInNoBackup(file: String, at offset: Int) throws {
        try set("mail", "1")
        for copy in 0...1 {
            let path = URL(fileURLWithPath: "\(data)/enclave/\(file).\(copy)")
            var bytes = try Data(contentsOf: path)
            bytes[offset] ^= 1
            try bytes.write(to: path)
        }
        // By itself, a backup refuses what the files say.
        let refused = try programs.run(
            "\(BuiltPrograms.folder)/latchkeyd", ["--data-dir", data, "--run-dir", data + "/run", "--backup", backup])
        #expect(refused.status == 5 && refused.errors.contains("latchkey doctor"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: backup))
        // The enclave has the keys still, and writes them again when it is looked at.
        #expect(try programs.latchkey("backup", backup).status == 0)
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(try programs.latchkey("get", "mail").text == "1")
    }

    /// Its question goes to a daemon that runs: one that was started for it would find the database
    /// malformed and have it set aside, which is the next call's to say.
    @Test func aBackupStartsNoDaemonForItsQuestion() throws {
        try set("mail", "1")
        for process in programs.processes("latchkeyd") {
            kill(process, SIGKILL)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
        let file = URL(fileURLWithPath: data + "/keychain.db")
        try Data(repeating: 0xA5, count: Data(contentsOf: file).count).write(to: file)
        let refused = try programs.latchkey("backup", backup)
        #expect(refused.status != 0, "\(refused.errors)")
        try #require(!programs.processes("latchkey-enclave").isEmpty, "there was somebody to ask")
        #expect(programs.processes("latchkeyd").isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(!names.contains { $0.contains("damaged-") || $0.contains("malformed") }, "\(names)")
    }

    /// Neither its group nor its primary key leads to the first item.
    @Test func whileNobodyCallsItemsAreLookedForThatNothingLeadsTo() throws {
        for name in ["a", "b"] { try set(name, "1") }
        func groups(after change: String = "select 1") throws -> String {
            let python = """
                import sqlite3
                db = sqlite3.connect('\(data)/keychain.db')
                db.execute('\(change)')
                db.commit()
                print(db.execute('select count(distinct b_agrp) from genp').fetchone()[0])
                """
            return try programs.run("/usr/bin/python3", ["-c", python]).text
        }
        let edit = "update genp set b_agrp = randomblob(16), pkey = randomblob(16) where rowid = 1"
        #expect(try groups(after: edit) == "2\n")
        let isMended = { (try? groups()) == "1\n" }
        #expect(BuiltPrograms.eventually(isMended) || BuiltPrograms.eventually(isMended))
        for name in ["a", "b"] { #expect(try programs.latchkey("get", name).text == "1") }
        let log = try String(contentsOfFile: data + "/latchkeyd.log", encoding: .utf8)
        #expect(log.contains("an item was whole, and no search led to it"), "\(log)")
        #expect(try programs.latchkey("doctor", "--verify").status == 0)
    }

    /// As `get` says it: nothing is damaged.
    @Test func aBackupFromAReadOnlyFileSystemSaysSo() throws {
        guard RunningKernel.mayMount else { return }
        try set("mail", "1")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        let outcome = try programs.shell(
            """
            unshare -m sh -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && { latchkey backup "$1"; \
            echo $?; latchkey get mail; echo $?; }' "\(data)" "\(backup)"
            """)
        #expect(outcome.text == "69\n69\n", "\(outcome.text)\(outcome.errors)")
        #expect(try programs.latchkey("backup", backup).status == 0)
    }

    @Test func doctorFindsASoundStoreSound() throws {
        try set("a", "1")
        for arguments in [[], ["--verify"], ["--salvage"], ["--accept-damage"]] {
            let outcome = try programs.run(BuiltPrograms.latchkey, ["doctor", "--json"] + arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let report = try object(outcome)
            #expect(report["sound"] as? Bool == true && report["writingStopped"] as? Bool == false)
            #expect((report["items"] as? [String: Int])?["generic"] == 1)
        }
        #expect(try programs.latchkey("doctor", "--verify").text.contains("1 rows: 1 sound"))
        #expect(try programs.latchkey("doctor", "--verify", "--salvage").status == 2)
    }

    /// A clean-up, or a sync, took it away under the daemon, which is killed after that.
    @Test(arguments: [
        "rm -f keychain.db-wal keychain.db-shm", "rm -f keychain.db-wal", "cp x y && mv y keychain.db-wal",
    ])
    func whatWasStoredOutlivesALogThatIsTakenAway(_ change: String) throws {
        let accounts = (0..<20).map { "account \($0)" }
        for account in accounts { try set(account, "1") }
        #expect(try programs.shell("cd \(data) && echo nothing >x && \(change)").status == 0)
        let refused = try programs.latchkey("set", "new", input: Data("1".utf8))
        #expect(refused.status == 69 && refused.errors.contains("latchkey doctor"), "\(refused.errors)")
        for process in programs.processes("latchkeyd") + programs.processes("latchkey-enclave") {
            kill(process, SIGKILL)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready)
        }
        for account in accounts { #expect(try programs.latchkey("get", account).text == "1") }
        #expect(try programs.latchkey("get", "new").status == 1)
        #expect(try programs.latchkey("doctor").status == 0)
        try set("new", "1")
    }

    /// On a disk of its own, which is full.
    @Test(.enabled(if: RunningKernel.mayMount, "mounts a small file system"))
    func doctorTriesToWrite() throws {
        let script = """
            mkdir -m 700 "$XDG_DATA_HOME/latchkey" &&
            mount -t tmpfs -o size=2m,mode=700 none "$XDG_DATA_HOME/latchkey" && printf 1 | latchkey set a &&
            latchkey doctor && head -c 4M /dev/zero >"$XDG_DATA_HOME/latchkey/filler" 2>"$HOME/said"
            latchkey doctor; latchkey get a; echo; rm "$XDG_DATA_HOME/latchkey/filler"; latchkey doctor
            latchkey lock --stop >"$HOME/said" 2>&1; umount "$XDG_DATA_HOME/latchkey"
            """
        let outcome = try programs.run("/usr/bin/unshare", ["-m", "sh", "-c", script])
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let said = lines.filter { $0.hasPrefix("Writing") }
        try #require(said.count == 3, "\(outcome.text) \(outcome.errors)")
        #expect(said[0].hasSuffix(" possible") && said[2].hasSuffix(" possible"))
        #expect(said[1].hasSuffix("impossible: there is no room left"))
        #expect(outcome.text.contains("Nothing can be stored, changed or deleted in \(data): there is no room left."))
        #expect(lines.contains("1"), "it reads all the same")
    }

    /// The database is overwritten under the running daemon: one call says so,
    /// the next meets an empty store; the damaged file is kept.
    @Test func aMalformedDatabaseIsSetAsideAndTheNextCallGoesOn() throws {
        try set("a", "1")
        for suffix in ["", "-wal", "-shm"] {
            guard let file = FileHandle(forUpdatingAtPath: data + "/keychain.db" + suffix) else { continue }
            let size = try file.seekToEnd()
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size)))
            try file.close()
        }
        let first = try programs.latchkey("get", "a")
        #expect(first.status == 5 || first.status == 1, "\(first.status) \(first.errors)")
        #expect(try BuiltPrograms.eventually { try programs.latchkey("get", "a").status == 1 })
        let files = try FileManager.default.contentsOfDirectory(atPath: data).filter {
            $0.hasPrefix("keychain.db.damaged-")
        }
        #expect(!files.isEmpty)
        try set("a", "2")
        #expect(try programs.latchkey("get", "a").text == "2")
        let report = try object(try programs.latchkey("doctor", "--json", "--salvage"))
        #expect((report["setAside"] as? [String])?.count == 1)
        #expect((report["salvage"] as? [String: Any])?["restored"] as? Int == 0)
    }

    /// The first page and every page that leads to others are zeroed while nothing runs; each item
    /// lies in a page of its own.
    @Test(arguments: [false, true]) func everyItemWhosePageIsWholeIsReadBack(withPasscode hasPasscode: Bool) throws {
        func value(_ number: Int) -> String { "value \(number) " + String(repeating: "x", count: 2500) }
        func unlock() throws {
            guard hasPasscode else { return }
            #expect(try programs.latchkey("unlock", input: Data("first words".utf8)).status == 0)
        }
        if hasPasscode {
            #expect(try programs.latchkey("passcode", "set", input: Data("first words".utf8)).status == 0)
            try unlock()
        }
        for number in 0..<24 { try set("item \(number)", value(number)) }
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        let url = URL(fileURLWithPath: data + "/keychain.db")
        var file = try Data(contentsOf: url)
        var zeroed = 0
        for start in stride(from: 0, to: file.count, by: 4096) where start == 0 || [2, 5].contains(file[start]) {
            file.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
            zeroed += 1
        }
        // A leaf as well, of one cell that begins in its first half: the item in it is lost.
        let starts = Array(stride(from: 4096, to: file.count, by: 4096))
        let lost = try #require(starts.last { file[$0] == 0x0D && file[$0 + 4] == 1 && file[$0 + 5] < 8 })
        file.replaceSubrange(lost..<lost + 4096, with: Data(count: 4096))
        try file.write(to: url)
        #expect(zeroed >= 2)
        // Whoever meets it first is told.
        _ = try programs.latchkey("get", "item 0")
        try unlock()
        #expect(try BuiltPrograms.eventually { [0, 1].contains(try programs.latchkey("get", "item 0").status) })
        var missing = 0
        for number in 0..<24 {
            let got = try programs.latchkey("get", "item \(number)")
            if got.status == 1 {
                missing += 1
                #expect(got.errors.contains("set aside"), "\(got.errors)")
            } else {
                #expect(got.status == 0 && got.text == value(number), "\(number): \(got.errors)")
            }
        }
        #expect(missing == 1)
        let log = try String(contentsOfFile: data + "/latchkeyd.log", encoding: .utf8)
        if !hasPasscode { #expect(log.contains("items brought back: 23, not opening: 0"), "\(log)") }
        let list = try programs.latchkey("list", "--json")
        #expect(list.errors.contains("items may be missing"), "\(list.errors)")
        let report = try object(try programs.latchkey("doctor", "--json"))
        #expect((report["items"] as? [String: Int])?["generic"] == 23)
        #expect((report["setAside"] as? [String])?.count == 1)
    }

    /// What a page without which nothing opens is known by.
    enum VitalPage: String, CaseIterable, Sendable {
        case records, keys

        /// A name in the one; the types of a box of 60 bytes and a check value of 16 in the other.
        var mark: Data { self == .records ? Data("history".utf8) : Data([0x81, 0x04, 0x2C]) }
    }

    /// The page of the store's records and that of its metadata keys, of which each is there twice:
    /// one copy zeroed, without its kind, or with a bit in a box or in the id that is another one.
    @Test(arguments: VitalPage.allCases, [false, true])
    func onePageThatIsLostTakesNoItemAlong(_ page: VitalPage, withPasscode hasPasscode: Bool) throws {
        if hasPasscode {
            #expect(try programs.latchkey("passcode", "set", input: Data("first words".utf8)).status == 0)
            #expect(try programs.latchkey("unlock", input: Data("first words".utf8)).status == 0)
        }
        for number in 0..<8 { try set("item \(number)", "value \(number)") }
        for round in 0..<6 {
            #expect(try programs.latchkey("lock", "--stop").status == 0)
            let url = URL(fileURLWithPath: data + "/keychain.db")
            var file = try Data(contentsOf: url)
            let pages = stride(from: 4096, to: file.count, by: 4096).filter {
                file[$0] == 0x0A && file[$0..<$0 + 4096].range(of: page.mark) != nil
            }
            #expect(pages.count == 2)
            let start = pages[round % 2]
            switch round / 2 {
            case 0: file.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
            case 1: file[start] = 0
            default:
                // In the last cell of the page, near its end: the box of a key, or the id.
                file[start + 4096 - 30] ^= 0x04
            }
            try file.write(to: url)
            _ = try programs.latchkey("get", "item 0")
            if hasPasscode {
                #expect(try programs.latchkey("unlock", input: Data("first words".utf8)).status == 0)
            }
            #expect(try BuiltPrograms.eventually { try programs.latchkey("get", "item 0").status == 0 })
            for number in 0..<8 {
                let got = try programs.latchkey("get", "item \(number)")
                #expect(got.status == 0 && got.text == "value \(number)", "\(page) \(round): \(got.errors)")
            }
            #expect(try programs.latchkey("get", "none").errors.contains("set aside") == false)
            #expect(try BuiltPrograms.eventually { try programs.latchkey("doctor", "--verify").status == 0 })
        }
        let log = try String(contentsOfFile: data + "/latchkeyd.log", encoding: .utf8)
        #expect(log.contains("were put right from their other copy"), "\(log)")
        if !hasPasscode { #expect(log.contains("items brought back: 8, not opening: 0"), "\(log)") }
    }

    /// Each of these bytes shut the keychain: as a newer program's, as no keychain, as unreadable.
    @Test(arguments: [0, 18, 47, 56, 60, 63, 68, 71]) func aWrongByteOfTheHeaderIsPutRight(_ offset: Int) throws {
        try set("mail", "1")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        let url = URL(fileURLWithPath: data + "/keychain.db")
        let whole = try Data(contentsOf: url)
        var file = whole
        file[offset] ^= 0x10
        try file.write(to: url)
        #expect(try programs.latchkey("get", "mail").text == "1")
        #expect(try programs.latchkey("doctor", "--verify").status == 0)
        let log = try String(contentsOfFile: data + "/latchkeyd.log", encoding: .utf8)
        #expect(log.contains("header had changed"), "\(log)")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(try Data(contentsOf: url)[offset] == whole[offset])
    }

    /// Bytes of a backup all over it: whatever is wrong, it is the backup, and the keychain is as it was.
    @Test func aBitOfABackupIsTheBackupsDamage() throws {
        try set("mail", "CANARY")
        // What most of it is.
        for number in 0..<12 { try set("filler \(number)", String(repeating: "f", count: 3000)) }
        #expect(try programs.latchkey("backup", backup).status == 0)
        let whole = try Data(contentsOf: URL(fileURLWithPath: backup))
        var damaged = 0
        let marks = ["LKPROTEC", "LKKEYBAG", "LKSECRET", "software-secret", "history"].map { Data($0.utf8) }
        // Behind the names of all that is in it, and at places all over it.
        let places = marks.compactMap { whole.range(of: $0)?.upperBound }.flatMap { [$0 + 3, $0 + 40] }
        #expect(places.count == 10)
        for (round, place) in (places + stride(from: 20, to: whole.count, by: whole.count / 16)).enumerated() {
            var file = whole
            file[place] ^= 1 << UInt8(round % 8)
            try file.write(to: URL(fileURLWithPath: backup))
            let restored = try programs.latchkey("restore", "--replace", backup)
            if restored.text.contains("do not open") {
                // What is restored without one of its rows is no success.
                #expect(restored.status == 5 && restored.errors.contains("All others are restored"), "\(place)")
                damaged += 1
                try programs.latchkey("doctor", "--accept-damage")
                try set("mail", "CANARY")
            } else if restored.status != 0 {
                #expect([2, 5].contains(restored.status), "\(place): \(restored.errors)")
                #expect(restored.errors.contains(backup), "\(place): \(restored.errors)")
                #expect(restored.errors.contains("The keychain is as it was"), "\(place): \(restored.errors)")
                #expect(!restored.errors.contains("latchkey doctor"), "\(place): \(restored.errors)")
            }
            #expect(try programs.latchkey("get", "mail").text == "CANARY", "\(place)")
        }
        #expect(damaged > 0)
    }

    @Test func aRestoreBesideAStoppedDaemonNamesWhatEndsIt() throws {
        try set("mail", "1")
        #expect(try programs.latchkey("backup", backup).status == 0)
        let daemon = try programs.daemonProcess()
        #expect(kill(daemon, SIGSTOP) == 0)
        let refused = try programs.latchkey("restore", "--replace", backup)
        #expect(refused.status == 69 && refused.errors.contains("latchkey lock --stop"), "\(refused.errors)")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(try programs.latchkey("restore", "--replace", backup).status == 0)
        #expect(try programs.latchkey("get", "mail").text == "1")
    }

    /// Also before there is a keychain.
    @Test(arguments: [4096, 40_000, 100_000]) func aLimitOnFileSizesIsToldAsAFullDisk(_ size: Int) throws {
        let first = try programs.run(
            "/usr/bin/prlimit", ["--fsize=\(size):", BuiltPrograms.latchkey, "set", "a"], input: Data("1".utf8))
        #expect(first.status == 69 && first.errors.contains("is full"), "\(first.errors)")
        #expect(try programs.latchkey("lock", "--stop").status == 0)
        #expect(try programs.latchkey("set", "a", input: Data("1".utf8)).status == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
    }

    @Test func aBackupRestoresInPlaceOfARunningKeychain() throws {
        try set("a", "1")
        try set("b", "2")
        let made = try programs.latchkey("backup", backup)
        #expect(made.status == 0 && made.text.contains("whoever has this file can open it"), "\(made.errors)")
        #expect(try programs.latchkey("backup", backup).status == 2)
        try set("c", "3")
        try programs.latchkey("rm", "a")

        let refused = try programs.latchkey("restore", backup)
        #expect(refused.status == 2 && refused.errors.contains("--replace"))
        #expect(try programs.latchkey("get", "c").text == "3")

        let daemon = try programs.daemonProcess()
        let restored = try programs.latchkey("restore", "--replace", "--json", backup)
        #expect(restored.status == 0, "\(restored.errors)")
        let outcome = try object(restored)
        #expect(outcome["rows"] as? Int == 2 && outcome["unopened"] as? Int == 0)
        #expect(try programs.latchkey("get", "a").text == "1")
        #expect(try programs.latchkey("get", "b").text == "2")
        #expect(try programs.latchkey("get", "c").status == 1)
        #expect(try programs.daemonProcess() != daemon)
        // What was there is whole and opens where it lies.
        let aside = try #require(outcome["replaced"] as? String)
        #expect(try programs.latchkey("--data-dir", aside, "get", "c").text == "3")
    }

    /// It opens as it did, whatever the passcode is that the keychain gets then.
    @Test func aKeychainThatWasSetAsideIsNamed() throws {
        try set("a", "1")
        #expect(try programs.latchkey("backup", backup).status == 0)
        #expect(try !programs.latchkey("status").text.contains("replaced-"))
        #expect(try programs.latchkey("restore", "--replace", backup).status == 0)
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        let status = try programs.latchkey("status").text
        #expect(status.contains("replaced-") && status.contains("as it was protected then"), "\(status)")
    }

    /// As on Apple's systems such items are in no backup; nobody has to find that out later.
    @Test func whatGoesWithThePasscodeIsCounted() throws {
        try set("a", "1")
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        try set("b", "2")
        let edited = try programs.latchkey("edit", "b", "--accessible", "when-passcode-set-this-device-only")
        #expect(edited.status == 0, "\(edited.errors)")
        let made = try programs.latchkey("backup", "--json", backup)
        #expect(try object(made)["leftBehind"] as? Int == 1)
        let told = try programs.latchkey("backup", "--replace", backup)
        #expect(told.text.contains("1 item of the class when-passcode-set-this-device-only"), "\(told.text)")
        let other = try BuiltPrograms()
        #expect(try object(other.latchkey("restore", "--json", backup))["leftBehind"] as? Int == 1)
        #expect(try other.latchkey("unlock", input: Data("words words".utf8)).status == 0)
        #expect(try other.latchkey("get", "a").text == "1")
        #expect(try other.latchkey("get", "b").status == 1)
    }

    @Test func aBackupRestoresIntoAnEmptyHome() throws {
        try set("a", "1")
        #expect(try programs.latchkey("backup", backup).status == 0)
        let other = try BuiltPrograms()
        #expect(try other.latchkey("restore", backup).status == 0)
        #expect(try other.latchkey("get", "a").text == "1")
        let nothing = try BuiltPrograms()
        #expect(try nothing.latchkey("backup", nothing.home + "/x").status == 1)
        #expect(!FileManager.default.fileExists(atPath: nothing.home + "/x"))
    }

    @Test func whereABackupCannotBeWrittenIsSaidAndTheKeychainIsNotBlamed() throws {
        try set("a", "1")
        let shut = programs.home + "/shut"
        try FileManager.default.createDirectory(atPath: shut, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: shut)
        // Root may write there all the same.
        let paths = ["/nonexistent/x", "/dev/null/x"] + (geteuid() == 0 ? [] : [shut + "/x"])
        for path in paths {
            let refused = try programs.latchkey("backup", path)
            #expect(refused.status == 2)
            #expect(refused.errors.contains(path))
            #expect(!refused.errors.contains("database"))
        }
    }

    @Test func nothingButAFileIsReplacedAndNothingOfTheKeychain() throws {
        try set("a", "1")
        let pipe = programs.home + "/pipe"
        let made = unsafe mkfifo(pipe, 0o600)
        #expect(made == 0)
        // /dev/null for those alone who could not put a file in its place if this went wrong.
        let device = geteuid() == 0 ? [] : ["/dev/null"]
        for target in device + [pipe, data + "/keychain.db", data + "/enclave/keybag.0", data + "/new"] {
            for command in [["backup", "--replace"], ["export", "--insecure-plaintext", "--yes", "--replace"]] {
                let refused = try programs.run(BuiltPrograms.latchkey, command + [target])
                #expect(refused.status == 2 && refused.errors.contains("nothing was written"), "\(refused.errors)")
            }
            let refused = try programs.latchkey("inject", "--out", target, input: Data("text".utf8))
            #expect(refused.status == 2 && refused.errors.contains("nothing was written"), "\(refused.errors)")
        }
        #expect(try FileStatus(at: FilePath(pipe), followingLink: false).isRegularFile == false)
        // Through a link to its folder as well.
        let way = programs.home + "/way"
        try FileManager.default.createSymbolicLink(atPath: way, withDestinationPath: data)
        #expect(try programs.latchkey("backup", "--replace", way + "/keychain.db").status == 2)
        #expect(!FileManager.default.fileExists(atPath: data + "/new"))
        // From a keychain that lies elsewhere, and from a temporary one.
        let other = programs.home + "/other"
        try programs.latchkey("--data-dir", other, "set", "b", input: Data("2".utf8))
        for command in [
            ["--data-dir", other, "backup", "--replace", data + "/keychain.db"],
            ["temp", "--", "latchkey", "export", "--insecure-plaintext", "--yes", "--replace", data + "/keychain.db"],
        ] {
            let refused = try programs.run(BuiltPrograms.latchkey, command)
            #expect(refused.status == 2 && refused.errors.contains("nothing was written"), "\(refused.errors)")
        }
        try programs.latchkey("--data-dir", other, "lock", "--stop")
        #expect(try programs.latchkey("get", "a").text == "1")
        // A pipe is not waited for.
        let restored = try programs.latchkey("restore", "--replace", pipe)
        #expect(restored.status == 2 && restored.errors.contains("is no file"), "\(restored.errors)")
    }

    /// Other commands take it for a stream: a backup of that name beside an empty one is none.
    @Test(arguments: ["backup", "restore"])
    func aHyphenIsNoFile(_ command: String) throws {
        try set("a", "1")
        let refused = try programs.latchkey(command, "-")
        #expect(refused.status == 2 && refused.errors.contains("./-"), "\(refused.errors)")
    }

    /// A name from somebody else may hold a terminal's commands.
    @Test(arguments: ["backup", "restore"])
    func namesOfFilesAreShownAsText(_ command: String) throws {
        try set("a", "1")
        let refused = try programs.latchkey(command, programs.home + "/\u{1b}]0;x\u{7}\u{9b}2J\u{202e}/none")
        #expect(refused.status == 2, "\(refused.errors)")
        for command: Unicode.Scalar in ["\u{1b}", "\u{7}", "\u{9b}", "\u{202e}"] {
            #expect(!refused.errors.unicodeScalars.contains(command), "\(refused.errors)")
        }
    }

    /// Killed in the middle, at no chosen moment: the old file, or the new one whole.
    @Test func killingABackupLeavesTheFormerFile() throws {
        for index in 0..<8 {
            try programs.latchkey("set", "s\(index)", "--raw", input: Data(repeating: UInt8(index), count: 1_000_000))
        }
        #expect(try programs.latchkey("backup", backup).status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: backup))
        for turns in [0, 200, 2_000, 20_000] {
            let daemon = BuiltPrograms.folder + "/latchkeyd"
            let process = programs.start(daemon, ["--data-dir", data, "--backup", backup, "--replace"])
            try process.run()
            for _ in 0..<turns where process.isRunning { sched_yield() }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let now = try Data(contentsOf: URL(fileURLWithPath: backup))
            #expect(now == before || now.count >= before.count)
            let other = try BuiltPrograms()
            #expect(try other.latchkey("restore", backup).status == 0)
            #expect(try other.latchkey("get", "s7").output == Data(repeating: 7, count: 1_000_000))
        }
    }
}
