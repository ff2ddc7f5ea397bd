import KeychainModel
import KeychainPlatform
import KeychainProtocol
import LatchkeyCommand
import Testing

@Suite struct SetCommandTests {
    let keychain = FakeKeychain()

    private func stored(_ input: [UInt8], _ arguments: String...) -> [UInt8]? {
        let console = RecordingConsole(input: input)
        _ = run(arguments, console)
        return keychain.items.first?.value?.bytes.insecureArray()
    }

    private func run(_ arguments: [String], _ console: RecordingConsole) -> LatchkeyCommand.ExitStatus {
        switch arguments.count {
        case 1: CommandRun("set", arguments[0], on: keychain, console: console).status
        default: CommandRun("set", arguments[0], arguments[1], on: keychain, console: console).status
        }
    }

    @Test(arguments: [("pw", "pw"), ("pw\n", "pw"), ("pw\n\n", "pw\n"), ("pw\r\n", "pw\r")])
    func dropsOneNewline(given: String, kept: String) {
        #expect(stored(Array(given.utf8), "a") == Array(kept.utf8))
    }

    @Test func rawKeepsEveryByte() {
        #expect(stored([0, 255, 10], "a", "--raw") == [0, 255, 10])
    }

    @Test func binaryValuesAreKept() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(stored(bytes, "a") == bytes)
    }

    @Test func emptyInputIsRefusedUnlessAsked() {
        let refused = CommandRun("set", "a", on: keychain)
        #expect(refused.status == .usage)
        #expect(refused.lastNote.contains("--allow-empty"))
        #expect(keychain.items.isEmpty)
        #expect(CommandRun("set", "a", "--allow-empty", on: keychain).status == .done)
        #expect(CommandRun("get", "a", on: keychain).console.output == [])
    }

    @Test func withoutAccountTheAccountIsEmpty() {
        keychain.set(["a"], "pw")
        #expect(keychain.items[0].attributes["acct"] == .string(""))
        #expect(keychain.items[0].attributes["agrp"] == .string("latchkey"))
    }

    @Test func replacesValueAndKeepsLabel() {
        keychain.set(["a", "me", "--label", "Title"], "one")
        let again = CommandRun("set", "a", "me", "--json", on: keychain, console: RecordingConsole(input: [50]))
        #expect(again.text == #"{"service":"a","account":"me","kind":"generic","replaced":true}"# + "\n")
        #expect(keychain.items.count == 1)
        #expect(keychain.items[0].attributes["labl"] == .string("Title"))
        #expect(CommandRun("get", "a", on: keychain).text == "2")
    }

    @Test func replacingLeavesNeighboursAlone() {
        keychain.plant(
            .internetPassword,
            ["srvr": .string("h"), "acct": .string("me"), "port": .integer(8080), "agrp": .string("latchkey")], "other")
        keychain.set(["--internet", "https://h", "me"], "one")
        keychain.set(["--internet", "https://h", "me"], "two")
        #expect(
            keychain.items.map { String(decoding: $0.value!.bytes.insecureArray(), as: UTF8.self) } == ["other", "two"])
    }

    @Test func secretsAsArgumentsAreRefusedAndNotRepeated() {
        let run = CommandRun("set", "a", "me", "hunter2", on: keychain)
        #expect(run.status == .usage)
        #expect(!run.notes.joined().contains("hunter2"))
        #expect(keychain.items.isEmpty)
        let option = CommandRun("set", "a", "--password=hunter2", on: keychain)
        #expect(option.status == .usage)
        #expect(!option.notes.joined().contains("hunter2"))
        let flag = CommandRun("set", "a", "--raw=hunter2", on: keychain)
        #expect(flag.status == .usage)
        #expect(!flag.notes.joined().contains("hunter2"))
        let separate = CommandRun("set", "a", "me", "-p", "hunter2", on: keychain)
        #expect(separate.status == .usage)
        #expect(!separate.notes.joined().contains("hunter2"))
    }

    @Test func promptsOnATerminalAndSaysWhatProtectsTheFirstSecret() {
        let console = RecordingConsole(terminal: true, typed: "pw")
        #expect(CommandRun("set", "mail", "al\u{1b}ice", on: keychain, console: console).status == .done)
        #expect(console.prompts == ["Secret for mail/al\\u{1b}ice: "])
        #expect(console.notes.first == "Stored.")
        #expect(
            console.notes.last?.contains("whoever gets a copy of /home/a/.local/share/latchkey can open it") == true)
        let second = CommandRun("set", "other", on: keychain, console: RecordingConsole(terminal: true, typed: "pw"))
        #expect(second.notes == ["Stored."])
        let again = CommandRun("set", "other", on: keychain, console: RecordingConsole(terminal: true, typed: "x"))
        #expect(again.notes == ["This replaces the secret of other, last changed 2026-05-09T06:13:22Z.", "Replaced."])
    }

    @Test func cancelledPromptStoresNothing() {
        let run = CommandRun("set", "a", on: keychain, console: RecordingConsole(terminal: true))
        #expect(run.status == .usage)
        #expect(keychain.items.isEmpty)
    }

    @Test func everyCallNamesTheGroup() {
        keychain.set(["a"], "1")
        keychain.set(["a"], "2")
        _ = CommandRun("get", "a", on: keychain)
        _ = CommandRun("list", on: keychain)
        _ = CommandRun("rm", "a", on: keychain)
        #expect(keychain.requests.allSatisfy { $0.query["agrp"] == .string("latchkey") })
    }

    @Test func withoutTheGroupNoneIsNamed() {
        let other = FakeKeychain(groups: ["TEAM.app"], nameable: [], isTemporary: true)
        #expect(other.set(["a"], "1") == .done)
        #expect(other.items[0].attributes["agrp"] == .string("TEAM.app"))
        #expect(CommandRun("get", "a", on: other).text == "1")
    }
}
