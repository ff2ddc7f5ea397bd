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

    private static let question = String(repeating: "0a", count: 16)

    @Test func withoutAnEnclaveNobodyIsAsked() throws {
        let folder = try TemporaryDirectory("prompt")
        let run = try folder.folder("run").path
        let outcome = try self.run(["--run", run, "--question", Self.question, "--for", "1"])
        #expect(outcome.status == 1 && outcome.complaints.contains("enclave process does not answer"))
    }

    @Test(arguments: ["", "0a", "zz", String(repeating: "0", count: 31), String(repeating: "x", count: 32)])
    func whatIsNoNameOfAQuestionIsRefused(_ name: String) throws {
        let outcome = try run(["--run", "/tmp", "--question", name, "--for", "1"])
        #expect(outcome.status == 1 && outcome.complaints.contains("--question"))
    }

    @Test(arguments: [
        ["--run", "run", "--question", question, "--for", "1"], ["--run", "/run", "--question", question, "--for", "0"],
        [],
    ])
    func wrongArgumentsAreUsage(_ arguments: [String]) throws {
        #expect(try run(arguments).status == 64)
    }
}
