import Foundation
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `latchkey protector counter` with the real programs and a software TPM.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct CounterEndToEndTests {
    let forms: JSONFormTests
    let tpm: SoftwareTPM
    let code: String
    private let data: String
    var programs: BuiltPrograms { forms.programs }

    init() throws {
        let forms = try JSONFormTests()
        let tpm = try SoftwareTPM()
        (self.forms, self.tpm) = (forms, tpm)
        func done(_ arguments: String..., typed: String) throws {
            let outcome = try forms.programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
            try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        try done("set", "mail", "alice", typed: "CANARY")
        try done("passcode", "set", typed: "words words")
        try done("protector", "add", "tpm", "--at", tpm.address, typed: "words words")
        data = try #require(try forms.programs.status()["dataDirectory"] as? String)
        let door = try RemotePersonDoor.present(inData: data, clock: SystemClock())
        let secret = try door.makeRecoveryCode(passcode: .typed("words words"))
        try door.confirmRecoveryCode(secret)
        code = String(decoding: secret.bytes.insecureArray(), as: UTF8.self)
        try done("protector", "remove", "software", typed: "words words\n\(code)")
    }

    private var folder: URL { URL(filePath: data + "/enclave") }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    private func killAll() {
        for process in programs.processes("latchkey-enclave") + programs.processes("latchkeyd") {
            kill(process, SIGKILL)
        }
    }

    private func putBack(_ copy: URL) throws {
        killAll()
        for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) where name != "lock" {
            try Data(contentsOf: copy.appending(path: name)).write(to: folder.appending(path: name))
        }
    }

    @Test func anOlderCopyIsRefusedUntilItIsAccepted() throws {
        #expect(try latchkey("protector", "counter", "on", typed: "wrong words\n\(code)").status == 3)
        try forms.check("protector counter on", ["protector", "counter", "on"], input: "words words\n\(code)")
        #expect(try programs.status()["counter"] as? String == tpm.address)
        #expect(try latchkey("status").text.contains("Counter       in the TPM at \(tpm.address)"))
        #expect(try latchkey("doctor").text.contains("counts changes and attempts"))

        let copy = URL(filePath: programs.home + "/copy")
        try FileManager.default.copyItem(at: folder, to: copy)
        #expect(try latchkey("passcode", "change", typed: "words words\nother words").status == 0)
        try putBack(copy)
        let refused = try latchkey("get", "mail", "alice")
        #expect(refused.status == 5 && refused.errors.contains("an older copy of it was put back"))
        #expect(refused.errors.contains("`latchkey protector counter accept`"))
        #expect(try latchkey("unlock", typed: "words words").status == 5)
        let wrong = try latchkey("protector", "counter", "accept", typed: String(code.reversed()))
        #expect(wrong.status != 0)
        try forms.check("protector counter accept", ["protector", "counter", "accept"], input: code)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        try forms.check("protector counter off", ["protector", "counter", "off"], input: "words words")
        #expect(try tpm.indices() == [])
    }

    @Test func aRestoreSaysThatItHasToBeAccepted() throws {
        #expect(try latchkey("protector", "counter", "on", typed: "words words\n\(code)").status == 0)
        let backup = programs.home + "/keychain.backup"
        #expect(try latchkey("backup", backup).status == 0)
        // It looks at the backup with the machine's hardware.
        let restored = try latchkey("restore", "--replace", backup)
        #expect(restored.status == 0 && restored.errors.contains("`latchkey protector counter accept`"))
        #expect(try latchkey("unlock", typed: "words words").status == 5)
        #expect(try latchkey("protector", "counter", "accept", typed: code).status == 0)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("erase", "--yes").errors.contains("A counter that nobody uses from now on stays in index"))
    }

    /// What was set aside is not opened without its counter: nobody is told to remove that.
    @Test func aRestoreTakesNoCounterFromWhatIsSetAside() throws {
        let backup = programs.home + "/keychain.backup"
        #expect(try latchkey("backup", backup).status == 0)
        #expect(try latchkey("protector", "counter", "on", typed: "words words\n\(code)").status == 0)
        let restored = try latchkey("restore", "--replace", "--json", backup)
        #expect(restored.status == 0 && restored.errors.contains("for the keychain from before as well"))
        #expect(restored.errors.contains("Remove the counter only once"))
        #expect(!restored.errors.contains("nobody uses") && !restored.errors.contains("counter accept`;"))
        #expect(try tpm.indices().count == 1)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try programs.status()["counter"] as? String == nil)

        // And back to it: the counter vouches for it as ever.
        struct Restored: Decodable { let replaced: String }
        let aside = try JSONDecoder().decode(Restored.self, from: Data(restored.text.utf8)).replaced
        killAll()
        for name in try FileManager.default.contentsOfDirectory(atPath: data + "/enclave") where name != "lock" {
            try FileManager.default.removeItem(atPath: data + "/enclave/" + name)
        }
        try putBack(URL(filePath: aside + "/enclave"))
        for name in try FileManager.default.contentsOfDirectory(atPath: aside) where name.hasPrefix("keychain") {
            try? FileManager.default.removeItem(atPath: data + "/" + name)
            try FileManager.default.copyItem(atPath: aside + "/" + name, toPath: data + "/" + name)
        }
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try programs.status()["counter"] as? String == tpm.address)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    @Test func aTPMThatIsGoneIsGivenUp() throws {
        #expect(try latchkey("protector", "counter", "on", typed: "words words\n\(code)").status == 0)
        killAll()
        try tpm.clear()
        let refused = try latchkey("unlock", "--recovery", typed: code)
        #expect(refused.status == 5 && refused.errors.contains("the TPM was cleared"))
        #expect(try latchkey("protector", "counter", "accept", typed: code).status == 5)
        let unsaid = try latchkey("protector", "counter", "accept", "--give-up", typed: code)
        #expect(unsaid.status == 2 && unsaid.errors.contains("Add --yes"))
        #expect(try latchkey("protector", "counter", "accept", "--give-up", "--yes", typed: code).status == 0)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try programs.status()["counter"] as? String == nil)
    }
}

extension SharedSecret {
    fileprivate static func typed(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }
}
