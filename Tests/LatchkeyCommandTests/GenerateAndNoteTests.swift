import Foundation
import KeychainPlatform
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `set --generate` and `note` on the real programs.
@Suite struct GenerateAndNoteTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    @Test(arguments: [
        ("--generate", #"^[a-zA-Z2-9]{6}-[a-zA-Z2-9]{6}-[a-zA-Z2-9]{6}$"#),
        ("--generate=apple", #"^[a-zA-Z2-9]{6}-[a-zA-Z2-9]{6}-[a-zA-Z2-9]{6}$"#),
        ("--generate=words", #"^([bdfghjklmnprstvz][aiou]){2}[bdfghjklmnprstvz](-[a-z]{5}){5}$"#),
        ("--generate=40", #"^[a-zA-Z0-9]{40}$"#),
    ])
    func generatedSecretsHaveTheirFormAndAreNotShown(option: String, form: String) throws {
        let set = try programs.latchkey("set", "mail", "alice", option)
        #expect(set.status == 0 && set.output.isEmpty && set.errors.isEmpty)
        let first = try programs.latchkey("get", "mail", "alice").text
        #expect(first.range(of: form, options: .regularExpression) != nil)
        let shown = try programs.latchkey("set", option, "mail", "alice", "--show").text
        #expect(shown.range(of: form, options: .regularExpression) != nil && shown != first)
        #expect(try programs.latchkey("get", "mail").text == shown)
    }

    @Test func appleFormHasOneCapitalAndOneDigit() throws {
        for _ in 0..<5 {
            let shown = try programs.latchkey("set", "a", "--generate", "--show").text
            #expect(shown.count { $0.isUppercase } == 1 && shown.count { $0.isNumber } == 1)
            #expect(!shown.contains { "ilo01ILO".contains($0) })
        }
    }

    /// Whoever is told to try again would replace it once more.
    @Test func whereItCannotBeWrittenItIsSaidThatItIsStored() throws {
        try programs.latchkey("set", "a", input: Data("old".utf8))
        let outcome = try programs.shell("latchkey set a --generate --show >/dev/full")
        #expect(outcome.status == 69 && outcome.errors.contains("is stored and could not be written"))
        #expect(!outcome.errors.lowercased().contains("try again."))
        #expect(try programs.latchkey("get", "a").text != "old")
    }

    @Test(arguments: ["7", "1025", "x", "-1"])
    func otherRecipesAreUsageErrors(recipe: String) throws {
        let outcome = try programs.latchkey("set", "a", "--generate=\(recipe)")
        #expect(outcome.status == 2 && outcome.errors.contains("8 to 1024"), "\(outcome.errors)")
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    @Test(arguments: [
        "echo hunter2 | latchkey set a --generate", "latchkey set a --generate --raw", "latchkey set a --show",
    ])
    func aSecretFromTwoPlacesOrNoneIsRefused(script: String) throws {
        let outcome = try programs.shell(script)
        #expect(outcome.status == 2)
        #expect(!outcome.errors.contains("hunter2"))
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    @Test func aFileAsInputIsNotPassedOver() throws {
        #expect(try programs.latchkey("set", "a", "--generate", input: Data("pw".utf8)).status == 2)
        #expect(try programs.shell("latchkey set a --generate </dev/null").status == 0)
    }

    /// As ssh without a terminal, `docker exec -i` and many a program hand one on.
    @Test(arguments: ["true | latchkey set a --generate", "latchkey set a --generate <>fifo"])
    func aPipeThatNobodyWritesIntoIsNoSecret(script: String) throws {
        let outcome = try programs.shell("cd \(programs.home) && mkfifo fifo && \(script)")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try programs.latchkey("get", "a").status == 0)
    }

    @Test func notesKeepTheirLinesAndTheirType() throws {
        #expect(try programs.latchkey("note", "codes", input: Data("one\ntwo\n".utf8)).status == 0)
        #expect(try programs.latchkey("get", "codes").text == "one\ntwo")
        #expect(try programs.latchkey("info", "codes").text.contains("(note)"))
        let again = try programs.latchkey("note", "codes", "--json", input: Data("three".utf8))
        #expect(again.text == #"{"service":"codes","account":"","kind":"generic","replaced":true}"# + "\n")
        #expect(try programs.latchkey("note", "codes", "--allow-empty").status == 0)
        #expect(try programs.latchkey("note", "codes").status == 2)
    }

    @Test func aLoginIsNotReplacedByANote() throws {
        try programs.latchkey("set", "mail", input: Data("pw".utf8))
        let outcome = try programs.latchkey("note", "mail", input: Data("text".utf8))
        #expect(outcome.status == 2 && outcome.errors.contains("is no note"))
        #expect(try programs.latchkey("get", "mail").text == "pw")
        let argument = try programs.latchkey("note", "mail", "hunter2")
        #expect(argument.status == 2 && !argument.errors.contains("hunter2"))
    }

    @Test func noCommandLeavesASecretInAFile() throws {
        let script = """
            printf hunter2 | latchkey set mail alice --label Work
            printf 'hunter2\nmore' | latchkey note codes
            latchkey get mail | cat >/dev/null
            latchkey get mail --json | cat >/dev/null
            latchkey edit mail --comment c
            latchkey info mail
            latchkey list
            latchkey backup '\(programs.home)/backup' >/dev/null
            """
        let outcome = try programs.shell(script)
        #expect(outcome.status == 0 && !outcome.text.contains("hunter2") && !outcome.errors.contains("hunter2"))
        // Store, logs, backup and whatever was left below TMPDIR.
        #expect(try programs.run("/bin/grep", ["-r", "-l", "-a", "hunter2", programs.home]).status == 1)
        #expect(try programs.run("/bin/grep", ["-r", "-l", "-a", "SQLite format", programs.home]).status == 0)
    }

    @Test func aNoteIsTypedUnseenUpToTheEndOfFile() throws {
        let terminal = try PseudoTerminal()
        let process = try terminal.start(programs, "note", "codes")
        #expect(terminal.shows("Ctrl-D ends") && terminal.shows("> "))
        terminal.type("hunter2\n")
        #expect(terminal.shows("> \r\n> "))
        terminal.type("second\n")
        #expect(terminal.shows("> \r\n> \r\n> "))
        terminal.type("\u{4}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.echoes && !terminal.shown.contains("hunter2"))
        #expect(try programs.latchkey("get", "codes").text == "hunter2\nsecond")
    }

    @Test func setSaysWhatItReplacesBeforeTheSecretIsTyped() throws {
        try programs.latchkey("set", "mail", "alice", "--label", "Work", input: Data("old".utf8))
        let terminal = try PseudoTerminal()
        let process = try terminal.start(programs, "set", "mail", "alice")
        #expect(terminal.shows("This replaces the secret of mail/alice \"Work\", last changed 2"))
        #expect(terminal.shows("Secret for mail/alice: "))
        terminal.type("new\n")
        process.waitUntilExit()
        #expect(terminal.shows("Replaced."))
        #expect(try programs.latchkey("get", "mail").text == "new")
    }
}
