import Foundation
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `latchkey protector` with the real programs and a software TPM.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct ProtectorEndToEndTests {
    let forms: JSONFormTests
    let tpm: SoftwareTPM
    var programs: BuiltPrograms { forms.programs }

    init() throws {
        forms = try JSONFormTests()
        tpm = try SoftwareTPM()
    }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    private func killAll() {
        for process in programs.processes("latchkey-enclave") + programs.processes("latchkeyd") {
            kill(process, SIGKILL)
        }
    }

    private func bind() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        let added = try latchkey("protector", "add", "tpm", "--at", tpm.address)
        #expect(added.status == 0)
        #expect(added.errors.contains("The software file still opens a copy anywhere."))
    }

    @Test func aKeychainIsBoundToATPM() throws {
        try bind()
        try forms.check("protector list", ["protector", "list"])
        try forms.check("protector test", ["protector", "test"])
        #expect(try latchkey("protector", "test", "--pretend-gone", "tpm").status == 0)
        let removed = try latchkey("protector", "remove", "software")
        #expect(removed.status == 0)
        #expect(removed.errors.contains("Only this machine's hardware opens the keychain now"))
        #expect(try programs.status()["protectors"] as? [String] == ["tpm2"])
        let alone = try latchkey("protector", "test", "--pretend-gone", "tpm")
        #expect(alone.status == 69 && alone.text.hasSuffix("not tried\n"))
        #expect(try latchkey("protector", "remove", "tpm").status == 2)

        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        killAll()
        tpm.stop()
        let refused = try latchkey("get", "mail", "alice")
        #expect(refused.status == 5 && refused.text.isEmpty)
        #expect(refused.errors.contains("there is no such TPM"))
        try tpm.start()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        try forms.check("protector reseal", ["protector", "reseal", "tpm"])
        try forms.check("protector add", ["protector", "add", "software"])
        try forms.check("protector remove", ["protector", "remove", "tpm"])
        tpm.stop()
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    @Test func theRecoveryCodeOpensWhereTheTPMWasCleared() throws {
        try bind()
        #expect(try latchkey("passcode", "set", typed: "words words").status == 0)
        let data = try #require(try programs.status()["dataDirectory"] as? String)
        let door = try RemotePersonDoor.present(inData: data, clock: SystemClock())
        let code = try door.makeRecoveryCode(passcode: SharedSecret(SecretBytes(copying: Array("words words".utf8))))
        try door.confirmRecoveryCode(code)
        let typed = String(decoding: code.bytes.insecureArray(), as: UTF8.self)
        let forgotten = try latchkey("protector", "remove", "software", typed: "words words\nAAAA-AAAA\n")
        #expect(forgotten.status == 2)
        #expect(try latchkey("protector", "remove", "software", typed: "words words\n\(typed)\n").status == 0)
        #expect(try programs.status()["protectors"] as? [String] == ["tpm2", "recovery-code"])

        try tpm.clear()
        killAll()
        let refused = try latchkey("get", "mail", "alice")
        #expect(refused.status == 5)
        #expect(refused.errors.contains("the TPM was cleared, or it is another one"))
        #expect(try latchkey("unlock", "--recovery", typed: typed).status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("protector", "reseal", "tpm", typed: "words words").status == 0)
        killAll()
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    /// A backup is bound to what the keychain was bound to.
    @Test func aBackupIsRestoredByTheSameTPM() throws {
        try bind()
        #expect(try latchkey("protector", "remove", "software").status == 0)
        let file = programs.home + "/keychain.backup"
        #expect(try latchkey("backup", file).status == 0)
        let other = programs.home + "/other"
        try tpm.clear()
        let refused = try latchkey("--data-dir", other, "restore", file)
        #expect(refused.status != 0 && refused.errors.contains("the TPM was cleared"))
        try tpm.undoClearing()
        #expect(try latchkey("--data-dir", other, "restore", file).status == 0)
        #expect(try latchkey("--data-dir", other, "get", "mail", "alice").text == "CANARY")
    }

    @Test func aBackupWhoseTPMIsGoneIsRestoredWithTheRecoveryCode() throws {
        try bind()
        let data = try #require(try programs.status()["dataDirectory"] as? String)
        let door = try RemotePersonDoor.present(inData: data, clock: SystemClock())
        let code = try door.makeRecoveryCode(passcode: nil)
        try door.confirmRecoveryCode(code)
        let typed = String(decoding: code.bytes.insecureArray(), as: UTF8.self)
        #expect(try latchkey("protector", "remove", "software", typed: "\(typed)\n").status == 0)
        let file = programs.home + "/keychain.backup"
        #expect(try latchkey("backup", file).status == 0)
        let other = programs.home + "/other"
        tpm.stop()

        let refused = try latchkey("--data-dir", other, "restore", file)
        #expect(refused.status == 5 && refused.errors.contains("add --recovery"))
        let wrong = try latchkey(
            "--data-dir", other, "restore", "--recovery", file, typed: String(typed.reversed()))
        #expect(wrong.status == 3 && wrong.errors.contains("does not open the backup"))
        #expect(try latchkey("restore", "--passcode-fd", "0", file).status == 2)
        #expect(!FileManager.default.fileExists(atPath: other + "/keychain.db"))

        #expect(try latchkey("--data-dir", other, "restore", "--recovery", file, typed: typed).status == 0)
        #expect(try latchkey("--data-dir", other, "get", "mail", "alice").status == 5)
        #expect(try latchkey("--data-dir", other, "unlock", "--recovery", typed: typed).status == 0)
        #expect(try latchkey("--data-dir", other, "get", "mail", "alice").text == "CANARY")
        #expect(try latchkey("--data-dir", other, "protector", "add", "software").status == 0)
        killAll()
        #expect(try latchkey("--data-dir", other, "get", "mail", "alice").text == "CANARY")
    }

    @Test func whatIsNotThereIsRefusedInWords() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        for arguments in [
            ["add", "tpm", "--at", "tpmrm0"], ["add", "software", "--at", tpm.address], ["add", "yubikey"],
        ] {
            #expect(try programs.run(BuiltPrograms.latchkey, ["protector"] + arguments).status == 2, "\(arguments)")
        }
        let nowhere = try latchkey("protector", "add", "tpm", "--at", "device:/dev/tpm99")
        #expect(nowhere.status == 69 && nowhere.errors.contains("there is no such TPM"))
        #expect(try latchkey("protector", "reseal", "tpm").status == 1)
        let last = try latchkey("protector", "remove", "software")
        #expect(last.status == 2 && last.errors.contains("it is the last one that opens without a person"))
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }
}
