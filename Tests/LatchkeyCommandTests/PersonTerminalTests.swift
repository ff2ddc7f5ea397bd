import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `latchkey passcode set` and `latchkey erase` on a terminal, with the real programs.
@Suite struct PersonTerminalTests {
    let programs: BuiltPrograms
    let terminal: PseudoTerminal

    init() throws {
        programs = try BuiltPrograms()
        terminal = try PseudoTerminal()
        #expect(try programs.latchkey("set", "mail", input: Data("CANARY".utf8)).status == 0)
    }

    /// Every file of keys, byte for byte; where the audit record ends is written a second later.
    private func keys() throws -> [String: Data] {
        let folder = programs.home + "/data/latchkey/enclave"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            !["lock", "audit"].contains($0)
        }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))) })
    }

    private func passcodeIsSet() throws -> Bool? { try programs.status()["passcode"] as? Bool }

    // MARK: passcode set

    @Test func aPasscodeIsTypedTwiceUnseen() throws {
        let settings = terminal.settings
        let process = try terminal.start(programs, "passcode", "set")
        for prompt in ["New passcode: ", "Once more: "] {
            #expect(terminal.shows(prompt))
            #expect(!terminal.echoes)
            terminal.type("words words\n")
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("The passcode is set"))
        #expect(!terminal.shown.contains("words") && terminal.settings == settings)
        #expect(try passcodeIsSet() == true)
        try programs.latchkey("lock")
        #expect(try programs.latchkey("unlock", input: Data("words words".utf8)).status == 0)
    }

    @Test func twoThatDifferAreRefused() throws {
        let (before, settings) = (try keys(), terminal.settings)
        let process = try terminal.start(programs, "passcode", "set")
        for (turn, typed) in ["words", "wordz", "other", "othar", "third", "thurd"].enumerated() {
            // What was shown for the attempts before is not what is waited for.
            #expect(terminal.shows(turn % 2 == 0 ? "New passcode: " : "Once more: ", times: turn / 2 + 1))
            terminal.type(typed + "\n")
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        #expect(terminal.shows("the two passcodes differ; nothing was changed"))
        #expect(terminal.settings == settings)
        #expect(try keys() == before)
        #expect(try passcodeIsSet() == false)
    }

    /// A slip is no end: the next two count.
    @Test func afterASlipItAsksAgain() throws {
        let process = try terminal.start(programs, "passcode", "set")
        for (turn, typed) in ["words", "wordz", "right", "right"].enumerated() {
            #expect(terminal.shows(turn % 2 == 0 ? "New passcode: " : "Once more: ", times: turn / 2 + 1))
            terminal.type(typed + "\n")
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        try programs.latchkey("lock")
        #expect(try programs.latchkey("unlock", input: Data("words".utf8)).status == 3)
        #expect(try programs.latchkey("unlock", input: Data("right".utf8)).status == 0)
    }

    @Test(arguments: [[], ["words\n"], ["words\n", "wordz\n"]])
    func interruptingItChangesNothing(_ typedBefore: [String]) throws {
        let (before, settings) = (try keys(), terminal.settings)
        let process = try terminal.start(programs, "passcode", "set")
        for (turn, typed) in (typedBefore + ["wor\u{3}"]).enumerated() {
            #expect(terminal.shows(turn % 2 == 0 ? "New passcode: " : "Once more: ", times: turn / 2 + 1))
            #expect(!terminal.echoes)
            terminal.type(typed)
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(terminal.settings == settings)
        #expect(try keys() == before)
        #expect(try passcodeIsSet() == false)
    }

    // MARK: erase

    private static let first = "Type erase to go on: "
    private static let second = "Type destroy to go on: "

    private func isErased() throws -> Bool { try programs.latchkey("get", "mail").status == 1 }

    @Test func erasingAsksTwice() throws {
        let settings = terminal.settings
        let process = try terminal.start(programs, "erase")
        #expect(terminal.shows(Self.first))
        // A word that a person agrees by is seen.
        #expect(terminal.echoes)
        terminal.type("erase\n")
        #expect(terminal.shows(Self.second))
        #expect(try !isErased())
        terminal.type("destroy\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("its keys were overwritten first"))
        #expect(terminal.settings == settings)
        #expect(try isErased())
    }

    @Test(arguments: [["yes\n"], ["\n"], ["\u{4}"], ["erase\n", "erase\n"], ["erase\n", "\n"]])
    func anyOtherWordErasesNothing(_ typed: [String]) throws {
        try expectNothingErased(by: typed, status: 2)
        #expect(terminal.shows("nothing was changed"))
    }

    @Test(arguments: [["\u{3}"], ["erase\n", "dest\u{3}"]])
    func interruptingItErasesNothing(_ typed: [String]) throws {
        try expectNothingErased(by: typed, status: 130)
    }

    private func expectNothingErased(by typed: [String], status: Int32) throws {
        let (before, settings) = (try keys(), terminal.settings)
        let process = try terminal.start(programs, "erase")
        for (prompt, word) in zip([Self.first, Self.second], typed) {
            #expect(terminal.shows(prompt))
            terminal.type(word)
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == status)
        #expect(terminal.settings == settings)
        #expect(try keys() == before)
        #expect(try programs.latchkey("get", "mail").text == "CANARY")
    }
}
