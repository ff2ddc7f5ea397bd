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
        #expect(try !ProcessHandle.kill(process.processIdentifier, .runs(program)))
        #expect(process.isRunning)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == SIGTERM)
    }

    @Test func whatRunsItIsKilledAndWhatHasGoneNeedsNoKilling() throws {
        let process = try sleeping()
        #expect(try ProcessHandle.kill(process.processIdentifier, .runs("sleep")))
        process.waitUntilExit()
        #expect(process.terminationStatus == SIGKILL)
        #expect(try ProcessHandle.kill(process.processIdentifier, .runs("sleep")))
    }
}
