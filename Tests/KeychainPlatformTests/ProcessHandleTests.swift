import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// What is killed is what was meant: a number from a file may be another container's.
@Suite(.timeLimit(.minutes(20))) struct ProcessHandleTests {
    private func sleeping() throws -> TestProcess {
        let process = TestProcess()
        process.executableURL = URL(filePath: "/bin/sleep")
        process.arguments = ["1000"]
        try process.run()
        return process
    }

    @Test(arguments: ["latchkeyd", "slee", "sleeping", ""])
    func anotherProgramIsLeftAlone(_ program: String) throws {
        let process = try sleeping()
        let handle = try ProcessHandle.open(process.processIdentifier)
        #expect(try !handle.runs(program, under: process.processIdentifier))
        #expect(process.isRunning)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == SIGTERM)
    }

    @Test func whatRunsItIsKilledAndWhatHasGoneNeedsNoKilling() throws {
        let process = try sleeping()
        let number = process.processIdentifier
        let handle = try #require(try ProcessHandle.ifThere(number))
        #expect(try handle.runs("sleep", under: number))
        try handle.kill()
        process.waitUntilExit()
        #expect(process.terminationStatus == SIGKILL)
        // Whoever has the number next is not it.
        #expect(try !handle.runs("sleep", under: number))
        try handle.kill()
        try handle.askToEnd()
        #expect(try ProcessHandle.ifThere(number) == nil)
    }
}
