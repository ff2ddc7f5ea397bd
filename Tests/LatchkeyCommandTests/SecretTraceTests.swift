import Foundation
import Testing

/// Every verb under strace(1): what it executes, opens and writes, and every file that
/// is left. Import and export have tests of their own (ImportEndToEndTests).
///
/// As root: `latchkey` hides from other programs of its user, strace among them.
@Suite(.enabled(if: geteuid() == 0, "latchkey hides from an ordinary user's strace"))
struct SecretTraceTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    /// Lines of the trace of one run that hold the canary.
    func traced(
        _ arguments: [String], by program: String = BuiltPrograms.latchkey, input: String = "", status: Int32 = 0
    ) throws -> [Substring] {
        // The daemon is up before, so that the trace is of the verb alone: it would
        // not end before the daemon does.
        try programs.makeKeychain()
        let trace = programs.home + "/trace"
        let outcome = try programs.run(
            "/usr/bin/strace",
            ["-f", "-v", "-yy", "-s", "100000", "-e", "trace=execve,write,pwrite64,writev,openat,rename", "-o", trace]
                + [program] + arguments, input: Data(input.utf8))
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        #expect(!outcome.errors.contains("CANARY"), "\(arguments)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        try FileManager.default.removeItem(atPath: trace)
        #expect(lines.contains { $0.contains("execve(") && $0.contains("latchkey\"") }, "\(arguments)")
        return lines.filter { $0.contains("CANARY") }
    }

    /// What goes to a command, a template and the helpers.
    private func handedOn() throws {
        // The command's own variables, and nobody's arguments.
        let handed = try traced(["exec", "--env", "A=mail/al", "--", "/bin/true"])
        #expect(!handed.isEmpty)
        for line in handed {
            #expect(line.contains(#"execve("/bin/true", ["/bin/true"], ["#), "\(line.prefix(200))")
        }
        for way in ["--fd", "--file"] {
            let kept = try traced(["exec", way, "A=mail/al", "--", "/bin/true"])
            #expect(!kept.isEmpty)
            for line in kept {
                #expect(line.contains("memfd:"), "\(line.prefix(200))")
            }
        }
        let git = "protocol=https\nhost=g.example\nusername=a\npassword=CANARY-6\noauth_refresh_token=CANARY-7\n"
        let docker = #"{"ServerURL":"d.example","Username":"a","Secret":"CANARY-8"}"#
        let helpers = "\(BuiltPrograms.folder)/"
        #expect(try traced(["store"], by: helpers + "git-credential-latchkey", input: git).isEmpty)
        #expect(try traced(["store"], by: helpers + "docker-credential-latchkey", input: docker).isEmpty)
        let written: [([String], String, String)] = [
            (["read", "mail/al"], "latchkey", ""), (["inject"], "latchkey", "{{ latchkey://mail/al }}"),
            (["credential", "aws", "mail/al"], "latchkey", ""),
            (["credential", "kubernetes", "mail/al"], "latchkey", ""),
            (["get"], "git-credential-latchkey", "protocol=https\nhost=g.example\n"),
            (["get"], "docker-credential-latchkey", "d.example"),
        ]
        for (arguments, program, input) in written {
            let lines = try traced(arguments, by: helpers + program, input: input)
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains("write(1<") }, "\(program) \(arguments)")
        }
        #expect(try traced(["erase"], by: helpers + "git-credential-latchkey", input: git).isEmpty)
    }

    @Test func noVerbPutsASecretIntoArgumentsVariablesOrFiles() throws {
        let file = programs.home + "/b"
        let quiet: [([String], String)] = [
            (["set", "mail", "alice"], "CANARY-1"), (["set", "mail", "alice"], "CANARY-2"),
            (["set", "--internet", "a.example", "bob", "--json"], "CANARY-3"),
            (["note", "codes"], "CANARY-4\nCANARY-5\n"),
            (["set", "totp"], "otpauth://totp/CANARY?secret=GEZDGNBVGY3TQOJQ"),
            (["get", "--otp", "totp"], ""), (["list"], ""), (["list", "--json"], ""), (["info", "mail", "alice"], ""),
            (["edit", "mail", "alice", "--label", "x", "--to-account", "al"], ""), (["status"], ""), (["doctor"], ""),
            (["doctor", "--verify", "--json"], ""), (["watch", "--position"], ""), (["log", "--json"], ""),
            (["log", "--verify"], ""), (["whocan", "mail"], ""), (["backup", file], ""),
            (["restore", "--replace", file], ""), (["rm", "codes"], ""),
            (["explain"], "kSecClass: kSecClassGenericPassword\nkSecAttrService: \"mail\"\n"),
            (["explain", "--", BuiltPrograms.latchkey, "rm", "totp"], ""),
            (["app", "init", "--identifier", "com.example.app", programs.home], ""), (["completion", "bash"], ""),
        ]
        for (arguments, input) in quiet {
            let lines = try traced(arguments, input: input)
            #expect(lines.isEmpty, "\(arguments): \(lines.first?.prefix(200) ?? "")")
        }
        // What is asked for goes to standard output and nowhere else.
        for arguments in [
            ["get", "mail", "al"], ["get", "--json", "a.example"], ["set", "wifi", "--generate", "--show"],
        ] {
            for line in try traced(arguments) {
                #expect(line.contains("write(1<"), "\(arguments): \(line.prefix(200))")
            }
        }
        #expect(try !traced(["get", "mail", "al"]).isEmpty, "the search finds nothing")
        try handedOn()
        let left = try programs.shell("grep -rlaE 'CANARY' --exclude='*.out' --exclude='*.in' \"$HOME\" || true").text
        #expect(left.isEmpty, "\(left)")
    }
}
