import Glibc
import KeychainPlatform
import KeychainTestSupport
import Testing

@Suite struct SecretBytesTests {
    /// Nobody's size may end the process: 2^62 bytes are never to be had.
    @Test func aSizeThatSomebodyElseChoseIsRefusedWhereThereIsNoMemory() throws {
        var failure: SystemCallError?
        do throws(SystemCallError) { _ = try SecretBytes(allocating: 1 << 62) } catch { failure = error }
        #expect(failure == .noMemory)
        let small = try SecretBytes(allocating: 100_000).count
        #expect(small == 100_000)
    }

    /// What the probe says of a secret of its own (confinement-probe).
    private func status(_ memory: String, _ reader: String) throws -> Int32 {
        let unused = try EventSignal()
        let child = try ChildProcess.start(
            "\(ProcessEnvironment.executableDirectory ?? ".")/confinement-probe",
            arguments: ["memory", memory, reader], environment: [], third: unused.descriptor, fourth: unused.descriptor)
        return try child.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    @Test(.enabled(if: RunningKernel.hasHiddenMemory, "no memfd_secret"))
    func aForkedChildHasNoSecrets() throws {
        #expect(try status("plain", "fork") == 1, "zeroes")
        #expect(try status("hidden", "fork") == 128 + SIGSEGV, "nothing is mapped there")
    }

    /// /proc/PID/mem is the kernel's own way in, which no permission keeps root from.
    @Test(.enabled(if: RunningKernel.hasHiddenMemory, "no memfd_secret"))
    func hiddenSecretsAreNotReadByTheKernelEither() throws {
        #expect(try status("plain", "proc") == 0, "so that the next line can fail")
        #expect(try status("hidden", "proc") == EIO)
    }
}
