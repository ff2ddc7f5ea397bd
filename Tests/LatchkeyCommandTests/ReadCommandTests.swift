import KeychainPlatform
import LatchkeyCommand
import Testing

/// `latchkey read`, and what `inject` makes of a template, on a keychain in memory.
@Suite struct ReadCommandTests {
    let keychain = FakeKeychain()

    private func terminal(_ arguments: String...) -> CommandRun {
        CommandRun(list: arguments, on: keychain, console: RecordingConsole(terminal: true))
    }

    @Test func aNewlineFollowsOnATerminalAloneAndNotWhereItIsLeftOut() {
        keychain.set(["a", "--raw"], "p\0w\n")
        #expect(CommandRun("read", "a", on: keychain).text == "p\0w\n")
        #expect(terminal("read", "a").text == "p\0w\n\n")
        #expect(terminal("read", "-n", "a").text == "p\0w\n")
        #expect(terminal("read", "--no-newline", "latchkey://a").text == "p\0w\n")
    }

    @Test func whereSeveralMatchNothingIsWrittenAndTheWayToOneIsSaid() {
        keychain.set(["a", "zoe"], "1")
        keychain.set(["a", "al"], "2")
        let several = CommandRun("read", "a", on: keychain)
        #expect(several.status == .usage && several.text.isEmpty)
        #expect(several.notes.contains("latchkey:   zoe"))
        #expect(CommandRun("read", "a/al", on: keychain).text == "2")
    }

    @Test func theKindOfAReferenceIsTheItemsKind() {
        keychain.set(["--internet", "host"], "net")
        keychain.set(["host"], "gen")
        #expect(CommandRun("read", "host", on: keychain).text == "gen")
        #expect(CommandRun("read", "host?kind=internet", on: keychain).text == "net")
        #expect(CommandRun("read", "host?kind=generic", on: keychain).text == "gen")
    }

    @Test func whatIsNoReferenceIsReadByNobody() {
        keychain.set(["a", "b"], "1")
        for text in ["https://a/b", "a/b/c", "/b", "a/%zz", "a/b#c", "a/b?otp", "a/b?attribute=totp", ""] {
            let run = CommandRun("read", text, on: keychain)
            #expect(run.status == .usage && run.text.isEmpty, "\(text)")
        }
        let missing = CommandRun("read", "a/c", on: keychain)
        #expect(missing.status == .noMatch && missing.text.isEmpty)
    }

    // MARK: Templates

    private func filled(_ template: String) -> CommandRun {
        CommandRun("inject", on: keychain, console: RecordingConsole(input: Array(template.utf8)))
    }

    /// Each in its own place, also where one is there more than once.
    @Test func secretsStandInTheOrderOfTheirReferences() {
        for (name, secret) in [("a", "1"), ("b", "22"), ("c", "3")] { keychain.set([name, "--raw"], secret) }
        let run = filled(
            "{{latchkey://b}}{{latchkey://a}}\n{{\tlatchkey://c }}|{{ latchkey://b }}{{ latchkey:{{ }}{{latchkey://a}}")
        #expect(run.text == "221\n3|22{{1", "\(run.notes)")
    }

    /// By lines, however many references stand before.
    @Test(arguments: [
        ("{{ latchkey://a }}{{ latchkey://a/b/c }}\n", 1), ("\n\n{{ latchkey://a }}\n{{ latchkey:x }}", 4),
        ("{{ latchkey://a }}\n{{ latchkey://a\n}}\n", 2), ("{{ latchkey:{{ }}\n\n\n\n{{ latchkey://a/%zz }} x\n\n", 5),
    ])
    func theLineOfAFlawIsSaid(template: String, line: Int) {
        keychain.set(["a"], "1")
        let run = filled(template)
        #expect(run.status == .usage && run.text.isEmpty)
        #expect(run.notes.joined().contains("line \(line) of the template"), "\(run.notes)")
    }
}
