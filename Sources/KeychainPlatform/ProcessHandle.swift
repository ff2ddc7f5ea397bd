@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A pidfd: one process for good, whatever its number names later (pidfd_open(2)).
///
/// It says nothing about exec: the program of a process can change under its pidfd.
package final class ProcessHandle: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// The process that connected (SO_PEERPIDFD, Linux 6.5), or nil where the
    /// kernel does not know the option.
    package static func peer(of socket: PacketSocket) throws(SystemCallError) -> ProcessHandle? {
        let result = lk_peer_pidfd(socket.descriptor.raw)
        // Not EINVAL: that is what Linux 6.5 answers for a process that has gone.
        if result == -ENOPROTOOPT { return nil }
        return ProcessHandle(Descriptor(owning: try checked("getsockopt SO_PEERPIDFD", result)))
    }

    /// The process that has this number now.
    package static func open(_ processID: Int32) throws(SystemCallError) -> ProcessHandle {
        ProcessHandle(Descriptor(owning: try checked("pidfd_open", lk_pidfd_open(processID))))
    }

    /// Whether it still runs. A zombie does not; signal 0 would say it does.
    package var isAlive: Bool { lk_has_ended(descriptor.raw) == 0 }

    /// Becomes readable when the process has ended, and stays so (pidfd_open(2)).
    package var end: Descriptor { descriptor }

    /// Its ids now (PIDFD_GET_INFO, Linux 6.13), or nil where the kernel does
    /// not know the request.
    package func credentials() throws(SystemCallError) -> ProcessCredentials? {
        var info = lk_pidfd_info()
        let result = unsafe lk_pidfd_info(descriptor.raw, &info)
        if result == -ENOTTY || result == -EINVAL || result == -EOPNOTSUPP { return nil }
        _ = try checked("ioctl PIDFD_GET_INFO", result)
        return ProcessCredentials(
            realUser: info.ruid, effectiveUser: info.euid, realGroup: info.rgid, effectiveGroup: info.egid)
    }

    /// Whether pidfds have inodes of their own (Linux 6.9).
    package var isOnPidfs: Bool { lk_is_pidfs(descriptor.raw) == 1 }
}

/// The user and group ids of a process (credentials(7)).
package struct ProcessCredentials: Hashable, Sendable {
    package let realUser: UInt32
    package let effectiveUser: UInt32
    package let realGroup: UInt32
    package let effectiveGroup: UInt32

    package init(realUser: UInt32, effectiveUser: UInt32, realGroup: UInt32, effectiveGroup: UInt32) {
        self.realUser = realUser
        self.effectiveUser = effectiveUser
        self.realGroup = realGroup
        self.effectiveGroup = effectiveGroup
    }
}

extension PacketSocket {
    /// Whether a receive would bring something at once: a message, the end of
    /// the connection or an error.
    package var hasArrived: Bool { lk_has_arrived(descriptor.raw) != 0 }

    /// Whether the other end has hung up and left nothing to receive.
    package var hasEndedInSilence: Bool { lk_has_ended_in_silence(descriptor.raw) != 0 }
}
