import Foundation
import KeychainPlatform
import Testing

/// The login password, as pam_latchkey brings it, with the real programs.
@Suite struct LoginSlotEndToEndTests {
    let forms: JSONFormTests
    var programs: BuiltPrograms { forms.programs }

    init() throws { forms = try JSONFormTests() }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    private var processes: [Int32] { programs.processes("latchkey-enclave") + programs.processes("latchkeyd") }

    /// As where the machine was started anew.
    private func killAll() { for process in processes { kill(process, SIGKILL) } }

    private func makeKeychain() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try latchkey("passcode", "set", typed: "words words").status == 0)
    }

    @Test func aLoginOpensItAndAnotherPasswordFollows() throws {
        try makeKeychain()
        try forms.check("slot add", ["slot", "add", "login"], input: "words words\nlogin one\n")
        try forms.check("slot list", ["slot", "list"])
        #expect(try latchkey("slot", "list").text.contains("the login password"))
        #expect(try latchkey("status").text.contains("as strong as the weaker of passcode and login password"))
        killAll()
        #expect(try latchkey("get", "mail", "alice").status == 3)
        let wrong = try latchkey("unlock", "--login", typed: "login two\n")
        #expect(wrong.status == 3 && !wrong.errors.contains("login two"))
        #expect(try programs.status()["failedAttempts"] as? Int == 1)
        try forms.check("unlock", ["unlock", "--login"], input: "login one\n")
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        // What is open for a person takes no password.
        #expect(try latchkey("unlock", "--login", typed: "login two\n").status == 0)

        try forms.check("slot change", ["slot", "change", "login"], input: "login one\nlogin two\n")
        #expect(try latchkey("lock", "--login").status == 0)
        #expect(try latchkey("unlock", "--login", typed: "login one\n").status == 3)
        #expect(try latchkey("unlock", "--login", typed: "login two\n").status == 0)
        // Root gave another password, and nobody told the one before.
        #expect(try latchkey("slot", "change", "login", typed: "\nlogin three\n").status == 2)
        // It is no passcode.
        #expect(try latchkey("passcode", "remove", typed: "login two\n").status != 0)
        #expect(try programs.status()["passcode"] as? Bool == true)
        #expect(try latchkey("slot", "remove", "login", typed: "login two\n").status == 3)
        try forms.check("slot remove", ["slot", "remove", "login"], input: "words words")
        #expect(try latchkey("lock", "--login").status == 1)
        #expect(try latchkey("unlock", "--login", typed: "login two\n").status == 1)
    }

    /// Logins with one that is no longer right leave the passcode its attempts.
    @Test func aStalePasswordMakesNobodyWait() throws {
        try makeKeychain()
        #expect(try latchkey("slot", "add", "login", typed: "words words\nlogin one\n").status == 0)
        #expect(try latchkey("lock").status == 0)
        for failed in 1...3 {
            #expect(try latchkey("unlock", typed: "other words \(failed)").status == 3)
            #expect(try programs.status()["failedAttempts"] as? Int == failed)
        }
        for password in ["login two\n", "login one\n"] {
            let outcome = try latchkey("unlock", "--login", typed: password)
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("3 attempts in a row failed, so the login password is not tried"))
            #expect(try programs.status()["failedAttempts"] as? Int == 3)
            #expect(try programs.status()["lock"] as? String != "unlocked")
        }
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try programs.status()["failedAttempts"] as? Int == 0)
        #expect(try latchkey("lock").status == 0)
        #expect(try latchkey("unlock", "--login", typed: "login one\n").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
    }

    /// Most people who log in have no such slot, and many no keychain.
    @Test func withoutTheSlotNothingIsStarted() throws {
        let commands = [["unlock", "--login"], ["slot", "change", "login"], ["lock", "--login"]]
        func expectNothing(_ location: SourceLocation = #_sourceLocation) throws {
            for command in commands {
                let outcome = try programs.run(
                    BuiltPrograms.latchkey, command, input: Data("login one\nlogin two\n".utf8))
                #expect(outcome.status == 1, "\(command) \(outcome.errors)", sourceLocation: location)
                #expect(outcome.errors.contains("no login password opens"), sourceLocation: location)
                #expect(processes.isEmpty, "\(command)", sourceLocation: location)
            }
        }
        try expectNothing()
        try makeKeychain()
        #expect(try latchkey("lock", "--stop").status == 0)
        try expectNothing()
        #expect(try latchkey("slot", "add", "login", typed: "words words\nlogin one\n").status == 0)
        #expect(try latchkey("lock", "--stop").status == 0)
        // To lock what does not run nothing is started either.
        #expect(try latchkey("lock", "--login").status == 1)
        #expect(processes.isEmpty)
    }

    @Test func whatCannotBeIsSaid() throws {
        for arguments in [
            ["slot", "add", "login", "--at", "device:/dev/tpm0"], ["slot", "change", "tpm"],
            ["unlock", "--login", "--slot"], ["unlock", "--login", "--recovery"], ["lock", "--login", "--stop"],
        ] {
            #expect(try programs.run(BuiltPrograms.latchkey, arguments).status == 2, "\(arguments)")
        }
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try latchkey("slot", "add", "login", typed: "words words\nlogin one\n").status == 2)
        #expect(try latchkey("passcode", "set", typed: "words words").status == 0)
        #expect(try latchkey("slot", "add", "login", typed: "words words\n").status == 2)
        let short = try latchkey("slot", "add", "login", typed: "words words\nabc\n")
        #expect(short.status == 2 && short.errors.contains("fewer than 4 bytes"))
        #expect(try latchkey("slot", "add", "login", typed: "other words\nlogin one\n").status == 3)
    }
}
