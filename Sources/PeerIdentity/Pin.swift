internal import KeychainPlatform

/// The connector, held so that its number cannot come to mean another process.
struct Pin {
    let connector: SenderCredentials
    let handle: ProcessHandle
    /// nil where the kernel shows nothing of a process that hides (proc(5), "hidepid").
    let folder: ProcessFolder?
    /// What may be used and the kernel really has.
    private(set) var features: KernelFeatures

    init(_ socket: PacketSocket, _ allowed: KernelFeatures, _ proc: ProcRoot) throws(PeerRefusal) {
        // Written down by the kernel at connect(2); when it is read does not matter.
        connector = try refusing { () throws(SystemCallError) in try socket.peerCredentials() }
        guard connector.pid > 0 else { throw .foreignProcessNamespace }
        features = allowed
        if allowed.contains(.peerPidfd), let peer = try Self.peer(of: socket) {
            handle = peer
            folder = try Self.visibleFolder(connector.pid, proc)
        } else {
            features = features.without(.peerPidfd)
            (handle, folder) = try Self.byNumber(connector.pid, proc)
        }
        if allowed.contains(.pidfs), !handle.isOnPidfs { features = features.without(.pidfs) }
        // The folder was opened by number: alive now means it was the peer's then.
        guard handle.isAlive else { throw .gone }
    }

    private static func visibleFolder(_ number: Int32, _ proc: ProcRoot) throws(PeerRefusal) -> ProcessFolder? {
        do throws(PeerRefusal) { return try ProcessFolder(of: number, in: proc) } catch {
            // One that has ended is told by its pidfd.
            if case .gone = error { return nil }
            throw error
        }
    }

    private static func peer(of socket: PacketSocket) throws(PeerRefusal) -> ProcessHandle? {
        do throws(SystemCallError) {
            return try ProcessHandle.peer(of: socket)
        } catch {
            throw error.isOfEndedProcess ? .gone : .system(error)
        }
    }

    /// Without SO_PEERPIDFD: whoever has the number now, the same before and
    /// after the pidfd was opened. Whether that is the connector or somebody who
    /// got its number later shows when it answers: only a holder of the
    /// connection can, and its message is stamped.
    private static func byNumber(
        _ number: Int32, _ proc: ProcRoot
    ) throws(PeerRefusal) -> (ProcessHandle, ProcessFolder) {
        let before = try ProcessFolder(of: number, in: proc).record().startTime
        let handle: ProcessHandle
        do throws(SystemCallError) {
            handle = try ProcessHandle.open(number)
        } catch {
            throw error.isOfEndedProcess ? .gone : .system(error)
        }
        let folder = try ProcessFolder(of: number, in: proc)
        guard try folder.record().startTime == before else { throw .gone }
        return (handle, folder)
    }

    /// The ids of the process now, from the pidfd or from its status file.
    ///
    /// - Throws: `gone` for a process that neither tells of.
    mutating func credentials(or status: ProcessStatus?) throws(PeerRefusal) -> ProcessCredentials {
        guard features.contains(.pidfdInfo) else { return try Self.credentials(status) }
        do throws(SystemCallError) {
            if let found = try handle.credentials() { return found }
        } catch {
            throw error.isOfEndedProcess ? .gone : .system(error)
        }
        features = features.without(.pidfdInfo)
        return try Self.credentials(status)
    }

    private static func credentials(_ status: ProcessStatus?) throws(PeerRefusal) -> ProcessCredentials {
        guard let status else { throw .gone }
        return status.credentials
    }
}

extension SystemCallError {
    /// EINVAL: what Linux 6.5 answers to SO_PEERPIDFD and pidfd_open for a
    /// process that has been waited for.
    fileprivate var isOfEndedProcess: Bool { isNoSuchProcess || errno == 22 }
}
