import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Synchronization
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

    // MARK: Whose items

    /// As `get`: its own group, one that is named, or all; in another's a person is asked.
    @Test func theReachIsWhatWasSaid() {
        keychain.set(["host", "me", "--raw"], "own")
        for (group, value) in [("app.one", "one"), ("app.two", "two")] {
            keychain.plant(
                .genericPassword,
                ["svce": .string("host"), "acct": .string(group), "agrp": .string(group)], value)
        }
        #expect(CommandRun("read", "host", on: keychain).text == "own")
        #expect(CommandRun("read", "--group", "app.one", "host", on: keychain).text == "one")
        #expect(CommandRun("read", "latchkey://host/app.two", "--group", "app.two", on: keychain).text == "two")
        for other in ["host/app.one", "host/app.two"] {
            #expect(CommandRun("read", other, on: keychain).status == .noMatch, "\(other)")
        }
        #expect(CommandRun("read", "--group", "app.one", "host/me", on: keychain).status == .noMatch)
        for flag in ["--all", "--all-groups"] {
            #expect(CommandRun("read", flag, "host/app.two", on: keychain).text == "two")
            let several = CommandRun("read", flag, "host", on: keychain)
            #expect(several.status == .usage && several.text.isEmpty)
        }
        for wrong in [["--group", ""], ["--group", "app.one", "--all"]] {
            let run = CommandRun(list: ["read", "host"] + wrong, on: keychain)
            #expect(run.status == .usage && run.text.isEmpty, "\(wrong)")
        }
    }

    /// A person is asked for others' items alone, and where they do not agree nothing is written.
    @Test func whoAsksForOthersItemsAsksInAPersonsName() {
        keychain.set(["host", "me"], "own")
        keychain.state.withLock { $0.deputyFailure = KeychainError(.userCanceled, reason: .userCanceled) }
        #expect(CommandRun("read", "host", on: keychain).text == "own")
        for reach in [["--group", "app.one"], ["--all"]] {
            let run = CommandRun(list: ["read", "host"] + reach, on: keychain)
            #expect(run.status != .done && run.text.isEmpty, "\(reach)")
        }
    }

    // MARK: Which keychain

    /// The one whose folder is named, and no other; also from the working folder, and behind the name.
    @Test func theFolderThatIsNamedIsTheKeychains() throws {
        let folder = try TemporaryDirectory("read")
        let other = FakeKeychain()
        for (name, keychain) in [("own", keychain), ("other", other)] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try Data().write(to: URL(filePath: folder.path("\(name)/\(KeychainLocations.databaseName)")))
            keychain.set(["a", "--raw"], name)
        }
        let own = KeychainLocations(dataDirectory: folder.path("own"), runDirectory: folder.path("run"))
        let named: [String?: FakeKeychain] = [nil: keychain, folder.path("other"): other]
        func run(_ arguments: String...) -> CommandRun {
            CommandRun(list: ["read"] + arguments, on: FakeKeychain()) { surroundings in
                surroundings.keychain = { named[$0] ?? FakeKeychain() }
                surroundings.configuration = ClientConfiguration(target: .store(own, autostart: false))
                surroundings.currentDirectory = folder.path
            }
        }
        #expect(run("a").text == "own")
        #expect(run("a", "--data-dir", folder.path("other")).text == "other")
        #expect(run("--data-dir", "other", "latchkey://a").text == "other")
        let missing = run("--data-dir", folder.path("none"), "a")
        #expect(missing.status == .noMatch && missing.text.isEmpty)
        #expect(missing.notes.joined().contains("no keychain at \(folder.path("none"))"), "\(missing.notes)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
        // Whether there is another one does not matter.
        try FileManager.default.removeItem(atPath: folder.path("own"))
        #expect(run("--data-dir", folder.path("other"), "a").text == "other")
        #expect(run("a").status == .noMatch)
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

    /// Blanks and tabs, as many as there are, in front and behind; none of them is of the reference.
    @Test(arguments: ["", " ", "\t", "   ", "\t \t"])
    func blanksBeforeTheClosingBracesAreNoPartOfAReference(_ blanks: String) {
        keychain.set(["a", "b", "--raw"], "1")
        let run = filled("<{{\(blanks)latchkey://a/b\(blanks)}}{{\(blanks)latchkey:{{\(blanks)}}>")
        #expect(run.status == .done && run.text == "<1{{>", "\(run.notes)")
    }

    /// Those of a later line close nothing, and neither does one brace.
    @Test(arguments: [
        "{{ latchkey://a\n}}", "{{ latchkey://a }\n}", "{{ latchkey://a", "{{ latchkey://a }", "{{latchkey:{{\n}}",
    ])
    func bracesThatAreNotClosedOnTheirLineAreAFlaw(_ template: String) {
        keychain.set(["a"], "1")
        for text in [template, "\n" + template + "\n{{ latchkey://a }}"] {
            let run = filled(text)
            #expect(run.status == .usage && run.text.isEmpty)
            #expect(run.notes.joined().contains("the braces of a reference are not closed on its line"), "\(run.notes)")
        }
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
