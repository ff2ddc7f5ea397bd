import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `latchkey watch` on the real daemon.
@Suite struct WatchEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    /// A watch at work: its lines as they come.
    final class Watching {
        private let process: TestProcess
        private let output: Pipe
        private var rest = Data()

        init(_ programs: BuiltPrograms, _ arguments: String...) throws {
            process = programs.start(BuiltPrograms.latchkey, ["watch"] + arguments)
            output = Pipe()
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            try process.run()
        }

        /// The next line; nil once it has ended.
        func line() -> [String]? {
            let deadline = Deadline(after: .seconds(60), on: SystemClock())
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest = Data(rest[rest.index(after: end)...])
                    return line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                }
                guard output.fileHandleForReading.hasInput(until: deadline) else {
                    return ["nothing came"]
                }
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return nil }
                rest += more
            }
        }

        func interrupt() { process.interrupt() }

        deinit { process.terminate() }

        var status: Int32 {
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    @Test func changesOfItemsAreTold() throws {
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        try programs.latchkey("set", "mail", "alice", input: Data("CANARY".utf8))
        let watching = try Watching(programs, "--after", position)
        #expect(watching.line()?.prefix(4) == ["added", "generic", "1", "latchkey"])
        try programs.latchkey("edit", "mail", "alice", "--label", "Work")
        #expect(watching.line()?.prefix(4) == ["changed", "generic", "1", "latchkey"])
        try programs.latchkey("rm", "mail", "alice")
        let last = watching.line()
        #expect(last?.prefix(4) == ["removed", "generic", "1", "latchkey"])
        watching.interrupt()
        #expect(watching.line() == nil)
        #expect(watching.status == 0)
        let after = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        #expect(last?[4] == after)
    }

    /// The daemon is killed and the next command starts another: the watch misses
    /// nothing and tells nothing twice.
    @Test func noneIsLostWhereTheDaemonIsKilled() throws {
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        let watching = try Watching(programs, "--after", position)
        for round in 0..<5 {
            try programs.latchkey("set", "service", "\(round)", input: Data("x".utf8))
            let daemon = try programs.daemonProcess()
            #expect(daemon > 0)
            kill(daemon, round % 2 == 0 ? SIGKILL : SIGTERM)
            #expect(watching.line()?.prefix(4) == ["added", "generic", "1", "latchkey"], "round \(round)")
        }
        try programs.latchkey("rm", "service", "0")
        #expect(watching.line()?.first == "removed")
        watching.interrupt()
        #expect(watching.status == 0)
    }

    /// A script that waits for a change does not take the end of the wait for one.
    @Test func aWatchThatIsInterruptedSaysSo() throws {
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        try programs.latchkey("set", "a", input: Data("x".utf8))
        let watching = try Watching(programs, "--after", position, "--count", "2")
        #expect(watching.line()?.first == "added")
        watching.interrupt()
        #expect(watching.line() == nil)
        #expect(watching.status == 1)
    }

    @Test func aWatchCanEndByItself() throws {
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        for account in ["a", "b"] { try programs.latchkey("set", "service", account, input: Data("x".utf8)) }
        let outcome = try programs.latchkey("watch", "--after", position, "--count", "2", "--json")
        #expect(outcome.status == 0)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(Set(object.keys) == ["event", "kind", "items", "group", "position"])
            #expect(object["event"] as? String == "added" && object["items"] as? Int == 1)
        }
    }

    @Test(arguments: [["--after", "now"], ["--count", "0"], ["--position", "--count", "1"]])
    func whatMakesNoSenseIsRefused(arguments: [String]) throws {
        #expect(try programs.run(BuiltPrograms.latchkey, ["watch"] + arguments).status == 2)
    }

    /// After a restore nobody knows what happened since.
    @Test func aRestoredStoreSaysThatAnythingMayHaveHappened() throws {
        try programs.latchkey("set", "a", input: Data("x".utf8))
        let position = try programs.latchkey("watch", "--position").text.trimmingCharacters(in: .newlines)
        #expect(try programs.latchkey("backup", programs.home + "/b").status == 0)
        try #require(try programs.latchkey("restore", "--replace", programs.home + "/b").status == 0)
        let outcome = try programs.latchkey("watch", "--after", position, "--count", "1")
        #expect(outcome.text.hasPrefix("unknown\t-\t0\t-\t"))
    }
}

extension FileHandle {
    /// Whether there is something to read, or the end, before the deadline.
    func hasInput(until deadline: Deadline) -> Bool {
        var one = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        while !deadline.hasPassed {
            if unsafe poll(&one, 1, 100) > 0 { return true }
        }
        return false
    }
}
