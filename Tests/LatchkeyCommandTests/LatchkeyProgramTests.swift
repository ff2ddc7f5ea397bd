import Foundation
import KeychainClient
import KeychainModel
import KeychainProtocol
import LatchkeyCommand
import LatchkeyTransfer
import Synchronization
import Testing

@Suite struct LatchkeyProgramTests {
    let keychain = FakeKeychain()

    @Test(
        arguments: [
            (Status.itemNotFound, Reason.nothingMatches, 1), (.interactionNotAllowed, .locked(class: "ak"), 3),
            (.missingEntitlement, .groupNotEntitled(group: "g"), 4), (.notAvailable, .serverUntrusted, 4),
            (.decode, .storeUnreadable, 5), (.notAvailable, .storeMismatch, 5),
            (.notAvailable, .daemonNotInstalled, 69),
            (.diskFull, .diskFull, 69), (.notAvailable, .noAnswer(mayHaveHappened: true), 69),
            (.notAvailable, .keybagUnreadable, 5), (.notAvailable, .folderMoved(to: "/x"), 5),
            (.param, .malformed(key: "k"), 70), (.internalComponent, .internalFault(what: "x"), 70),
        ] as [(Status, Reason, Int32)])
    func failuresHaveTheirStatusAndSayWhatToDo(status: Status, reason: Reason, exit: Int32) {
        keychain.fail(status, reason, "below")
        let run = CommandRun("status", on: keychain)
        #expect(run.status.rawValue == exit)
        #expect(run.notes.count == (exit == 3 ? 1 : 2))
        #expect(run.notes[0].contains("below"))
        #expect(run.lastNote.hasPrefix("latchkey: ") && run.lastNote.hasSuffix(".") || run.lastNote.contains("DIR"))
    }

    @Test func usageMistakesAreStatusTwoAndPointToHelp() {
        for arguments in [
            ["get"], ["frobnicate"], ["get", "a", "b", "c"], ["list", "--nonsense"], ["temp"], ["temp", "ls"],
        ] {
            let console = RecordingConsole()
            let status = LatchkeyProgram.run(arguments, in: surroundings(console))
            #expect(status == .usage, "\(arguments)")
            #expect(console.notes.last?.contains("--help") == true)
            #expect(console.text.isEmpty)
        }
    }

    @Test(arguments: [["log", "--event"], ["completion"], ["install", "--user"], ["get", "a", "--port"]])
    func whatAUsageErrorRepeatsIsEscaped(_ arguments: [String]) {
        let console = RecordingConsole()
        let status = LatchkeyProgram.run(arguments + ["\u{1b}[31mX\u{9b}\u{202e}"], in: surroundings(console))
        #expect(status == .usage)
        let said = console.notes.joined(separator: "\n")
        let raw = "\u{1b}\u{9b}\u{202e}".unicodeScalars
        #expect(!said.isEmpty && !said.unicodeScalars.contains { raw.contains($0) }, "\(said)")
    }

    /// The parser takes the h among them for -h; the help would be the secret of whoever runs
    /// `pw=$(latchkey get "$name")`.
    @Test func namesWithAHyphenAreNoRequestForHelp() {
        for arguments in [["get", "-dash"], ["get", "mail", "-h1"], ["rm", "-xh"], ["help", "nonsense"]] {
            let console = RecordingConsole()
            #expect(LatchkeyProgram.run(arguments, in: surroundings(console)) == .usage, "\(arguments)")
            #expect(console.text.isEmpty && !console.notes.isEmpty)
        }
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run(["get", "--", "-dash"], in: surroundings(console)) != .usage)
    }

    @Test(arguments: ["passcode", "recovery", "protector", "slot", "credential", "app", "secret-service"])
    func aGroupOfCommandsSaysWhichTheyAre(group: String) {
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run([group], in: surroundings(console)) == .done)
        #expect(console.text.contains("SUBCOMMANDS") && console.notes.isEmpty)
    }

    @Test(arguments: [("gte", "get"), ("ge", "get"), ("sett", "set"), ("lust", "list"), ("xyzzy", nil)])
    func anUnknownCommandIsNamedWithTheLikelyOne(verb: String, likely: String?) {
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run([verb, "mail"], in: surroundings(console)) == .usage)
        #expect(console.notes[0].contains("no command \u{201c}\(verb)\u{201d}"))
        #expect(console.notes[1].contains("Do you mean \(likely ?? "")?") == (likely != nil))
    }

    /// Else 24 would be an account, and 10 a service.
    @Test(arguments: [
        ["set", "mail", "--generate", "24"], ["set", "--generate", "words", "mail"], ["get", "--clip", "10", "mail"],
    ])
    func aValueWithoutAnEqualsSignIsRefused(arguments: [String]) {
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run(arguments, in: surroundings(console)) == .usage)
        #expect(console.notes.last?.contains("=VALUE") == true)
        #expect(console.notes.allSatisfy { !$0.contains("24") && !$0.contains("10") })
        let empty = RecordingConsole()
        _ = LatchkeyProgram.run(["set", "mail", "--generate", ""], in: surroundings(empty))
        #expect(!empty.notes.contains { $0.contains("equals sign") })
    }

    @Test func helpAndVersionGoToStandardOutput() {
        for (arguments, expected) in [
            (["--version"], "latchkey \(LatchkeyVersion.text)\n"), (["--help"], "EXIT STATUS"), ([], "SUBCOMMANDS"),
            (["get", "--help"], "--json"), (["help", "temp"], "LATCHKEY_TEMP"), (["set", "-h"], "--raw"),
        ] {
            let console = RecordingConsole()
            #expect(LatchkeyProgram.run(arguments, in: surroundings(console)) == .done)
            #expect(console.text.contains(expected), "\(arguments)")
            #expect(console.notes.isEmpty)
        }
    }

    /// What is wider than a terminal, or is piped, is wrapped, and a command that is wrapped is
    /// another one to whoever copies it.
    @Test func noLineOfAnExampleIsWrapped() throws {
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run(["--experimental-dump-help"], in: surroundings(console)) == .done)
        let tool = try JSONDecoder().decode(ToolHelp.self, from: Data(console.text.utf8))
        var count = 0
        func look(_ command: ToolHelp.Command) {
            for line in (command.discussion ?? "").split(separator: "\n") where line.hasPrefix("  ") {
                count += 1
                #expect(line.count <= 80, "\(command.commandName): \(line)")
            }
            for below in command.subcommands ?? [] { look(below) }
        }
        look(tool.command)
        #expect(count > 100)
    }

    private struct ToolHelp: Decodable {
        struct Command: Decodable {
            let commandName: String
            let discussion: String?
            let subcommands: [Command]?
        }
        let command: Command
    }

    @Test func whoeverHasNobodyToAskIsNotToldToUnlock() {
        keychain.fail(.interactionNotAllowed, .nobodyToAsk(why: "there is no terminal"))
        let console = RecordingConsole()
        #expect(LatchkeyProgram.run(["list", "--all"], in: surroundings(console)) == .locked)
        #expect(console.notes.last?.contains("on a terminal") == true)
        #expect(!console.notes.joined().contains("unlock"))
    }

    @Test func whoHasNoHomeIsToldToNameAFolder() {
        let finder = DaemonFinder(ClientConfiguration(target: .nowhere))
        var failure: CommandFailure?
        do throws(KeychainError) { _ = try finder.connect() } catch { failure = CommandFailure(error) }
        #expect(failure?.status == .unavailable)
        #expect(failure?.lines.first?.contains("this user has no home") == true)
        #expect(failure?.lines.last?.contains("XDG_DATA_HOME") == true)
        #expect(failure?.lines.last?.contains("--data-dir") == true)
    }

    @Test(arguments: [
        ["--data-dir", "d", "set", "a"], ["set", "a", "--data-dir", "d"], ["set", "a", "--data-dir=/work/d"],
    ])
    func dataDirectoryStandsAnywhereAndIsMadeAbsolute(arguments: [String]) {
        let asked = Mutex<[String?]>([])
        var surroundings = surroundings(RecordingConsole(input: [50]))
        surroundings.keychain = { [keychain] directory in
            asked.withLock { $0.append(directory) }
            return keychain
        }
        #expect(LatchkeyProgram.run(arguments, in: surroundings) == .done)
        #expect(asked.withLock { $0 } == ["/work/d"])
    }

    @Test func nobodyLooksInAfterTheHello() {
        let steps = Mutex<[String]>([])
        var surroundings = surroundings(RecordingConsole())
        surroundings.shield = Shield(
            raise: { steps.withLock { $0.append("raise") } }, close: { steps.withLock { $0.append("close") } })
        surroundings.keychain = { [keychain] _ in
            steps.withLock { $0.append("connect") }
            return keychain
        }
        _ = LatchkeyProgram.run(["list"], in: surroundings)
        #expect(steps.withLock { $0 } == ["raise", "connect", "close"])
    }

    @Test func statusIsHonestForPeopleAndPrograms() {
        let text = CommandRun("status", on: keychain).text
        #expect(text.contains("whoever gets a copy of /home/a/.local/share/latchkey can open it"))
        #expect(text.contains("Store         0aff (format 1)"))
        #expect(text.contains("Items         1 generic password"))
        #expect(text.contains("Kernel        lacks pidfs"))
        let json = CommandRun("status", "--json", on: keychain).text
        #expect(json.contains(#""openClasses":["ak","dk"]"#))
        #expect(json.contains(#""items":{"generic":1,"internet":0,"certificate":0,"key":0}"#))
        #expect(json.contains(#""daemon":{"pid":11,"version":"0.1.0"},"enclave":{"pid":12}"#))
    }

    private func surroundings(_ console: RecordingConsole) -> Surroundings {
        Surroundings(
            console: console, keychain: { [keychain] _ in keychain }, shield: .none, currentDirectory: "/work",
            configuration: ClientConfiguration(target: .nowhere), transfer: KeychainTransfer.usual)
    }
}
