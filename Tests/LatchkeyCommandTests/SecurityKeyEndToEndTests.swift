import Foundation
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `latchkey protector add fido2` with the real programs; the enclave's hands are those that
/// know security keys of software.
@Suite(.enabled(if: SoftwareSecurityKey.isInstalled, "no python3-cbor2"))
final class SecurityKeyEndToEndTests {
    private let forms: JSONFormTests
    private let folder: String
    private let key: SoftwareSecurityKey
    private var programs: BuiltPrograms { forms.programs }

    init() throws {
        forms = try JSONFormTests()
        // Beside the programs: a hard link needs their file system.
        let name = Random.bytes(4).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        folder = "\(BuiltPrograms.folder)/fido-\(name)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for program in ["latchkey", "latchkeyd", "latchkey-enclave", "latchkey-prompt"] {
            try FileManager.default.linkItem(
                atPath: "\(BuiltPrograms.folder)/\(program)", toPath: "\(folder)/\(program)")
        }
        try FileManager.default.linkItem(
            atPath: "\(BuiltPrograms.folder)/security-key-hands", toPath: "\(folder)/latchkey-hardware")
        try FileManager.default.createDirectory(atPath: "\(folder)/keys", withIntermediateDirectories: false)
        key = try SoftwareSecurityKey(in: "\(folder)/keys")
    }

    deinit {
        key.pull()
        killAll()
        // What a test leaves behind is no reason to fail it.
        try? FileManager.default.removeItem(atPath: folder)
    }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(
            "\(folder)/latchkey", arguments, input: Data(typed.utf8), changing: ["PATH": "\(folder):/usr/bin:/bin"])
    }

    private func killAll() {
        for process in programs.processes("latchkey-enclave") + programs.processes("latchkeyd") {
            kill(process, SIGKILL)
        }
    }

    private func checkForm(_ name: String, _ arguments: String...) throws {
        let outcome = try programs.run("\(folder)/latchkey", arguments + ["--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        let value = try JSONSerialization.jsonObject(with: outcome.output)
        let form = try #require(forms.forms[name])
        #expect(JSONFormTests.differences(value, form, name) == [])
    }

    @Test func aKeychainIsBoundToASecurityKey() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        let added = try latchkey("protector", "add", "fido2")
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.errors.contains("Touch the security key when it blinks, and once more."))
        #expect(added.errors.contains("binds the keychain to the security key alone"))
        try checkForm("protector list", "protector", "list")
        try checkForm("protector test", "protector", "test")
        #expect(try latchkey("protector", "list").text.contains("Test Key 0"))

        let data = try #require(
            try JSONSerialization.jsonObject(with: latchkey("status", "--json").output) as? [String: Any])
        let path = try #require(data["dataDirectory"] as? String)
        let door = try RemotePersonDoor.present(inData: path, clock: SystemClock())
        let code = try door.makeRecoveryCode(passcode: nil)
        try door.confirmRecoveryCode(code)
        let typed = String(decoding: code.bytes.insecureArray(), as: UTF8.self)
        let removed = try latchkey("protector", "remove", "software", typed: "\(typed)\n")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try latchkey("protector", "test", "--pretend-gone", "fido2").status == 0, "the code is left")
        #expect(try latchkey("status").text.contains("bound to a security key"))
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        // Nobody touches it, then somebody does.
        try key.behave("no-touch")
        killAll()
        let untouched = try latchkey("get", "mail", "alice")
        #expect(untouched.status == 5 && untouched.text.isEmpty)
        #expect(untouched.errors.contains("touch the security key (Test Key 0) while it blinks"), "\(untouched.errors)")
        try key.behave("")
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        // It is gone; the code is there.
        key.pull()
        killAll()
        let gone = try latchkey("get", "mail", "alice")
        #expect(gone.status == 5 && gone.errors.contains("no security key is plugged in"), "\(gone.errors)")
        #expect(try latchkey("unlock", "--recovery", typed: typed).status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")

        // Another in its place.
        try key.reset()
        #expect(try latchkey("protector", "reseal", "fido2").status == 0)
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    @Test func aKeyWithAPINIsAddedWithIt() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        try key.behave("pin")
        let without = try latchkey("protector", "add", "fido2")
        #expect(without.status == 69 && without.errors.contains("--key-pin"), "\(without.errors)")
        let wrong = try latchkey("protector", "add", "fido2", "--key-pin", typed: "4321")
        #expect(wrong.status == 69 && wrong.errors.contains("that is not the PIN"), "\(wrong.errors)")
        #expect(try latchkey("protector", "add", "fido2", "--key-pin", typed: "1234").status == 0)
        let alone = try latchkey("protector", "remove", "software")
        #expect(alone.status == 0 && alone.errors.contains("a security key is part of it"), "\(alone.errors)")
        #expect(try latchkey("protector", "remove", "fido2").status == 2, "the last one stays")
        killAll()
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    @Test func whatIsNoSecurityKeyIsRefusedInWords() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        for arguments in [
            ["fido2", "--at", "/dev/sda"], ["fido2", "--at", "/dev/hidraw1/../sda"], ["tpm", "--key-pin"],
            ["software", "--at", "/dev/hidraw0"],
        ] {
            let outcome = try programs.run("\(folder)/latchkey", ["protector", "add"] + arguments)
            #expect(outcome.status == 2, "\(arguments)")
        }
        let other = try latchkey("protector", "add", "fido2", "--at", "/dev/hidraw3")
        #expect(other.status == 69 && other.errors.contains("there is no security key at /dev/hidraw3"))
        #expect(try latchkey("protector", "reseal", "fido2").status == 1)
    }

    /// The shipped program, confined, finds that none is plugged in: it may look.
    @Test(.enabled(if: FolderContent.names(at: "/sys/class/hidraw").isEmpty, "something is plugged in"))
    func theShippedHandsMayLookForOne() throws {
        let none = try programs.run(BuiltPrograms.latchkey, ["protector", "add", "fido2"])
        #expect(none.status == 69 && none.errors.contains("no security key is plugged in"), "\(none.errors)")
    }
}
