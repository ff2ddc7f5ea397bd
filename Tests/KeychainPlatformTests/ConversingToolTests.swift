import KeychainPlatform
import Testing

@Suite struct ConversingToolTests {
    private let deadline = Deadline(after: .seconds(60), on: SystemClock())

    private func tool(_ script: String) throws -> ConversingTool {
        try ConversingTool("/bin/sh", ["-c", script], environment: ["PATH=/usr/bin:/bin"])
    }

    private func line(_ tool: borrowing ConversingTool) throws -> String {
        var text = ""
        var buffer = SecretBytes(count: 64)
        while !text.hasSuffix("\n") {
            let count = try tool.hear(into: &buffer)
            if count == 0 { return text }
            text += String(decoding: buffer.insecureArray().prefix(count), as: UTF8.self)
        }
        return text
    }

    @Test func whatIsSaidIsAnswered() throws {
        let tool = try tool("while read -r x; do echo \"heard $x\"; done")
        try tool.say(Array("one\n".utf8), until: deadline)
        let first = try line(tool)
        try tool.say(Array("two\n".utf8), until: deadline)
        let second = try line(tool)
        #expect(first == "heard one\n" && second == "heard two\n")
    }

    @Test func toolThatDoesNotReadIsNotWaitedForBeyondItsTime() throws {
        let tool = try tool("exec sleep 1000")
        let soon = Deadline(after: .milliseconds(50), on: SystemClock())
        #expect(throws: SystemCallError("write", errno: 110)) {  // ETIMEDOUT
            try tool.say(Array(repeating: 0x61, count: 1 << 20), until: soon)
        }
    }

    @Test func toolAndWhatItStartedEndWithTheirOwner() throws {
        let numbers: [Int32]
        do {
            let tool = try tool("trap '' TERM; sleep 1000 & echo $$ $!; wait; wait")
            numbers = try line(tool).split { $0 == " " || $0 == "\n" }.compactMap { Int32($0) }
            tool.end(by: Deadline(after: .milliseconds(50), on: SystemClock()))
        }
        #expect(numbers.count == 2)
        for number in numbers { #expect(try ProcessHandle.waitForEnd(of: number, until: deadline) == .ready) }
    }
}
