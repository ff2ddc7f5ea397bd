internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Connections to the enclave process that listens in a run folder.
package final class RemoteEnclave: EnclaveConnector {
    private let runDirectory: String
    private let userID: UInt32
    /// Which process has to listen; nil: whichever does.
    private let process: Int32?
    private let clock: any KeychainClock
    /// Once a connection was made, all others are to the same store.
    private let expected: Mutex<ExpectedStore>

    /// - Parameters:
    ///   - runDirectory: a private folder of ours that holds `enclave.sock`.
    ///   - userID: whose process the enclave has to be; anything else is refused
    ///     before a byte is sent.
    package init(
        runDirectory: String, expecting expected: ExpectedStore, userID: UInt32, process: Int32? = nil,
        clock: any KeychainClock
    ) {
        self.runDirectory = runDirectory
        self.userID = userID
        self.process = process
        self.clock = clock
        self.expected = Mutex(expected)
    }

    /// A new connection with the store opened on it; waits 4 s at the most.
    ///
    /// - Throws: `errSecNotAvailable`: `enclaveUnreachable`, `enclaveSilent`, or what kept the
    ///   enclave from opening the keybag (`keybagUnreadable`, `storeMismatch`,
    ///   `storeNewer`, `versionMismatch` ...).
    package func connect() throws(KeychainError) -> any EnclaveConnection {
        let socket = try reach()
        let exchange = try EnclaveExchange(socket, clock)
        let connection = try RemoteEnclaveConnection(exchange, expecting: expected.withLock { $0 })
        expected.withLock { $0 = .named(connection.storeID) }
        return connection
    }

    /// Asks the enclave to end, which it does for the process that it serves and,
    /// while it serves none, for any of the user. Its socket is gone when this returns.
    package func askToLeave() throws(KeychainError) {
        let socket = try reach()
        let exchange = try EnclaveExchange(socket, clock)
        _ = try exchange.ask(.leave(true))
    }

    /// Whether a process of that user listens; nothing is sent.
    var isListening: Bool {
        do throws(KeychainError) {
            _ = try reach()
            return true
        } catch {
            return false
        }
    }

    /// A connection of which the other end is known to be the right user's.
    private func reach() throws(KeychainError) -> PacketSocket {
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory(runDirectory, creating: false)
        } catch {
            throw .enclaveUnreachable(error.description)
        }
        let listener: UInt32
        let socket: PacketSocket
        let isMeant: Bool
        do throws(SystemCallError) {
            socket = try PacketSocket.connectNow(to: EnclaveProtocol.socketName, in: folder.descriptor)
            listener = try socket.peerCredentials().uid
            isMeant =
                try process.map { process throws(SystemCallError) in try socket.isListenedOn(by: process) } ?? true
        } catch {
            throw .enclaveUnreachable(error.description)
        }
        guard isMeant else { throw .enclaveUnreachable("the enclave of another store listens in \(runDirectory)") }
        guard listener == userID else { throw .enclaveUnreachable("user \(listener) listens on the enclave's socket") }
        return socket
    }
}
