import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// The built `latchkey-prompt`.
@Suite struct PromptProgramTests {
    private func run(_ arguments: [String]) throws -> (status: Int32, complaints: String) {
        let path = "\(ProcessEnvironment.executableDirectory ?? ".")/latchkey-prompt"
        let run = try ToolRun.run(
            path, arguments, environment: [], input: SecretBytes(count: 0), output: .upTo(4096),
            patience: .until(Deadline(after: .seconds(60), on: SystemClock())))
        return (run.status, run.complaints)
    }

    @Test func descriptorThatIsNotOpenIsRefused() throws {
        let outcome = try run(["--descriptor", "9", "--for", "1"])
        #expect(outcome.status == 1 && outcome.complaints.contains("descriptor 9 is not open"))
    }

    @Test(arguments: [["--descriptor", "2", "--for", "1"], ["--descriptor", "3", "--for", "0"], []])
    func wrongArgumentsAreUsage(_ arguments: [String]) throws {
        #expect(try run(arguments).status == 64)
    }
}
