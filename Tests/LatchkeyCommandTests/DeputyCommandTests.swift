import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Synchronization
import Testing

/// --group, --all and --all-groups: what is asked of the keychain, and what is shown.
@Suite struct DeputyCommandTests {
    let keychain = FakeKeychain()

    init() {
        keychain.set(["mail", "alice"], "of latchkey")
        plant("mail", "alice", group: "exe./usr/bin/git", "of git")
        plant("news", "bob", group: "exe./usr/bin/git", "of git too")
        plant("mail", "carol", group: "adhoc.org.example", "of example")
    }

    private func plant(_ service: String, _ account: String, group: String, _ value: String) {
        keychain.plant(
            .genericPassword,
            [
                "svce": .string(service), "acct": .string(account), "agrp": .string(group), "cdat": .date(1),
                "mdat": .date(1),
            ], value)
    }

    private func run(_ arguments: String...) -> CommandRun { CommandRun(list: arguments, on: keychain) }

    /// In whose names calls were made since the last look.
    private func behalves() -> Set<KeychainRequest.Behalf> {
        keychain.state.withLock { state in
            defer { state.requests = [] }
            return Set(state.requests.map(\.behalf))
        }
    }

    private func value(_ service: String, _ account: String, _ group: String) -> String? {
        keychain.items.first { item in
            item.attributes["svce"] == .string(service) && item.attributes["acct"] == .string(account)
                && item.attributes["agrp"] == .string(group)
        }?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
    }

    // MARK: Reading

    @Test func withoutTheOptionsNothingIsAskedInAPersonsName() {
        _ = behalves()
        _ = run("list")
        #expect(run("get", "mail", "alice").text == "of latchkey")
        _ = run("info", "mail")
        _ = run("edit", "mail", "alice", "--label", "x")
        _ = CommandRun("set", "a", on: keychain, console: RecordingConsole(input: Array("b".utf8)))
        _ = CommandRun("note", "n", on: keychain, console: RecordingConsole(input: Array("b".utf8)))
        #expect(run("rm", "a", "--all").status == .done)
        // Groups that the command line has anyway are no others'.
        _ = run("list", "--group", "latchkey")
        _ = run("list", "--group", "adhoc.test")
        #expect(behalves() == [.program])
    }

    @Test func allIsListedWithItsGroups() {
        let lines = run("list", "--all").text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        #expect(
            lines.map { [$0[0], $0[1], $0[5]] } == [
                ["mail", "alice", "exe./usr/bin/git"], ["mail", "alice", "latchkey"],
                ["mail", "carol", "adhoc.org.example"],
                ["news", "bob", "exe./usr/bin/git"],
            ])
        #expect(run("list", "--all-groups", "--json").text.contains(#""group":"adhoc.org.example""#))
        let table = CommandRun("list", "--all", on: keychain, console: RecordingConsole(terminal: true)).text
        #expect(table.split(separator: "\n")[0].hasSuffix("GROUP"))
        // One group is listed as ever.
        #expect(
            run("list", "--group", "exe./usr/bin/git").text.split(separator: "\n").map {
                $0.split(separator: "\t").count
            } == [4, 4])
        #expect(behalves().contains(.person))
    }

    @Test func oneGroupIsReadAlone() {
        #expect(run("get", "--group", "exe./usr/bin/git", "mail").text == "of git")
        #expect(run("get", "--group", "adhoc.org.example", "mail", "alice").status == .noMatch)
        #expect(
            run("info", "--group", "exe./usr/bin/git", "mail").text.contains("kSecAttrAccessGroup\texe./usr/bin/git"))
    }

    @Test func ofSeveralGroupsOneIsNamed() {
        let several = run("get", "--all", "mail", "alice")
        #expect(several.status == .usage && several.text.isEmpty)
        #expect(
            several.notes[1...].prefix(2) == ["latchkey:   alice in latchkey", "latchkey:   alice in exe./usr/bin/git"])
        #expect(several.lastNote.contains("--group"))
        #expect(run("get", "--all", "news").text == "of git too")
        #expect(run("info", "--all", "mail").status == .usage)
        let console = RecordingConsole(terminal: true)
        _ = CommandRun("get", "--all", "news", on: keychain, console: console)
        #expect(console.notes == ["Of the group exe./usr/bin/git:"])
    }

    @Test(arguments: [
        "get mail --all --group x", "list --group=", "rm mail --all-groups --group x", "export f --all --group x",
    ])
    func optionsThatContradictAreRefused(_ line: String) {
        #expect(CommandRun(list: line.split(separator: " ").map(String.init), on: keychain).status == .usage)
    }

    // MARK: Changing

    @Test func anotherGroupsItemIsChangedAndNoOther() {
        let console = RecordingConsole(input: Array("new".utf8))
        #expect(
            CommandRun("set", "--group", "exe./usr/bin/git", "mail", "alice", on: keychain, console: console).status
                == .done)
        #expect(
            value("mail", "alice", "exe./usr/bin/git") == "new" && value("mail", "alice", "latchkey") == "of latchkey")
        #expect(run("edit", "--group", "exe./usr/bin/git", "mail", "alice", "--to-account", "dora").status == .done)
        #expect(value("mail", "dora", "exe./usr/bin/git") == "new")
        let note = RecordingConsole(input: Array("text".utf8))
        #expect(CommandRun("note", "--group", "exe./usr/bin/git", "n", on: keychain, console: note).status == .done)
        #expect(value("n", "", "exe./usr/bin/git") == "text")
        #expect(run("rm", "--group", "exe./usr/bin/git", "mail").status == .done)
        #expect(value("mail", "dora", "exe./usr/bin/git") == nil && value("mail", "alice", "latchkey") != nil)
        // Whatever is changed in a person's name is named with its group.
        for request in keychain.requests where request.behalf == .person && request.isWrite {
            #expect(request.query["agrp"] == .string("exe./usr/bin/git"))
        }
    }

    /// `rm --all` is what it was: every match where it looks.
    @Test func removingAllRemovesNothingOfOthers() {
        #expect(run("rm", "mail", "--all", "--yes").status == .done)
        #expect(keychain.items.count == 3)
        #expect(run("rm", "mail", "--all-groups").status == .usage)
        let console = RecordingConsole(terminal: true, typed: "n")
        _ = CommandRun("rm", "mail", "--all", "--all-groups", on: keychain, console: console)
        #expect(console.prompts == ["Remove 2 items of this service, in 2 groups? [y/N] "])
        #expect(keychain.items.count == 3)
        #expect(run("rm", "mail", "--all", "--all-groups", "--yes").status == .done)
        #expect(keychain.items.count == 1)
    }

    // MARK: Refusals

    @Test(arguments: [
        (
            KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "no terminal")),
            LatchkeyCommand.ExitStatus.locked
        ),
        (KeychainError(.userCanceled, reason: .userCanceled), .locked),
        (KeychainError(.missingEntitlement, reason: .entitlementMissing(name: "to act for a person")), .denied),
    ])
    func whatTheDaemonRefusesIsSaid(_ error: KeychainError, _ status: LatchkeyCommand.ExitStatus) {
        keychain.state.withLock { $0.deputyFailure = error }
        for arguments in [["list", "--all"], ["get", "--group", "x", "mail"], ["rm", "--all-groups", "mail"]] {
            let run = CommandRun(list: arguments, on: keychain)
            #expect(run.status == status && run.text.isEmpty && run.notes.count == 2, "\(run.notes)")
        }
        #expect(keychain.items.count == 4)
    }

    /// It would answer for the program's own groups, as if that were all.
    @Test func anOlderDaemonIsNotAsked() {
        keychain.state.withLock { $0.protocolVersion = 1 }
        _ = behalves()
        let older = run("list", "--all")
        #expect(older.status == .unavailable && older.lastNote.contains("the next command starts the new one"))
        #expect(behalves().isEmpty)
        #expect(run("list").status == .done)
    }

    @Test(arguments: ["list --all ", "list --group x ", "get --all ", "get --group=x ", "rm --all-groups "])
    func nobodyIsAskedWhileAWordIsTyped(_ line: String) {
        _ = behalves()
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        _ = CommandRun(list: ["__complete", "--"] + words, on: keychain)
        #expect(behalves().isEmpty)
    }

    // MARK: Export

    private func export(
        _ arguments: String..., to file: String, inTerminal: Bool = true
    ) -> CommandRun {
        CommandRun(
            list: ["export", "--insecure-plaintext", "--yes", file] + arguments, on: keychain
        ) { $0.isInTerminalSession = { inTerminal } }
    }

    @Test func anExportIsMadeInAPersonsNameOnceThereIsAPasscode() throws {
        let folder = try TemporaryDirectory()
        _ = behalves()
        #expect(export(to: folder.path("open")).status == .done)
        #expect(behalves() == [.program])
        keychain.state.withLock { $0.person = ScriptedPerson(passcode: "1234") }
        #expect(export(to: folder.path("asked"), inTerminal: false).status == .done)
        #expect(behalves() == [.program, .person])
        keychain.state.withLock {
            $0.deputyFailure = KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "no terminal"))
        }
        #expect(export(to: folder.path("refused")).status == .locked)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["asked", "open"])
    }

    @Test func anExportOfAllNamesGroupsAndAnImportSaysThatItDropsThem() throws {
        let folder = try TemporaryDirectory()
        let file = folder.path("all")
        #expect(export("--all", to: file).status == .done)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains(#""group":"exe./usr/bin/git""#) && text.contains(#"{"items":4}"#))
        #expect(text.split(separator: "\n").count { $0.contains("\"group\"") } == 4, "the heading, and three of others")
        for value in ["of latchkey", "of git", "of git too", "of example"] {
            #expect(text.contains(Data(value.utf8).base64EncodedString()))
        }
        let other = FakeKeychain()
        let imported = CommandRun("import", "--json", file, on: other)
        #expect(imported.text.contains("the command line's own group"))
        #expect(other.items.allSatisfy { $0.attributes["agrp"] == .string("latchkey") })
        #expect(export("--group", "adhoc.org.example", to: folder.path("one")).status == .done)
        #expect(try String(contentsOfFile: folder.path("one"), encoding: .utf8).contains(#"{"items":1}"#))
    }

    /// Each item would be asked for anew.
    @Test func anExportOfOthersNeedsATerminalSessionOnceThereIsAPasscode() throws {
        let folder = try TemporaryDirectory()
        keychain.state.withLock { $0.person = ScriptedPerson(passcode: "1234") }
        let run = export("--all", to: folder.path("all"), inTerminal: false)
        #expect(run.status == .locked && run.lastNote == "latchkey: Run it in a terminal.")
        #expect(export("--all", to: folder.path("all")).status == .done)
    }
}
