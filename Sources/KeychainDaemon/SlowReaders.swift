internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// The connections whose worker waits until their client reads. Two workers in
/// eight never do: where one more would have to, the connection that has waited
/// longest ends, before its five seconds are over.
final class SlowReaders: Sendable {
    private let most: Int
    /// The longest waiting first.
    private let waiting = Mutex<[ClientConnection]>([])

    init(workers: Int) { most = max(1, workers - max(1, workers / 4)) }

    func begin(_ connection: ClientConnection) {
        let longest = waiting.withLock { waiting -> ClientConnection? in
            guard !waiting.contains(where: { $0 === connection }) else { return nil }
            waiting.append(connection)
            return waiting.count > most ? waiting.removeFirst() : nil
        }
        // Whoever waits on its socket wakes, and finds it closed.
        longest?.channel.socket.shutDown()
    }

    func end(_ connection: ClientConnection) {
        waiting.withLock { $0.removeAll { $0 === connection } }
    }
}
