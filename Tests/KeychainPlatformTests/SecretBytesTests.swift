import KeychainPlatform
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
}
