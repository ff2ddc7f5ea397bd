package import KeychainPlatform
internal import KeychainProtocol

/// The system bus, as the enclave reaches it.
package protocol SystemBusDoor: Sendable {
    /// Somebody who answers one ``BusRequest`` and what belongs to it.
    ///
    /// - Throws: where nobody can be started.
    func open() throws(SystemCallError) -> PacketSocket
}

/// For an enclave whose programs are not all installed.
package struct NoSystemBus: SystemBusDoor {
    package init() {}

    package func open() throws(SystemCallError) -> PacketSocket {
        throw .noProgram
    }
}

/// A process of `latchkey-bus` for each request, which ends with its socket: what hangs
/// or crashes there costs that process alone.
package struct BusProgram: SystemBusDoor {
    /// The program's name; it lies beside the enclave.
    package static let programName = "latchkey-bus"

    private let path: String
    private let spawner: ProgramSpawner

    /// - Parameter path: in the spawner's list as a peer.
    package init(at path: String, by spawner: ProgramSpawner) {
        self.path = path
        self.spawner = spawner
    }

    package func open() throws(SystemCallError) -> PacketSocket { try spawner.startPeer(path) }
}
