import Foundation
import KeychainModel
import LatchkeyCommand
import Testing

@Suite struct ListCommandTests {
    let keychain = FakeKeychain()

    @Test func programsGetFieldsAndPeopleATable() {
        keychain.set(["mail", "zoe"], "secret1")
        keychain.set(["--internet", "a.example", "b\tb"], "secret2")
        let fields = CommandRun("list", on: keychain).text
        #expect(
            fields
                == "a.example\tb\\u{9}b\tinternet\t2026-05-09T06:13:22Z\t\nmail\tzoe\tgeneric\t2026-05-09T06:13:21Z\t\n"
        )
        let table = CommandRun("list", on: keychain, console: RecordingConsole(terminal: true)).text
        #expect(table.hasPrefix("SERVICE    ACCOUNT  KIND      MODIFIED"))
        #expect(!table.contains("secret") && !table.contains("\t"))
    }

    /// One that is very long moves no other row aside.
    @Test func aLongNameWidensNoColumn() {
        let long = String(repeating: "x", count: 200)
        for service in ["mail", long] { keychain.set([service, "zoe"], "1") }
        let table = CommandRun("list", on: keychain, console: RecordingConsole(terminal: true)).text
        #expect(table.contains("\nmail     zoe  "), "\(table)")
        #expect(table.contains("\n\(long)  zoe  "), "\(table)")
    }

    @Test func jsonIsAnArrayWithoutValues() {
        #expect(CommandRun("list", "--json", on: keychain).text == "[]\n")
        keychain.set(["mail", "zoe"], "hunter2")
        let text = CommandRun("list", "--json", on: keychain).text
        #expect(text.hasPrefix(#"[{"service":"mail","account":"zoe","kind":"generic","group":"latchkey","label":null"#))
        #expect(!text.contains("hunter2") && !text.contains("value"))
    }

    /// Items of one server and account are told apart.
    @Test func serversHaveTheirPlaceBesideThem() {
        keychain.set(["--internet", "https://a.example:8443/b", "bob"], "1")
        keychain.set(["--internet", "b.example", "bob"], "2")
        let table = CommandRun("list", on: keychain, console: RecordingConsole(terminal: true)).text
        #expect(table.contains("\nb.example  ") && table.contains("\na.example (https, port 8443, /b)  bob"), "\(table)")
        #expect(CommandRun("list", on: keychain).text.hasPrefix("a.example\tbob\t"))
        let json = CommandRun("list", "--json", on: keychain).text
        #expect(json.contains(#""protocol":"https","port":8443,"path":"/b""#))
        #expect(json.contains(#""protocol":null,"port":null,"path":null"#))
    }

    @Test func anEmptyKeychainIsNoFailureAMissingServiceIs() {
        #expect(CommandRun("list", on: keychain).status == .done)
        #expect(CommandRun("list", "mail", on: keychain).status == .noMatch)
    }
}

@Suite struct RemoveCommandTests {
    let keychain = FakeKeychain()

    init() {
        keychain.set(["a", "one"], "1")
        keychain.set(["a", "two"], "2")
        keychain.set(["b"], "3")
    }

    @Test func removesTheOneThatMatches() {
        #expect(CommandRun("rm", "b", on: keychain).status == .done)
        #expect(CommandRun("rm", "b", on: keychain).status == .noMatch)
        #expect(CommandRun("rm", "a", "one", "--json", on: keychain).text == "{\"removed\":1}\n")
        #expect(keychain.items.count == 1)
    }

    @Test func severalNeedAllAndAWord() {
        #expect(CommandRun("rm", "a", on: keychain).status == .usage)
        let all = CommandRun("rm", "a", "--all", on: keychain)
        #expect(all.status == .usage)
        #expect(all.lastNote.contains("--yes"))
        #expect(keychain.items.count == 3)
        #expect(CommandRun("rm", "a", "--all", "--yes", on: keychain).status == .done)
        #expect(keychain.items.count == 1)
    }

    @Test(arguments: [("y", 1), ("n", 3), (nil, 3)])
    func aTerminalIsAsked(answer: String?, left: Int) {
        let console = RecordingConsole(terminal: true, typed: answer)
        _ = CommandRun("rm", "a", "--all", on: keychain, console: console)
        #expect(console.prompts == ["Remove 2 items of this service? [y/N] "])
        #expect(keychain.items.count == left)
    }

    @Test func yesWithoutAllRemovesNothing() {
        #expect(CommandRun("rm", "a", "--yes", on: keychain).status == .usage)
        #expect(keychain.items.count == 3)
    }
}

@Suite struct RemoveEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    /// Each finds the item, and one removes it.
    @Test func ofThoseThatRemoveAtOnceOneEndsWithZero() throws {
        for round in 0..<3 {
            try programs.latchkey("set", "a", "b", input: Data("\(round)".utf8))
            let remove = "(latchkey rm a b 2>/dev/null; echo $?)"
            let outcome = try programs.shell("for i in 1 2 3 4 5 6 7 8; do \(remove) & done; wait")
            #expect(outcome.text.split(separator: "\n").sorted() == ["0"] + Array(repeating: "1", count: 7))
        }
    }
}
