internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainService
internal import Synchronization

/// What every scope of one test keychain shares: the engine over a folder of its
/// own. The keys are in memory only and outlive a restart of the engine.
final class TestMachine: Sendable {
    private let clock: TestClock
    private let enclave: InProcessEnclave
    private let folder: TestFolder
    private let running: Mutex<KeychainEngine?>

    init(clock: TestClock) throws(KeychainError) {
        self.clock = clock
        enclave = try InProcessEnclave.ephemeral()
        folder = try TestFolder()
        running = Mutex(try Self.start(folder, enclave, clock))
    }

    private static func start(
        _ folder: TestFolder, _ enclave: InProcessEnclave, _ clock: TestClock
    ) throws(KeychainError) -> KeychainEngine {
        try KeychainEngine.open(dataDirectory: folder.path, clock: clock) { _ in enclave }
    }

    deinit { close() }

    /// - Throws: `errSecNotAvailable` once the keychain is closed.
    func engine() throws(KeychainError) -> KeychainEngine {
        guard let engine = running.withLock({ $0 }) else {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "this TestKeychain is closed")
        }
        return engine
    }

    /// Stops the engine; what it stored is still there for ``restart()``.
    ///
    /// A database that cannot be closed is left behind with its folder.
    func close() {
        let engine = running.withLock { engine in
            defer { engine = nil }
            return engine
        }
        do throws(KeychainError) { try engine?.close() } catch {
            StandardError.write("latchkey: a test keychain was not closed: \(error)\n")
        }
    }

    func restart() throws(KeychainError) {
        close()
        let fresh = try Self.start(folder, enclave, clock)
        running.withLock { $0 = fresh }
    }

    /// Restarts over a database whose pages were overwritten; where that does not
    /// open, every later call says so.
    func insecureCorruptDatabase() throws {
        close()
        try StoreSabotage.insecureCorruptDatabase(inDataDirectory: folder.path)
        try restart()
    }
}
