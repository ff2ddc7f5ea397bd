import Foundation
import KeychainPlatform
import Testing

/// The scripts of `latchkey completion` in the shells themselves.
@Suite struct CompletionTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func fill() throws {
        for (service, account) in [
            ("mail", "alice"), ("mail", "bob"), ("my service", "carol"), ("https://a.example", "dan"),
            ("bad\u{1b}", "x"),
        ] {
            try programs.latchkey("set", service, account, input: Data("hunter2".utf8))
        }
    }

    private func complete(_ words: String...) throws -> [String] {
        let outcome = try programs.run(BuiltPrograms.latchkey, ["__complete", "--"] + words)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        return outcome.text.split(separator: "\n").map(String.init)
    }

    @Test func commandsAndOptionsAreThoseOfTheHelp() throws {
        let verbs = try complete("")
        for verb in ["get", "set", "info", "edit", "note", "completion", "help"] { #expect(verbs.contains(verb)) }
        #expect(!verbs.contains { $0.hasPrefix("_") })
        #expect(try complete("ge") == ["get"])
        #expect(try complete("get", "--c") == ["--clip"])
        #expect(try complete("edit", "--to").count == 3)
        #expect(try complete("--da") == ["--data-dir"])
        #expect(try complete("completion", "") == ["bash", "fish", "zsh"])
        #expect(try complete("set", "--label", "").isEmpty)
        #expect(try complete("passcode", "") == ["change", "effacement", "guard", "remove", "reset", "set"])
        #expect(try complete("passcode", "re") == ["remove", "reset"])
        #expect(try complete("passcode", "remove", "--r") == ["--recovery"])
        #expect(try complete("passcode", "set", "").isEmpty)
    }

    @Test func noDaemonIsStartedForIt() throws {
        #expect(try complete("get", "").isEmpty)
        #expect(programs.processes("latchkeyd").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
    }

    @Test func servicesAndAccountsAreThoseOfTheKeychain() throws {
        try fill()
        #expect(try complete("get", "") == ["https://a.example", "mail", "my service"])
        #expect(try complete("get", "--otp", "m") == ["mail", "my service"])
        #expect(try complete("edit", "mail", "") == ["alice", "bob"])
        #expect(try complete("rm", "mail", "b") == ["bob"])
        #expect(try complete("list", "mail", "").isEmpty)
        #expect(try complete("--data-dir", programs.home + "/other", "get", "").isEmpty)
    }

    @Test func namesWithAHyphenInFrontAreOfferedBehindTwo() throws {
        try programs.latchkey("set", "--", "-dash", "-user", input: Data("CANARY".utf8))
        try programs.latchkey("set", "mail", input: Data("CANARY".utf8))
        #expect(try complete("get", "") == ["mail"])
        #expect(try complete("get", "--", "") == ["-dash", "mail"])
        #expect(try complete("get", "--", "-") == ["-dash"])
        #expect(try complete("get", "--", "-dash", "") == ["-user"])
        #expect(try complete("exec", "--env", "A=mail", "--", "").isEmpty)
        #expect(try programs.latchkey("get", "--", "-dash", "-user").text == "CANARY")
    }

    /// What bash would offer for a line with the cursor at its end.
    private func bash(_ line: String) throws -> [String] {
        let script = """
            source <(latchkey completion bash)
            COMP_LINE=$1 COMP_POINT=${#1}
            # bash's own splitting leaves an opened quote whole.
            COMP_WORDS=(latchkey get "${1##*get }") COMP_CWORD=2
            _latchkey
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try programs.run("/bin/bash", ["-c", script, "bash", line])
        #expect(outcome.errors.isEmpty)
        return outcome.text.split(separator: "\n").map(String.init)
    }

    @Test func bashCompletesAndQuotes() throws {
        try fill()
        #expect(try bash("latchkey inf") == ["info"])
        #expect(try bash("latchkey get ma") == ["mail"])
        #expect(try bash("latchkey get mail ") == ["alice", "bob"])
        #expect(try bash("latchkey get my") == ["my\\ service"])
        #expect(try bash("latchkey get my\\ service ") == ["carol"])
        #expect(try bash("latchkey get my\\ se") == ["my\\ service"])
        #expect(try bash("latchkey get 'my se") == ["my service"])
        #expect(try bash("latchkey get \"my") == ["my service"])
        #expect(try bash("latchkey get 'https:/") == ["https://a.example"])
        // Behind the colon, where bash begins a new word.
        #expect(try bash("latchkey get https:/") == ["//a.example"])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish")))
    func fishCompletes() throws {
        try fill()
        let script =
            "latchkey completion fish | source; complete -C 'latchkey get ma'; complete -C 'latchkey get mail '; "
            + "complete -C \"latchkey get 'my s\""
        let outcome = try programs.run("/usr/bin/fish", ["--no-config", "-c", script])
        #expect(outcome.text == "mail\nalice\nbob\nmy service\n", "\(outcome.errors)")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh")))
    func zshCompletes() throws {
        try fill()
        // What the script would add, with compadd and compdef of the test.
        let script = """
            compdef() { : }
            eval "$(latchkey completion zsh)"
            compadd() { print -l -- "${(@P)2}" }
            words=(latchkey get 'my\\ service' '') CURRENT=4 PREFIX=
            _latchkey
            words=(latchkey get m) CURRENT=3 PREFIX=m
            _latchkey
            # zsh keeps an opened quote out of what is to be completed.
            words=(latchkey get "'my s") CURRENT=3 PREFIX='my s'
            _latchkey
            """
        let outcome = try programs.run("/usr/bin/zsh", ["-f", "-c", script])
        #expect(outcome.text == "carol\nmail\nmy service\nmy service\n", "\(outcome.errors)")
    }
}
