import KeychainPlatform
import Testing

@Suite struct ToolRunTests {
    private func run(
        _ path: String, _ arguments: String..., input: String = "", limit: Int = 1 << 20
    ) throws -> (status: Int32, output: String, complaints: String) {
        let run = try ToolRun.run(
            path, arguments, environment: ["ONE=1"], input: SecretBytes(copying: Array(input.utf8)),
            output: .upTo(limit))
        return (run.status, String(decoding: run.output.insecureArray(), as: UTF8.self), run.complaints)
    }

    @Test func inputAndOutputGoThroughPipes() throws {
        let outcome = try run("/bin/sh", "-c", "cat; echo \"$ONE\"; echo trouble >&2; exit 3", input: "secret\n")
        #expect(outcome == (3, "secret\n1\n", "trouble\n"))
    }

    @Test func toolThatReadsAllBeforeItWritesMayBeGivenMoreThanAPipeHolds() throws {
        let input = SecretBytes(copying: [UInt8](repeating: 0x61, count: 1 << 20))
        let run = try ToolRun.run(
            "/bin/sh", ["-c", "sort"], environment: ["PATH=/usr/bin:/bin"], input: input,
            output: .afterInput(upTo: 2 << 20))
        #expect(run.status == 0 && run.output.count == (1 << 20) + 1)
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
                "/nowhere/tool", [], environment: [], input: SecretBytes(count: 0), output: .upTo(1))
            Issue.record("it ran")
        } catch {
            guard case .system(let below) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(below.isNoSuchFile)
        }
    }

    @Test(arguments: [ToolRun.Output.upTo(1), .ignored])
    func toolThatDoesNotEndInTimeIsEnded(output: ToolRun.Output) {
        #expect(throws: ToolRun.Failure.tooLate) {
            _ = try ToolRun.run(
                "/bin/sleep", ["1000"], environment: [], input: SecretBytes(count: 0), output: output,
                patience: .until(Deadline(after: .milliseconds(50), on: SystemClock())))
        }
    }

    @Test func toolThatDoesNotReadIsNotWaitedForBeyondItsTime() {
        #expect(throws: ToolRun.Failure.tooLate) {
            _ = try ToolRun.run(
                "/bin/sleep", ["1000"], environment: [], input: SecretBytes(count: 1 << 20), output: .ignored,
                patience: .until(Deadline(after: .milliseconds(50), on: SystemClock())))
        }
    }

    /// As a clipboard's owner does, which outlives the command that fed it.
    @Test func toolWithoutReaderTakesAnyInputAndHasASessionOfItsOwn() throws {
        let input = SecretBytes(copying: Array(repeating: UInt8(ascii: "x"), count: 1 << 20))
        let run = try ToolRun.run(
            "/bin/sh",
            ["-c", "[ $(wc -c) = 1048576 ] && [ $(cut -d ' ' -f 6 /proc/$$/stat) = $$ ] && [ $PWD = / ]; exit $?"],
            environment: ["PATH=/usr/bin:/bin"], input: input, output: .ignored)
        #expect(run.status == 0)
        #expect(run.output.count == 0)
    }
}
