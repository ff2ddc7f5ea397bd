import Foundation
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt
import Synchronization
import Testing

private final class Ended: Sendable {
    let flag = Atomic(false)
}

@Suite struct PasswordAgentTests {
    private let folder: TemporaryDirectory
    private var places = PromptPlaces()
    private let clock = ManualClock()

    init() throws {
        folder = try TemporaryDirectory("agent")
        places.processes = try folder.folder("proc").path
        places.passwordQuestions = try folder.folder("questions").path
        places.passwordAgentProgram = folder.path("ask")
        try program("printf '%s\\n' \"$@\" > \(folder.path("heard")); printf right")
    }

    private func program(_ script: String) throws {
        try Script.write(script, to: folder.path("ask"))
    }

    private func process(_ number: Int, _ arguments: [String], user: UInt32 = geteuid()) throws {
        _ = try folder.folder("proc/\(number)")
        let line = arguments.map { $0 + "\0" }.joined()
        try Data(line.utf8).write(to: URL(fileURLWithPath: folder.path("proc/\(number)/cmdline")))
        try Data("Name:\tx\nUid:\t\(user)\t\(user)\t\(user)\t\(user)\n".utf8)
            .write(to: URL(fileURLWithPath: folder.path("proc/\(number)/status")))
    }

    private static let watching = ["/usr/bin/systemd-tty-ask-password-agent", "--watch", "--console"]

    private func typed(_ agent: PasswordAgent?) throws -> [UInt8] {
        let agent = try #require(agent)
        let form = PromptForm(description: "First\nSecond")
        let secret = try agent.ask(form, until: Deadline(after: .seconds(9), on: clock))
        return secret.insecureArray()
    }

    @Test func agentThatWatchesIsAsked() throws {
        try process(7, Self.watching)
        #expect(try typed(PasswordAgent(in: places, calledOffBy: [])) == Array("right".utf8))
        let heard = try String(contentsOfFile: folder.path("heard"), encoding: .utf8)
        #expect(heard == "--no-tty\n--timeout=9\n-n\n--\nFirst - Second - Passcode (none to cancel):\n")
    }

    @Test func withoutAnAgentNobodyIsAsked() throws {
        try process(7, ["/usr/bin/systemd-tty-ask-password-agent", "--wall"])
        try process(8, ["/usr/bin/gnome-shell", "--watch"])
        try process(9, ["/usr/bin/systemd-tty-ask-password-agent", "--list"])
        try process(10, Self.watching, user: geteuid() + 1)
        _ = try folder.folder("proc/11")
        #expect(PasswordAgent(in: places, calledOffBy: []) == nil)
    }

    @Test func whereNoQuestionCanBePutNobodyIsAsked() throws {
        try process(7, Self.watching)
        var places = places
        places.passwordQuestions = folder.path("nowhere")
        #expect(PasswordAgent(in: places, calledOffBy: []) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path("questions"))
        #expect(PasswordAgent(in: self.places, calledOffBy: []) == nil)
    }

    /// It ends while a question lies there.
    @Test func agentThatEndsIsNotWaitedFor() throws {
        try process(7, Self.watching)
        try program("exec sleep 1000")
        let agent = try #require(PasswordAgent(in: places, calledOffBy: []))
        try FileManager.default.removeItem(atPath: folder.path("proc/7"))
        // It looks twice: time passes until it has, however often that moves the clock
        // between two looks.
        let ended = Ended()
        let deadline = Deadline(after: .seconds(1_000_000_000), on: clock)
        let moving = clock
        Waiting.meanwhile {
            while !ended.flag.load(ordering: .acquiring) {
                if moving.waiterCount > 0 { moving.advance(by: .seconds(3)) }
                sched_yield()
            }
        }
        defer { ended.flag.store(true, ordering: .releasing) }
        #expect(throws: PromptFailure.unable(why: "nobody watches systemd's questions any more")) {
            _ = try agent.ask(PromptForm(description: "First"), until: deadline)
        }
    }

    @Test(arguments: [
        ("exit 1", PromptFailure.canceled), ("head -c 100000 /dev/zero", .tooLong), ("exec sleep 1000", .timedOut),
    ])
    func whatIsNoAnswerIsAFailure(_ script: String, _ expected: PromptFailure) throws {
        try process(7, Self.watching)
        try program(script)
        if expected == .timedOut { clock.advanceLater(by: .seconds(10)) }
        #expect(throws: expected) { _ = try typed(PasswordAgent(in: places, calledOffBy: [])) }
    }
}
