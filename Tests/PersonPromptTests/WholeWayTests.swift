import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A program on a terminal, the built latchkeyd, latchkey-enclave and latchkey-prompt,
/// a real pinentry, and a person who types.
@Suite(.enabled(if: BuiltKeychain.isWithinReach, "the programs are out of this user's reach"))
struct WholeWayTests {
    private let keychain: BuiltKeychain
    private var terminal: PseudoTerminal { keychain.terminal }
    private var locations: KeychainLocations { keychain.locations }

    init() throws { keychain = try BuiltKeychain() }

    @Test func theValueComesOnceAPersonHasTypedThePasscode() throws {
        let caller = try keychain.caller()
        defer { caller.end() }
        let shown = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
        #expect(shown.contains("to test the prompt"))
        terminal.type("wrong\r")
        _ = try #require(terminal.waits(for: "Try again"), "the wrong passcode was not told")
        terminal.type("1234\r")
        _ = try #require(terminal.waits(for: "the value was told"), "no value")
        // What was typed is in no file of the keychain, and not on the terminal.
        #expect(try keychain.door().state().failedAttempts == 0)
    }

    @Test func theValueDoesNotComeWhereThePersonDismisses() throws {
        let caller = try keychain.caller()
        defer { caller.end() }
        _ = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
        // pinentry-curses: past OK to Cancel. It takes no notice of Escape.
        terminal.type("\t\t\r")
        let end = try #require(terminal.waits(for: "wrong: "), "no answer")
        // The end of the question's time has that status too.
        #expect(end.contains("-128") && end.contains("dismissed") && !end.contains("the value was told"), "\(end)")
    }

    /// A prompt is open: what makes nobody wait for it takes it away, and what was typed
    /// so far with it.
    private func expectWithdrawal(by end: (Caller) -> Void) throws {
        let caller = try keychain.caller("abandon")
        defer { caller.end() }
        _ = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
        // The daemon starts nothing: its spawner's child.
        let spawners = ProcessTable.children(of: keychain.processes[0], named: "latchkey-spawne")
        let prompts = spawners.flatMap { ProcessTable.children(of: $0, named: "latchkey-prompt") }
        #expect(spawners.count == 1 && prompts.count == 1)
        terminal.type("123")
        let began = SystemClock().monotonic
        end(caller)
        _ = try #require(terminal.waits(for: "abandoned: "), "the call goes on")
        let stays = { prompts.contains { ProcessTable.runs($0, named: "latchkey-prompt") } }
        #expect(Waiting.eventually { !stays() }, "the prompt stays")
        // By itself it ends with the question's time.
        #expect(SystemClock().monotonic - began < .seconds(PersonQuestion(purpose: .agree).secondsLeft - 5))
        #expect(kill(caller.processID, 0) == 0, "the program is still there")
    }

    @Test func aContextThatEndsTakesItsPromptAway() throws {
        try expectWithdrawal { kill($0.processID, SIGUSR1) }
        #expect(kill(keychain.processes[0], 0) == 0)
    }

    @Test func aDaemonThatEndsTakesItsPromptAway() throws {
        try expectWithdrawal { _ in kill(keychain.processes[0], SIGTERM) }
    }

    /// As an upgrade ends it: whoever was asked by it is asked by the next, and the program
    /// that waits hears nothing of it.
    @Test func theNextDaemonAsksAgain() throws {
        let caller = try keychain.caller("again")
        defer { caller.end() }
        _ = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
        kill(keychain.processes[0], SIGTERM)
        _ = try #require(terminal.waits(for: "<Cancel>"), "no second prompt")
        let next = try #require(try keychain.client.perform(KeychainRequest(.status)).status)
        defer { for process in [next.daemonProcess, next.enclaveProcess] { kill(process, SIGKILL) } }
        #expect(next.daemonProcess != keychain.processes[0])
        terminal.type("1234\r")
        _ = try #require(terminal.waits(for: "the value was told"), "no value")
    }

    /// A context of which nothing was set goes on at the next daemon; a password that was set
    /// in it is lost, and nothing is done without it.
    @Test func aContextGoesOnAtTheNextDaemon() throws {
        let context = keychain.client.authenticationSession()
        var daemon = keychain.processes[0]
        /// Ends it; the next is started by whoever calls.
        func endDaemon() throws {
            kill(daemon, SIGTERM)
            #expect(Waiting.eventually { !ProcessTable.runs(daemon, named: "latchkeyd") }, "it stays")
        }
        _ = try context.means()
        try endDaemon()
        daemon = try #require(try context.perform(KeychainRequest(.status)).status).daemonProcess
        #expect(daemon != keychain.processes[0])
        try context.setApplicationPassword(SharedSecret(SecretBytes(copying: Array("open sesame".utf8))))
        try endDaemon()
        // Whoever looks at the context meanwhile does not hide it.
        for _ in 0..<2 {
            let loss = #expect(throws: KeychainError.self) { try context.perform(KeychainRequest(.status)) }
            #expect(loss?.reason == .daemonUnreachable, "\(String(describing: loss))")
            _ = try context.means()
        }
        try context.setApplicationPassword(SharedSecret(SecretBytes(copying: Array("open sesame".utf8))))
        let last = try #require(try context.perform(KeychainRequest(.status)).status)
        for process in [last.daemonProcess, last.enclaveProcess] { kill(process, SIGKILL) }
    }

    /// The command line over the items of every program.
    @Test func latchkeyReachesOtherProgramsItemsOnceAPersonHasTypedThePasscode() throws {
        // Of this process, whose group the command line is not in.
        _ = try keychain.client.perform(
            KeychainRequest(
                .add,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("foreign")), ("acct", .string("x")),
                    ("v_Data", .secret),
                ]), value: SharedSecret(SecretBytes(copying: Array("the foreign value".utf8)))))
        let latchkey = "\(BuiltKeychain.programs)/latchkey --data-dir \(locations.dataDirectory)"
        let caller = try Caller(
            on: terminal, script: "echo $$ >&3; \(latchkey) get --all foreign; \(latchkey) list --all; echo all told",
            ["LANG": "C.UTF-8", "TERM": "xterm"])
        defer { caller.end() }
        let shown = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
        #expect(shown.contains("EVERY program"))
        terminal.type("1234\r")
        let told = try #require(terminal.waits(for: "all told"), "no end")
        #expect(told.contains("the foreign value"))
        // The second command asked nobody.
        #expect(told.contains("SERVICE") && !told.contains("<Cancel>"), "\(told)")
    }

    /// An item that asks for a person, where the command line looks: a list asks nobody,
    /// and its value is asked for once.
    @Test func aListAsksNobodyAndAGetOnce() throws {
        let access = try #require(AccessControl(protection: "ak", flags: .userPresence))
        for (account, more) in [("guarded", [("accc", RawValue.accessControl(access))]), ("plain", [])] {
            let item: [(String, RawValue)] = [
                ("class", .string("genp")), ("svce", .string("of \(account)")), ("acct", .string(account)),
                ("agrp", .string("latchkey")), ("v_Data", .secret),
            ]
            _ = try keychain.client.perform(
                KeychainRequest(
                    .add, query: QueryDictionary(item + more),
                    value: SharedSecret(SecretBytes(copying: Array("the \(account) value".utf8)))))
        }
        let latchkey = "\(BuiltKeychain.programs)/latchkey --data-dir \(locations.dataDirectory)"
        let caller = try Caller(
            on: terminal,
            script: "echo $$ >&3; \(latchkey) list; echo all listed; "
                + "\(latchkey) get 'of guarded'; \(latchkey) get 'of guarded' guarded; echo all told",
            ["LANG": "C.UTF-8", "TERM": "xterm"])
        defer { caller.end() }
        let listed = try #require(terminal.waits(for: "all listed"), "the list waits")
        #expect(listed.contains("plain") && !listed.contains("guarded") && !listed.contains("<Cancel>"), "\(listed)")
        // Without the account it is found first, and then read; with it that is one call.
        for _ in 0..<2 {
            _ = try #require(terminal.waits(for: "<Cancel>"), "no prompt")
            terminal.type("1234\r")
        }
        let told = try #require(terminal.waits(for: "all told"), "another prompt, or none")
        #expect(told.contains("the guarded value"), "\(told)")
    }

    /// A program that has no person near it.
    @Test func aProgramWithoutATerminalIsNobodysDeputy() throws {
        let run = try ToolRun.run(
            "/usr/bin/setsid",
            [
                "-w", "\(BuiltKeychain.programs)/fault-client", "deputy", locations.dataDirectory,
                locations.runDirectory,
            ],
            environment: [], input: SecretBytes(count: 0), output: .upTo(4096),
            patience: .until(Deadline(after: .seconds(60), on: SystemClock())))
        let said = String(decoding: run.output.insecureArray(), as: UTF8.self)
        #expect(said.contains("-25308"), "\(said)")
    }

    /// No terminal, no display: nobody is asked, and nobody waits.
    @Test func withoutATerminalTheAnswerComesAtOnce() throws {
        let run = try ToolRun.run(
            "\(BuiltKeychain.programs)/fault-client", ["agree", locations.dataDirectory, locations.runDirectory],
            environment: [], input: SecretBytes(count: 0), output: .upTo(4096),
            patience: .until(Deadline(after: .seconds(60), on: SystemClock())))
        let said = String(decoding: run.output.insecureArray(), as: UTF8.self)
        #expect(said.contains("-25308"), "\(said)")
    }
}
