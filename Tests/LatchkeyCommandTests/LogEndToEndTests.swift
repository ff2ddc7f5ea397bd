import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `latchkey log` and `latchkey whocan` on the real daemon and enclave.
@Suite struct LogEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func lines(_ arguments: String...) throws -> [[String: Any]] {
        let text = try programs.run(BuiltPrograms.latchkey, ["log", "--json"] + arguments).text
        return try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func audit() throws -> [String] {
        let folder = "\(try dataDirectory())/audit"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }
    }

    private func dataDirectory() throws -> String {
        let status = try programs.run(BuiltPrograms.latchkey, ["status", "--json"]).text
        let object = try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any]
        return try #require(object?["dataDirectory"] as? String)
    }

    @Test func whoReadWhatIsTold() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        try programs.latchkey("set", "post", "bob", input: Data("CANARY".utf8))
        for _ in 0..<3 { try programs.latchkey("get", "mail", "alice") }
        let reads = try lines("--event", "read")
        #expect(reads.allSatisfy { ($0["service"] as? String) == "mail" && ($0["account"] as? String) == "alice" })
        #expect(reads.compactMap { $0["count"] as? Int }.reduce(0, +) == 3)
        #expect(reads.allSatisfy { ($0["program"] as? String)?.isEmpty == false && ($0["by"] as? String) == "daemon" })
        #expect(try lines("--item", "post").map { $0["event"] as? String } == ["add"])
        #expect(try lines("--item", "post", "--account", "nobody").isEmpty)
        #expect(try lines("--since", "2999-01-01T00:00:00Z").isEmpty)
        #expect(try lines("--program", "no such program").isEmpty)
        #expect(try lines("--denied").isEmpty)
        #expect(try lines("--since", "1h", "--event", "read").count == reads.count)
        // For people too, and never a value.
        let text = try programs.latchkey("log").text
        #expect(text.contains("\tread\t") && text.contains("mail/alice"))
        #expect(!text.contains("CANARY"))
    }

    /// Not our own service alone, which asks for everybody on the bus.
    @Test(.enabled(if: SecretServiceClients.areInstalled, "dbus or libsecret-tools is missing"))
    func whoAskedOverASessionsBusIsTold() throws {
        let scene = try SecretServiceScene()
        let place = ["service", "mail", "username", "alice"]
        #expect(try scene.client("/usr/bin/secret-tool", ["store", "--label=L"] + place, typed: "CANARY").status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "CANARY")
        let text = try scene.programs.run(BuiltPrograms.latchkey, ["log", "--json", "--program", "secret-tool"]).text
        let lines = try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(Set(lines.compactMap { $0["event"] as? String }) == ["add", "read"])
        #expect(lines.allSatisfy { $0["for"] as? String == "/usr/bin/secret-tool" && $0["forPid"] as? Int ?? 0 > 1 })
        #expect(lines.allSatisfy { ($0["program"] as? String)?.hasSuffix("/latchkey-secret-service") == true })
        #expect(try scene.programs.latchkey("log").text.contains("latchkey-secret-service for /usr/bin/secret-tool"))
        // What was asked for by nobody else says nobody.
        #expect(try scene.programs.latchkey("get", "mail", "alice").text == "CANARY")
        let own = try scene.programs.run(BuiltPrograms.latchkey, ["log", "--json", "--program", "bin/latchkey"]).text
        #expect(own.contains(#""for":null"#) || own.isEmpty)
    }

    /// More than one message of the enclave's holds.
    @Test func aLongRecordIsTold() throws {
        let rows = (0..<1500).map { "site \($0),https://host\($0).example/,user\($0),CANARY\($0)" }
        let file = programs.home + "/passwords.csv"
        try (["name,url,username,password"] + rows).joined(separator: "\n").write(
            toFile: file, atomically: true, encoding: .utf8)
        #expect(try programs.latchkey("import", file).status == 0)
        let copy = programs.home + "/copy"
        let exported = try programs.latchkey(
            "export", "--passphrase-fd", "0", copy, input: Data("a passphrase of the test".utf8))
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try lines("--event", "read").count == 1500)
        #expect(try programs.latchkey("log", "--verify").status == 0)
        #expect(try lines("--item", "host1499.example", "--event", "read").count == 1)
    }

    @Test func whatThePersonDoesIsToldByTheEnclave() throws {
        let passcode = Data("words".utf8)
        _ = try programs.run(BuiltPrograms.latchkey, ["passcode", "set"], input: passcode)
        _ = try programs.run(BuiltPrograms.latchkey, ["lock"])
        _ = try programs.run(BuiltPrograms.latchkey, ["unlock"], input: Data("wrong".utf8))
        #expect(try programs.run(BuiltPrograms.latchkey, ["log"]).status == 3)
        _ = try programs.run(BuiltPrograms.latchkey, ["unlock"], input: passcode)
        _ = try programs.run(BuiltPrograms.latchkey, ["autolock", "--after", "1h"], input: passcode)
        _ = try programs.run(BuiltPrograms.latchkey, ["passcode", "remove", "--yes"], input: passcode)
        let events = try lines().filter { ($0["by"] as? String) == "enclave" }.compactMap { $0["event"] as? String }
        let expected = ["passcode-set", "locked", "attempt-failed", "unlocked", "lock-policy", "passcode-removed"]
        #expect(events.filter(expected.contains) == expected)
    }

    @Test func aRecordThatWasTouchedIsToldWithStatusFive() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        try programs.latchkey("get", "mail", "alice")
        let whole = try programs.latchkey("log", "--verify").text
        #expect(whole.hasPrefix("The record is whole: "))
        let file = try #require(try audit().first)
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: file))
        let outcome = try programs.run(BuiltPrograms.latchkey, ["log", "--verify"])
        #expect(outcome.status == 5)
        #expect(outcome.text.contains("The record is not as the keychain wrote it."))
        let json = try programs.run(BuiltPrograms.latchkey, ["log", "--verify", "--json"])
        #expect(json.status == 5)
        #expect(json.text.contains("\"sound\":false"))
        // Whoever reads it hears of it as well.
        let read = try programs.run(BuiltPrograms.latchkey, ["log"])
        #expect(read.status == 0)
        #expect(read.errors.contains("latchkey log --verify"))
    }

    /// Daemon and enclave killed while programs read: nothing looks like tampering, and
    /// at most what was read in the last second is missing.
    @Test(arguments: 0..<4)
    func whatIsKilledIsNoTampering(round: Int) throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        try programs.latchkey("get", "mail", "alice")
        #expect(try programs.run(BuiltPrograms.latchkey, ["log", "--verify"]).status == 0)
        for _ in 0...round { try programs.latchkey("get", "mail", "alice") }
        let status = try programs.run(BuiltPrograms.latchkey, ["status", "--json"]).text
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any])
        let daemon = try #require((object["daemon"] as? [String: Any])?["pid"] as? Int)
        let enclave = try #require((object["enclave"] as? [String: Any])?["pid"] as? Int)
        let killed = round % 2 == 0 ? [daemon, enclave] : [enclave, daemon]
        for process in killed {
            try #require(kill(Int32(process), SIGKILL) == 0)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            #expect(try ProcessHandle.waitForEnd(of: Int32(process), until: deadline) == .ready)
        }
        let verdict = try programs.run(BuiltPrograms.latchkey, ["log", "--verify"])
        #expect(verdict.status == 0, "\(verdict.text)")
        // What had been verified is there still.
        let reads = try lines("--event", "read").compactMap { $0["count"] as? Int }.reduce(0, +)
        #expect((1...(round + 2)).contains(reads))
    }

    private enum Ended: CaseIterable { case daemon, enclave, both, nobody }

    /// Where nothing can be written, that is said, and whoever kills the daemon then takes
    /// the lines and not their number.
    @Test(arguments: Ended.allCases)
    private func whatCannotBeWrittenIsCounted(ended: Ended) throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        #expect(!(try programs.latchkey("log")).errors.contains("wait in the daemon"))
        let status = try programs.run(BuiltPrograms.latchkey, ["status", "--json"]).text
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any])
        let daemon = try #require((object["daemon"] as? [String: Any])?["pid"] as? Int)
        let enclave = try #require((object["enclave"] as? [String: Any])?["pid"] as? Int)
        let limit = try programs.run("/usr/bin/prlimit", ["--pid", "\(daemon)", "--fsize=64:"])
        try #require(limit.status == 0, "\(limit.errors)")
        for _ in 0..<3 { try programs.latchkey("get", "mail", "alice") }
        let told = try programs.latchkey("log").errors
        #expect(told.contains("Nothing could be written since 2") && told.contains("events wait in the daemon"))
        let verdict = try programs.run(BuiltPrograms.latchkey, ["log", "--verify", "--json"])
        let numbers = try JSONSerialization.jsonObject(with: Data(verdict.text.utf8)) as? [String: Any]
        #expect(verdict.status == 0 && numbers?["unwritten"] as? Int ?? 0 >= 4, "\(verdict.text)")
        let killed: [Int] =
            switch ended {
            case .daemon: [daemon]
            case .enclave: [enclave]
            case .both: [daemon, enclave]
            case .nobody: []
            }
        for process in killed {
            try #require(kill(Int32(process), SIGKILL) == 0)
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            #expect(try ProcessHandle.waitForEnd(of: Int32(process), until: deadline) == .ready)
        }
        let lives = ended == .nobody || ended == .enclave
        if lives { _ = try programs.run("/usr/bin/prlimit", ["--pid", "\(daemon)", "--fsize=unlimited:"]) }
        #expect(try programs.latchkey("get", "mail", "alice").text.contains("CANARY"))
        let gaps = try lines("--event", "gap")
        let reads = try lines("--event", "read").compactMap { $0["count"] as? Int }.reduce(0, +)
        let last = try programs.run(BuiltPrograms.latchkey, ["log", "--verify", "--json"])
        #expect(last.status == 0 && last.text.contains(#""unwritten":0"#), "\(last.text)")
        guard !lives else {
            #expect(gaps.isEmpty && reads == 4)
            return
        }
        #expect(gaps.map { $0["by"] as? String } == ["enclave"])
        // The reads, and the questions about the record.
        #expect((4...6).contains(gaps.first?["count"] as? Int ?? 0), "\(gaps)")
        #expect(reads == 1)
    }

    /// What the former store's keys sealed goes with it.
    @Test func aRestoreBeginsARecordOfItsOwn() throws {
        let file = programs.home + "/keychain.backup"
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        try programs.latchkey("get", "mail", "alice")
        #expect(try lines("--event", "read").count == 1)
        try programs.latchkey("backup", file)
        try programs.latchkey("restore", "--replace", file)
        try programs.latchkey("get", "mail", "alice")
        let verified = try programs.run(BuiltPrograms.latchkey, ["log", "--verify"])
        #expect(verified.status == 0, "\(verified.text) \(verified.errors)")
        #expect(try lines("--event", "read").count == 1)
        let data = try dataDirectory()
        let aside = try #require(
            try FileManager.default.contentsOfDirectory(atPath: data).first { $0.hasPrefix("replaced-") })
        #expect(try !FileManager.default.contentsOfDirectory(atPath: "\(data)/\(aside)/audit").isEmpty)
    }

    @Test func followingTellsWhatHappensThen() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        let process = programs.start(BuiltPrograms.latchkey, ["log", "--follow", "--json", "--event", "read"])
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        try programs.latchkey("get", "mail", "alice")
        #expect(output.fileHandleForReading.hasInput(until: Deadline(after: .seconds(60), on: SystemClock())))
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        #expect(text.contains("\"event\":\"read\"") && text.contains("\"service\":\"mail\""))
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func whoCouldReadAnItemIsTold() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        let before = try programs.latchkey("whocan", "mail").text
        #expect(before.contains("every program of this user\tthe group \"latchkey\""))
        #expect(before.contains("every program of this user outside a sandbox\tthere is no passcode"))
        #expect(before.contains("whoever has a copy of "))
        #expect(before.contains("\nopens\topens while the keychain is unlocked"))
        _ = try programs.run(BuiltPrograms.latchkey, ["passcode", "set"], input: Data("words".utf8))
        let after = try programs.latchkey("whocan", "mail", "alice").text
        #expect(after.contains("a person with the passcode"))
        #expect(!after.contains("whoever has a copy of "))
        #expect(try programs.run(BuiltPrograms.latchkey, ["whocan", "nothing"]).status == 1)
    }
}
