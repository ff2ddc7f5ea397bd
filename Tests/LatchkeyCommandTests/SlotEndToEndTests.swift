import Foundation
import KeychainPlatform
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `latchkey slot` with the real programs and a software TPM.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct SlotEndToEndTests {
    let forms: JSONFormTests
    let tpm: SoftwareTPM
    var programs: BuiltPrograms { forms.programs }

    init() throws {
        forms = try JSONFormTests()
        tpm = try SoftwareTPM()
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try latchkey("passcode", "set", typed: "words words").status == 0)
    }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    /// As where the machine was started anew.
    private func killAll() {
        for process in programs.processes("latchkey-enclave") + programs.processes("latchkeyd") {
            kill(process, SIGKILL)
        }
    }

    @Test func aKeychainOpensByItself() throws {
        killAll()
        #expect(try latchkey("get", "mail", "alice").status == 3)
        #expect(try latchkey("status").text.contains("Unlocks       when a person comes"))
        try forms.check("slot list", ["slot", "list"])
        try forms.check("slot add", ["slot", "add", "tpm", "--at", tpm.address], input: "words words")
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try programs.status()["opensByItself"] as? Bool == true)
        let status = try latchkey("status").text
        #expect(status.contains("Unlocks       by itself\n"))
        #expect(status.contains("It unlocks by itself, by this machine's TPM"))

        // Until its programs start anew.
        #expect(try latchkey("lock").status == 0)
        #expect(try latchkey("get", "mail", "alice").status == 3)
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        killAll()
        tpm.stop()
        #expect(try latchkey("get", "mail", "alice").status == 3)
        #expect(try latchkey("status").text.contains("by itself, but did not: there is no such TPM"))
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        try forms.check("slot remove", ["slot", "remove", "tpm"], input: "words words")
        #expect(try programs.status()["opensByItself"] as? Bool == false)
    }

    @Test func aTPMLooksAtThePasscode() throws {
        #expect(try latchkey("passcode", "guard", "tpm", "--at", "swtpm:relative", typed: "words words").status == 2)
        #expect(try latchkey("passcode", "guard", "none", "--at", tpm.address, typed: "words words").status == 2)
        #expect(try latchkey("passcode", "guard", "tpm", "--at", tpm.address, typed: "wrong").status == 3)
        try forms.check("passcode guard", ["passcode", "guard", "tpm", "--at", tpm.address], input: "words words")
        #expect(try latchkey("slot", "list").text.contains("\t\(tpm.address)\t"))
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(try latchkey("unlock", typed: "wrong words").status == 3)
        tpm.stop()
        let refused = try latchkey("unlock", typed: "words words")
        #expect(refused.status == 69 && refused.errors.contains("there is no such TPM"))
        #expect(refused.errors.contains("`latchkey unlock --recovery`"))
        try tpm.start()
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("passcode", "guard", "none", typed: "words words").status == 0)
        tpm.stop()
        #expect(try latchkey("lock").status == 0)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
    }

    private func spawners(of process: Int32) -> [Int32] {
        let children = FileManager.default.contents(atPath: "/proc/\(process)/task/\(process)/children") ?? Data()
        return String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }.filter {
            FileManager.default.contents(atPath: "/proc/\($0)/comm") == Data("latchkey-spawne\n".utf8)
        }
    }

    private func spawner(of process: Int32) throws -> Int32 {
        #expect(BuiltPrograms.eventually { spawners(of: process).count == 1 })
        return try #require(spawners(of: process).first)
    }

    /// What starts latchkey-hardware for the enclave, which may not.
    @Test func aTPMIsAskedAlsoWhereWhatStartsProgramsIsKilled() throws {
        #expect(try latchkey("passcode", "guard", "tpm", "--at", tpm.address, typed: "words words").status == 0)
        let server = try spawner(of: try #require(programs.processes("latchkey-enclave").first))
        let spare = try spawner(of: server)
        #expect(try latchkey("lock").status == 0)
        kill(server, SIGKILL)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        // Both at once, so that neither takes the other's place.
        let both = [spare, try spawner(of: spare)]
        for process in both { try stop(process) }
        for process in both { kill(process, SIGKILL) }
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("lock").status == 0)
        let refused = try latchkey("unlock", typed: "words words")
        #expect(refused.status == 69 && refused.errors.contains("what starts latchkey-hardware was ended"))
        #expect(refused.errors.contains("`latchkey lock --stop`"))
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    @Test(.enabled(if: SoftwareTPM.canBeOwned, "tpm2-tools are not installed"))
    func aTPMKeepsWhatGoesWithThePasscode() throws {
        let relative = "swtpm:relative"
        #expect(try latchkey("passcode", "effacement", "tpm", "--at", relative, typed: "words words").status == 2)
        #expect(try latchkey("passcode", "effacement", "file", "--at", tpm.address, typed: "words words").status == 2)
        #expect(try latchkey("passcode", "effacement", "tpm", "--at", tpm.address, typed: "wrong").status == 3)
        let lasting = "when-passcode-set-this-device-only"
        #expect(try latchkey("set", "bank", "alice", typed: "CANARY 2").status == 0)
        #expect(try latchkey("edit", "bank", "alice", "--accessible", lasting).status == 0)
        try forms.check(
            "passcode effacement", ["passcode", "effacement", "tpm", "--at", tpm.address], input: "words words")
        #expect(try programs.status()["effacement"] as? String == tpm.address)
        #expect(try latchkey("doctor").text.contains("where it is cleared or breaks they are lost"))

        killAll()
        tpm.stop()
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("get", "bank", "alice").status == 3)
        #expect(try latchkey("status").text.contains("closed: there is no such TPM"))
        try tpm.start()
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "bank", "alice").text == "CANARY 2")

        let handle = try #require(try tpm.indices().first)
        tpm.stop()
        let removed = try latchkey("passcode", "remove", "--yes", typed: "words words")
        let place = "index \(handle) of the TPM at \(tpm.address)"
        #expect(removed.status == 0 && removed.errors.contains("may still be there: \(place)."))
        #expect(try latchkey("get", "bank", "alice").status == 1)
        #expect(try left() == [["tpm": tpm.address, "handle": handle]])
        #expect(try latchkey("status").text.contains("still to be destroyed: \(place)"))
        try tpm.start()
        let asked = try latchkey("doctor").text
        #expect(asked.contains("\(place) may still have a secret that went with a passcode") && asked.contains("kill "))
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try left() == [])
    }

    private func left() throws -> [[String: String]]? {
        try programs.status()["effacementsLeft"] as? [[String: String]]
    }

    @Test(.enabled(if: SoftwareTPM.canBeOwned, "tpm2-tools are not installed"))
    func aPersonGivesUpWhatATPMKeeps() throws {
        func giveUp(_ more: String...) throws -> BuiltPrograms.Outcome {
            try programs.run(
                BuiltPrograms.latchkey, ["passcode", "effacement", "file", "--give-up"] + more,
                input: Data("words words".utf8))
        }
        #expect(try latchkey("passcode", "effacement", "tpm", "--give-up", typed: "words words").status == 2)
        #expect(try latchkey("passcode", "effacement", "file", "--yes", typed: "words words").status == 2)
        let lasting = "when-passcode-set-this-device-only"
        #expect(try latchkey("set", "bank", "alice", typed: "CANARY 2").status == 0)
        #expect(try latchkey("edit", "bank", "alice", "--accessible", lasting).status == 0)
        #expect(
            try latchkey("passcode", "effacement", "tpm", "--at", tpm.address, typed: "words words").status == 0)
        let handle = try #require(try tpm.indices().first)
        #expect(try giveUp("--yes").errors.contains("the TPM gives it out"))

        killAll()
        try tpm.clear()
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "bank", "alice").status == 3)
        #expect(try latchkey("status").text.contains("closed: the TPM was cleared, or it is another one"))
        #expect(try latchkey("doctor").text.contains("passcode effacement file --give-up"))
        let refused = try latchkey("passcode", "effacement", "file", typed: "words words")
        #expect(refused.status != 0 && refused.errors.contains("nothing was changed"))
        let unsaid = try giveUp()
        #expect(unsaid.status == 2 && unsaid.errors.contains("Add --yes"))
        #expect(try latchkey("get", "bank", "alice").status == 3)
        let done = try giveUp("--yes")
        #expect(done.status == 0 && done.errors.contains("index \(handle) of the TPM at \(tpm.address)"))
        #expect(try latchkey("get", "bank", "alice").status == 1)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try programs.status()["effacement"] as? String == "file")
        #expect(try giveUp().status == 0)
        #expect(try left() == [])
    }

    @Test(.enabled(if: SoftwareTPM.canBeOwned, "tpm2-tools are not installed"))
    func aRestoreSaysWhatATPMKeeps() throws {
        let backup = programs.home + "/keychain.backup"
        #expect(try latchkey("backup", backup).status == 0)
        #expect(
            try latchkey("passcode", "effacement", "tpm", "--at", tpm.address, typed: "words words").status == 0)
        let handle = try #require(try tpm.indices().first)
        // What the backup names as well stays in use.
        #expect(try latchkey("backup", backup + ".2").status == 0)
        let same = try latchkey("restore", "--replace", backup + ".2")
        #expect(same.status == 0 && !same.errors.contains("TPM"))
        let other = try latchkey("restore", "--replace", backup)
        let removal = "tpm2_nvundefine --tcti=swtpm:path=\(tpm.socket) \(handle)"
        #expect(other.status == 0 && other.errors.contains("stays in index \(handle) of the TPM at \(tpm.address)"))
        #expect(other.errors.contains(removal))
        // And so does whoever erases all of them.
        #expect(try latchkey("erase", "--yes").errors.contains(removal))
        try run(removal)
        #expect(try tpm.indices() == [])
    }

    /// Whoever looks at a backup may go back to what was there before.
    @Test(.enabled(if: SoftwareTPM.canBeOwned, "tpm2-tools are not installed"))
    func aRestoreHasNoTPMDestroyAnything() throws {
        let backup = programs.home + "/keychain.backup"
        #expect(
            try latchkey("passcode", "effacement", "tpm", "--at", tpm.address, typed: "words words").status == 0)
        tpm.stop()
        let removed = try latchkey("passcode", "remove", "--yes", typed: "words words")
        #expect(removed.status == 0 && removed.errors.contains("may open with it"))
        #expect(try latchkey("backup", backup).status == 0)
        try tpm.start()
        #expect(try latchkey("restore", "--replace", backup).status == 0)
        #expect(try tpm.indices().count == 1)
        // The next start of the keychain does.
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try tpm.indices() == [])
    }

    private func run(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let tool = TestProcess()
        tool.executableURL = URL(filePath: "/usr/bin/" + words[0])
        tool.arguments = Array(words.dropFirst())
        try tool.run()
        tool.waitUntilExit()
        #expect(tool.terminationStatus == 0)
    }

    @Test func anErasureSaysWhatATPMMayStillHave() throws {
        func erasure() throws -> String { try latchkey("erase", "--yes").errors }
        #expect(
            try latchkey("passcode", "effacement", "tpm", "--at", tpm.address, typed: "words words").status == 0)
        #expect(try erasure().contains("What went with a passcode stays in index 0x"))
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try !erasure().contains("TPM"))
    }

    /// As a unit with LoadCredential= has it.
    @Test func aServiceOpensItWithACredential() throws {
        let made = try latchkey("slot", "add", "credential", typed: "words words")
        #expect(made.status == 0 && made.text.hasPrefix("latchkey-slot-1:") && !made.errors.contains(made.text))
        let folder = programs.home + "/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try made.text.write(toFile: folder + "/keychain", atomically: false, encoding: .utf8)
        killAll()
        let unlocked = try programs.run(
            BuiltPrograms.latchkey, ["unlock", "--slot", "--passcode-credential", "keychain"],
            changing: ["CREDENTIALS_DIRECTORY": folder])
        #expect(unlocked.status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        // It is no passcode.
        #expect(try latchkey("unlock", typed: made.text).status == 3)
        #expect(try latchkey("passcode", "remove", typed: made.text).status != 0)
        #expect(try latchkey("unlock", "--slot", typed: "words words").status == 3)
        #expect(try latchkey("slot", "remove", "credential", typed: "words words").status == 0)
        #expect(try latchkey("lock").status == 0)
        #expect(try latchkey("unlock", "--slot", typed: made.text).status == 3)
        #expect(try latchkey("get", "mail", "alice").status == 3)
    }

    @Test func whatCannotBeIsSaid() throws {
        for arguments in [
            ["add", "credential", "--at", tpm.address], ["add", "tpm", "--at", "tpmrm0"], ["add", "finger"],
        ] {
            #expect(try programs.run(BuiltPrograms.latchkey, ["slot"] + arguments).status == 2, "\(arguments)")
        }
        #expect(try latchkey("unlock", "--slot", "--recovery").status == 2)
        #expect(try latchkey("slot", "remove", "tpm", typed: "words words").status == 1)
        let nowhere = try latchkey("slot", "add", "tpm", "--at", "device:/dev/tpm99", typed: "words words")
        #expect(nowhere.status == 69 && nowhere.errors.contains("there is no such TPM"))
        let wrong = try latchkey("slot", "add", "credential", typed: "other words")
        #expect(wrong.status != 0 && wrong.text.isEmpty)
    }
}
