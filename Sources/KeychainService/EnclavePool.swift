internal import Enclave
internal import KeychainModel
internal import Synchronization

/// Connections to the enclave, each lent to one thread at a time.
final class EnclavePool: Sendable {
    private let connector: any EnclaveConnector
    private let idle = Mutex<[any EnclaveConnection]>([])

    init(_ connector: any EnclaveConnector) { self.connector = connector }

    /// Runs `body` with a connection; one that failed is not kept.
    func use<R>(_ body: (any EnclaveConnection) throws(KeychainError) -> R) throws(KeychainError) -> R {
        let connection = try take()
        let result = try body(connection)
        idle.withLock { $0.append(connection) }
        return result
    }

    private func take() throws(KeychainError) -> any EnclaveConnection {
        if let connection = idle.withLock({ $0.popLast() }) { return connection }
        return try connector.connect()
    }

    func close() { idle.withLock { $0 = [] } }
}
