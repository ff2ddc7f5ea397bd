import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// systemd-ask-password and systemd's own agent on a pseudo-terminal, the built
/// latchkeyd, latchkey-enclave and latchkey-prompt, and a person who types.
///
/// Questions lie in one folder of the machine and any process may be the agent: so all
/// of it runs in namespaces of its own, and no other test meets this agent.
@Suite(.enabled(if: SystemdAgent.isHere, "root, systemd's password agent and the built programs are needed"))
struct WatchedQuestionTests {
    private static let agent = SystemdAgent.path

    private let folder: TemporaryDirectory
    private let terminal: PseudoTerminal

    init() throws {
        folder = try TemporaryDirectory("watched")
        terminal = try PseudoTerminal()
    }

    /// A program without a terminal that wants an item, and an agent on ours.
    private func session(agent: String = "\(Self.agent) --watch") throws -> Caller {
        let data = folder.path("data")
        try Script.write(
            """
            until pgrep -f '^\(agent)' > /dev/null; do sleep 0.1; done
            exec \(BuiltKeychain.programs)/fault-client agree \(data) \(data)/run
            """, to: folder.path("client"))
        try Script.write(
            """
            mount -t tmpfs -o mode=755 none /run/systemd && mkdir -m 755 /run/systemd/ask-password || exit 9
            printf '1234\\n' | \(BuiltKeychain.programs)/latchkey --data-dir \(data) passcode set
            setsid \(folder.path("client")) < /dev/null > \(told) 2>&1 &
            \(agent)
            wait
            """, to: folder.path("session"))
        return try Caller(
            on: terminal,
            script: "echo $$ >&3; exec unshare --mount --pid --fork --mount-proc \(folder.path("session"))",
            ["TERM": "xterm", "LANG": "C.UTF-8"])
    }

    private var told: String { folder.path("told") }

    /// What the program was told, once it was.
    private func outcome() -> String {
        var text = ""
        _ = Waiting.eventually {
            text = (try? String(contentsOfFile: told, encoding: .utf8)) ?? ""
            return text.contains("the value was told") || text.contains("wrong: ")
        }
        return text
    }

    /// A process of the session by what its command line begins with.
    private func process(_ name: String) throws -> Int32 {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc")
        return try #require(
            names.compactMap { Int32($0) }.first { number in
                let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
                let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                return words.first == name
                    && (words.contains { $0.hasPrefix(folder.path) } || Self.terminal(of: number) == terminal.number)
            })
    }

    private static func terminal(of process: Int32) -> UInt64? {
        FileManager.default.contents(atPath: "/proc/\(process)/stat").flatMap { ProcessRecord(Array($0)) }?.terminal
    }

    private static let question = "Passcode (none to cancel):"

    @Test func theValueComesOnceThePasscodeIsTypedToTheAgent() throws {
        let session = try session()
        defer { session.end() }
        let shown = try #require(terminal.waits(for: Self.question), "no question")
        #expect(shown.contains("to test the prompt") && shown.contains("Item     | \"client\""), "\(shown)")
        terminal.type("wrong\n")
        let again = try #require(terminal.waits(for: Self.question), "it does not ask again")
        #expect(again.contains("That is not the passcode."))
        terminal.type("1234\n")
        #expect(outcome().contains("the value was told"))
        #expect(!terminal.shown().contains("1234"))
    }

    @Test func theValueDoesNotComeWhereNothingIsTyped() throws {
        let session = try session()
        defer { session.end() }
        _ = try #require(terminal.waits(for: Self.question), "no question")
        terminal.type("\n")
        let outcome = outcome()
        #expect(outcome.contains("-128") && outcome.contains("dismissed"), "\(outcome)")
    }

    /// What only tells people to start an agent is none.
    @Test func withoutAnAgentTheAnswerComesAtOnce() throws {
        let session = try session(agent: "\(Self.agent) --wall")
        defer { session.end() }
        let outcome = outcome()
        #expect(outcome.contains("-25308") && outcome.contains("neither a display nor a terminal"), "\(outcome)")
    }

    @Test func anAgentThatEndsIsNotWaitedFor() throws {
        let session = try session()
        defer { session.end() }
        _ = try #require(terminal.waits(for: Self.question), "no question")
        let began = SystemClock().monotonic
        kill(try process(Self.agent), SIGKILL)
        let outcome = outcome()
        #expect(outcome.contains("-25308"), "\(outcome)")
        #expect(SystemClock().monotonic - began < .seconds(30))
    }

    @Test func endOfTheProgramTakesTheQuestionAway() throws {
        let session = try session()
        defer { session.end() }
        _ = try #require(terminal.waits(for: Self.question), "no question")
        let questions = "/proc/\(try process(Self.agent))/root/run/systemd/ask-password"
        #expect(try FileManager.default.contentsOfDirectory(atPath: questions).contains { $0.hasPrefix("ask.") })
        kill(try process("\(BuiltKeychain.programs)/fault-client"), SIGKILL)
        #expect(try Waiting.eventually { try FileManager.default.contentsOfDirectory(atPath: questions).isEmpty })
    }
}

private enum SystemdAgent {
    static let path = "/usr/bin/systemd-tty-ask-password-agent"

    static let isHere =
        geteuid() == 0 && BuiltKeychain.isWithinReach && FileManager.default.fileExists(atPath: "/run/systemd")
        && [path, "/usr/bin/systemd-ask-password"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
        && allowsNamespaces

    /// Root of a container may be kept from what a session is made of.
    private static var allowsNamespaces: Bool {
        let mount = ["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run/systemd"]
        do {
            return try ToolRun.run(
                "/usr/bin/unshare", ["--mount", "--pid", "--fork", "--mount-proc"] + mount,
                environment: ["PATH=/usr/bin:/bin"], input: SecretBytes(count: 0), output: .upTo(4096),
                patience: .until(Deadline(after: .seconds(60), on: SystemClock()))
            ).status == 0
        } catch { return false }
    }
}
