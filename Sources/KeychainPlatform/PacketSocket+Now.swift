@_implementationOnly import CLatchkeyPlatform

extension PacketSocket {
    /// Connects as ``connect(to:in:)`` does, but never waits: a listener that
    /// accepts nothing and whose queue is full is EAGAIN (connect(2)).
    package static func connectNow(to name: String, in directory: Descriptor) throws(SystemCallError) -> PacketSocket {
        let fd = Descriptor(owning: try checked("socket", lk_seqpacket_socket()))
        _ = try checked("fcntl", lk_set_nonblocking(fd.raw, 1))
        let path = "/proc/self/fd/\(directory.raw)/\(name)"
        _ = try checked("connect", unsafe path.withCString { unsafe lk_connect(fd.raw, $0) })
        return PacketSocket(owning: fd)
    }
}
