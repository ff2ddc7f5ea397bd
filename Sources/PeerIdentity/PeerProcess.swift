package import KeychainPlatform

/// The process at the other end of a connection, and what the kernel said of it.
///
/// **The threat.** Linux tells a server the number of the process that
/// connected, and nothing about which program that number stands for by the
/// time somebody looks. An attacker connects and then (a) hands the connection
/// to a child and turns itself into a trusted program; (b) turns itself into a
/// trusted launcher that starts the attacker again, so that number and pidfd
/// stay the same; (c) ends, so that its number is given to somebody else;
/// (d) runs a trusted program with the connection as its standard output.
///
/// **The answer**, in this order and no other: the process is pinned (a pidfd,
/// against c); its memory map is opened and kept, before anything is believed;
/// then executable, namespaces, tracer and control group are read; only then is
/// the nonce sent (``HelloExchange``, against d). A message counts only if the
/// kernel stamped it with the pinned process (``accepts(_:)``, against a), and a
/// value leaves only if the memory map that was opened at the start is still in
/// use (``hasNotExeced()``, against b).
///
/// **What it does not answer.** A process whose address space another one shares
/// (vfork, CLONE_VM) keeps its map alive across an exec; the check of the
/// executable at the end of the hello narrows that and does not close it. All of
/// it is about programs of one user; root is outside.
package final class PeerProcess: Sendable {
    package let processID: Int32
    /// The effective user at connect(2).
    package let userID: UInt32
    package let credentials: ProcessCredentials
    /// What this kernel could not tell.
    package let missingFeatures: [KernelFeature]
    /// Nil for a process that may not be looked at (not dumpable).
    let evidence: PeerEvidence?

    let handle: ProcessHandle
    private let maps: Descriptor?
    /// `/proc/PID/stat`.
    private let stat: Descriptor?
    let proc: ProcRoot

    /// Whether its control group is a path from the machine's root.
    var seesWholeHierarchy: Bool { proc.hierarchy == .whole }

    private init(
        _ pin: Pin, _ credentials: ProcessCredentials, _ maps: Descriptor?, _ stat: Descriptor?,
        _ evidence: PeerEvidence?, _ proc: ProcRoot
    ) {
        processID = pin.connector.pid
        userID = pin.connector.uid
        handle = pin.handle
        missingFeatures = KernelFeature.allCases.filter { !pin.features.contains($0) }
        self.credentials = credentials
        self.maps = maps
        self.stat = stat
        self.evidence = evidence
        self.proc = proc
    }

    /// Looks at the process that connected, before a byte is exchanged with it.
    package static func identify(
        _ socket: PacketSocket, features: KernelFeatures, proc: ProcRoot
    ) throws(PeerRefusal) -> PeerProcess {
        var pin = try Pin(socket, features, proc)
        let maps = try pin.folder?.openMaps()
        let stat = try pin.folder?.openRecord()
        let status = try pin.folder?.status()
        let credentials = try pin.credentials(or: status)
        guard credentials.effectiveUser == pin.connector.uid else { throw .credentialsChanged }
        var evidence: PeerEvidence?
        if let folder = pin.folder, let status, maps != nil { evidence = try .gather(from: folder, status, proc) }
        let peer = PeerProcess(pin, credentials, maps, stat, evidence, proc)
        guard peer.handle.isAlive else { throw .gone }
        guard peer.hasNotExeced() else { throw .replacedItself }
        return peer
    }

    /// `/proc/PID/stat`, open, of a process that is its user's through and through; to be
    /// read by whoever asks a person on its behalf.
    package var ownRecord: Descriptor? { credentials.realUser == userID ? stat : nil }

    /// What its record says now; nil where it has ended.
    func record() -> ProcessRecord? {
        guard let stat else { return nil }
        do throws(SystemCallError) { return ProcessRecord(try stat.readOnce(atMost: 4 * 1024)) } catch { return nil }
    }

    /// Whether the kernel stamped a message with the process that connected, and
    /// that still runs. For every message; 0.6 µs.
    ///
    /// While it runs nobody else has its number, so the number is enough. The
    /// stamped user is the real one and may differ from ``userID``.
    package func accepts(_ sender: SenderCredentials?) -> Bool {
        guard let sender, sender.pid == processID else { return false }
        return handle.isAlive
    }

    /// Whether the process is still the program that was looked at. Before every
    /// answer that carries a value; 1.3 µs.
    ///
    /// A process that could not be looked at has nothing to lose by an exec, so
    /// there it is only asked whether it runs.
    package func hasNotExeced() -> Bool { maps.map(\.hasFirstByte) ?? handle.isAlive }

    /// ``hasNotExeced()`` and the executable is the one that was looked at: once,
    /// when the nonce has come back.
    package func isStillTheSameProgram() -> Bool {
        guard hasNotExeced(), handle.isAlive else { return false }
        guard let evidence else { return true }
        do throws(SystemCallError) {
            let now = try FileStatus(at: FilePath("\(processID)/exe"), in: proc.folder, followingLink: true)
            return now.identity == evidence.executable.file && handle.isAlive
        } catch {
            return false
        }
    }
}
