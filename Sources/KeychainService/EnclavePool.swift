internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// Connections to the enclave, each lent to one thread at a time.
final class EnclavePool: Sendable {
    private let connector: any EnclaveConnector
    private let clock: any KeychainClock
    private let idle = Mutex<[any EnclaveConnection]>([])
    private let silence = Mutex(EnclaveSilence())

    init(_ connector: any EnclaveConnector, clock: any KeychainClock) {
        self.connector = connector
        self.clock = clock
    }

    /// Runs `body` with a connection; one that failed is not kept. Every call of
    /// the enclave can be made twice, so an enclave that went away in the
    /// meantime is asked again through a new connection; one that is silent is not.
    ///
    /// - Throws: what `body` throws; `errSecNotAvailable`, reason `enclaveSilent`,
    ///   at once while the enclave answers nobody.
    func use<R>(_ body: (any EnclaveConnection) throws(KeychainError) -> R) throws(KeychainError) -> R {
        guard silence.withLock({ $0.admits(at: { clock.monotonic }) }) else { throw EnclaveSilence.failure }
        do throws(KeychainError) {
            let result = try ask(body)
            silence.withLock { $0.ended(nil, at: { clock.monotonic }) }
            return result
        } catch {
            silence.withLock { $0.ended(error, at: { clock.monotonic }) }
            throw error
        }
    }

    /// As ``use(_:)``, for what waits for the enclave's disk: however long that takes, the
    /// enclave is no silent one, and nobody finds out by it whether it is.
    func waitForDisk<R>(
        _ body: (any EnclaveConnection) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard silence.withLock({ $0.isAnswering }) else { throw EnclaveSilence.failure }
        return try ask(body)
    }

    private func ask<R>(_ body: (any EnclaveConnection) throws(KeychainError) -> R) throws(KeychainError) -> R {
        do throws(KeychainError) {
            return try run(body, on: take())
        } catch {
            guard error.reason == .enclaveUnreachable else { throw error }
            dropIdle()
            return try run(body, on: connector.connect())
        }
    }

    private func run<R>(
        _ body: (any EnclaveConnection) throws(KeychainError) -> R, on connection: any EnclaveConnection
    ) throws(KeychainError) -> R {
        let result = try body(connection)
        idle.withLock { $0.append(connection) }
        return result
    }

    private func take() throws(KeychainError) -> any EnclaveConnection {
        if let connection = idle.withLock({ $0.popLast() }) { return connection }
        return try connector.connect()
    }

    /// A connection that no call is made on, for whoever waits on it.
    func connectApart() throws(KeychainError) -> any EnclaveConnection { try connector.connect() }

    private func dropIdle() { idle.withLock { $0 = [] } }

    func close() {
        dropIdle()
        connector.close()
    }
}
