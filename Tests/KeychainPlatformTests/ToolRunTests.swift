import KeychainPlatform
import Testing

@Suite struct ToolRunTests {
    private func run(
        _ path: String, _ arguments: String..., input: String = "", limit: Int = 1 << 20
    ) throws -> (status: Int32, output: String, complaints: String) {
        let run = try ToolRun.run(
            path, arguments, environment: ["ONE=1"], input: SecretBytes(copying: Array(input.utf8)), outputLimit: limit)
        return (run.status, String(decoding: run.output.insecureArray(), as: UTF8.self), run.complaints)
    }

    @Test func inputAndOutputGoThroughPipes() throws {
        let outcome = try run("/bin/sh", "-c", "cat; echo \"$ONE\"; echo trouble >&2; exit 3", input: "secret\n")
        #expect(outcome == (3, "secret\n1\n", "trouble\n"))
    }

    @Test func statusOfASignalIsThatOfAShell() throws {
        #expect(try run("/bin/sh", "-c", "kill -TERM $$").status == 143)
    }

    @Test func toolSeesNoDescriptorOfOurs() throws {
        // The fourth is the folder that ls looks into.
        #expect(try run("/bin/ls", "/proc/self/fd").output == "0\n1\n2\n3\n")
    }

    @Test func moreOutputThanAllowedEndsTheTool() {
        #expect(throws: ToolRun.Failure.tooMuchOutput) { try run("/bin/cat", "/dev/zero", limit: 1 << 20) }
    }

    @Test func toolThatDoesNotReadIsNoFailureOfOurs() throws {
        #expect(try run("/bin/true", input: "nobody reads this").status == 0)
    }

    @Test func missingToolIsSaidToBeThat() {
        do throws(ToolRun.Failure) {
            _ = try ToolRun.run(
                "/nowhere/tool", [], environment: [], input: SecretBytes(count: 0), outputLimit: 1)
            Issue.record("it ran")
        } catch {
            guard case .system(let below) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(below.isNoSuchFile)
        }
    }
}
