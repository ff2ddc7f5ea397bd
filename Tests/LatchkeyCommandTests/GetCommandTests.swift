import KeychainModel
import LatchkeyCommand
import Testing

@Suite struct GetCommandTests {
    let keychain = FakeKeychain()

    @Test func writesExactBytesAndANewlineOnlyOnATerminal() {
        keychain.set(["a", "--raw"], "p\0w\n\n")
        #expect(CommandRun("get", "a", on: keychain).text == "p\0w\n\n")
        #expect(CommandRun("get", "a", on: keychain, console: RecordingConsole(terminal: true)).text == "p\0w\n\n\n")
    }

    @Test func noMatchSaysWhatToDo() {
        let run = CommandRun("get", "nothing", on: keychain)
        #expect(run.status == .noMatch)
        #expect(run.text.isEmpty)
        #expect(run.lastNote.contains("latchkey list"))
        #expect(!run.notes.joined().contains("nothing"))
    }

    @Test func severalMatchesListAccountsAndWriteNothing() {
        keychain.set(["a", "zoe"], "1")
        keychain.set(["a", "al\u{7}"], "2")
        keychain.set(["a"], "3")
        let run = CommandRun("get", "a", on: keychain)
        #expect(run.status == .usage)
        #expect(run.text.isEmpty)
        #expect(run.notes.contains("latchkey:   zoe"))
        #expect(run.notes.contains("latchkey:   al\\u{7}"))
        #expect(CommandRun("get", "a", "zoe", on: keychain).text == "1")
        #expect(CommandRun("get", "a", "", on: keychain).text == "3")
    }

    @Test func looksForGenericThenInternetPasswords() {
        keychain.set(["--internet", "host"], "net")
        #expect(CommandRun("get", "host", on: keychain).text == "net")
        keychain.set(["host"], "gen")
        #expect(CommandRun("get", "host", on: keychain).text == "gen")
        #expect(CommandRun("get", "host", "--internet", on: keychain).text == "net")
    }

    @Test func jsonHoldsTextAsText() {
        keychain.set(["a", "me", "--label", "T\"t", "--raw"], "p\"w\\\n\u{1}é")
        let run = CommandRun("get", "a", "--json", on: keychain)
        #expect(
            run.text == #"{"service":"a","account":"me","kind":"generic","group":"latchkey","label":"T\"t","#
                + #""created":"2026-05-09T06:13:21Z","modified":"2026-05-09T06:13:21Z","encoding":"utf8","#
                + #""value":"p\"w\\\n\u0001é"}"# + "\n")
    }

    @Test(arguments: [("//8=", [255, 255]), ("/w==", [255]), ("AP+A", [0, 255, 128])] as [(String, [UInt8])])
    func jsonHoldsBytesAsBase64(text: String, bytes: [UInt8]) {
        _ = CommandRun("set", "a", "--raw", on: keychain, console: RecordingConsole(input: bytes))
        #expect(
            CommandRun("get", "a", "--json", on: keychain).text.contains(#""encoding":"base64","value":"\#(text)""#))
    }

    @Test func synchronizableItemsAreFoundToo() {
        keychain.plant(
            .genericPassword,
            ["svce": .string("a"), "acct": .string("x"), "sync": .integer(1), "agrp": .string("latchkey")], "s")
        #expect(CommandRun("get", "a", on: keychain).text == "s")
        #expect(CommandRun("rm", "a", on: keychain).status == .done)
        #expect(keychain.items.isEmpty)
    }
}
