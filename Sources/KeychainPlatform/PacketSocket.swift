@_implementationOnly import CLatchkeyPlatform

/// Who sent one datagram, as the kernel stamped it (SCM_CREDENTIALS).
package struct SenderCredentials: Hashable, Sendable {
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

/// What came beside the bytes of a datagram.
package struct PacketEnvelope: Sendable {
    package let byteCount: Int
    package let descriptor: Descriptor?
    package let descriptorCount: Int
    package let sender: SenderCredentials?
    /// The datagram was longer than the buffer: its rest is lost.
    package let isTruncated: Bool
}

/// How a receive waits, on a socket that waits.
package enum ReceivePatience: Int32, Sendable {
    case waiting = 0
    case now = 1
    /// Ends with EAGAIN also when a signal came, so that the caller looks at its
    /// deadline.
    case waitingOnce = 2
    /// What is there stays there.
    case looking = 3
}

/// One end of a Unix `SOCK_SEQPACKET` connection: one message, one sender, no
/// half-frames (unix(7)).
package final class PacketSocket: Sendable {
    package let descriptor: Descriptor

    package init(owning descriptor: Descriptor) { self.descriptor = descriptor }

    package static func pair() throws(SystemCallError) -> (PacketSocket, PacketSocket) {
        var both: (Int32, Int32) = (-1, -1)
        let result = unsafe withUnsafeMutableBytes(of: &both) { raw in
            unsafe lk_socketpair(raw.baseAddress!.assumingMemoryBound(to: Int32.self))
        }
        _ = try checked("socketpair", result)
        return (PacketSocket(owning: Descriptor(owning: both.0)), PacketSocket(owning: Descriptor(owning: both.1)))
    }

    /// Connects to the socket file `path`, at most 107 bytes long.
    package static func connect(to path: String) throws(SystemCallError) -> PacketSocket {
        let fd = Descriptor(owning: try checked("socket", lk_seqpacket_socket()))
        _ = try checked("connect", unsafe path.withCString { unsafe lk_connect(fd.raw, $0) })
        return PacketSocket(owning: fd)
    }

    /// Connects to the socket file `name` in an open directory, through
    /// /proc/self/fd, because a path in an address has room for 107 bytes only.
    package static func connect(to name: String, in directory: Descriptor) throws(SystemCallError) -> PacketSocket {
        try connect(to: "/proc/self/fd/\(directory.raw)/\(name)")
    }

    /// Listens at `name` in an open directory; every accepted connection stamps
    /// the sender on each message.
    package static func listen(at name: String, in directory: Descriptor) throws(SystemCallError) -> PacketSocket {
        let fd = Descriptor(owning: try checked("socket", lk_seqpacket_socket()))
        _ = try checked("setsockopt SO_PASSCRED", lk_pass_credentials(fd.raw))
        // Under another name until it listens: whoever sees the name can connect.
        let path = "/proc/self/fd/\(directory.raw)/\(name).new"
        _ = try checked("bind", unsafe path.withCString { unsafe lk_bind_listen(fd.raw, $0, 128) })
        _ = try checked("rename", unsafe lk_rename(directory.raw, "\(name).new", name))
        return PacketSocket(owning: fd)
    }

    /// The next connection; nil when there is none on a non-blocking socket.
    package func accept() throws(SystemCallError) -> PacketSocket? {
        let result = lk_accept(descriptor.raw)
        if result == -11 { return nil }  // EAGAIN
        return PacketSocket(owning: Descriptor(owning: try checked("accept4", result)))
    }

    package func stampSenders() throws(SystemCallError) {
        _ = try checked("setsockopt SO_PASSCRED", lk_pass_credentials(descriptor.raw))
    }

    /// Ends both directions; whoever waits on the socket wakes.
    package func shutDown() { _ = lk_shutdown(descriptor.raw) }

    /// Takes nothing more: what the other end sends from here on fails there with EPIPE, what it
    /// sent before can still be received, and what is sent to it still arrives (unix(7)).
    package func shutDownReceiving() { _ = lk_shutdown_receiving(descriptor.raw) }

    package func setNonBlocking(_ on: Bool) throws(SystemCallError) {
        _ = try checked("fcntl", lk_set_nonblocking(descriptor.raw, on ? 1 : 0))
    }

    /// Waits in every receive, `limit` at the most; it fails then with EAGAIN.
    package func waitInReceive(atMost limit: Duration) throws(SystemCallError) {
        try setNonBlocking(false)
        _ = try checked("setsockopt SO_RCVTIMEO", lk_set_receive_limit(descriptor.raw, limit.wholeNanoseconds))
    }

    /// Sends one datagram made of three parts, with at most one descriptor; never
    /// waits.
    package func send(
        _ prefix: UnsafeRawBufferPointer, _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer,
        descriptor passed: Descriptor? = nil
    ) throws(SystemCallError) {
        let result = unsafe lk_send(
            descriptor.raw, prefix.baseAddress, prefix.count, head.baseAddress, head.count, tail.baseAddress,
            tail.count, passed?.raw ?? -1, 1)
        _ = try checked("sendmsg", result)
    }

    package func send(_ bytes: [UInt8], descriptor passed: Descriptor? = nil) throws(SystemCallError) {
        let result = unsafe bytes.withUnsafeBytes { buffer in
            unsafe lk_send(descriptor.raw, buffer.baseAddress, buffer.count, nil, 0, nil, 0, passed?.raw ?? -1, 0)
        }
        _ = try checked("sendmsg", result)
    }

    /// Receives one datagram into `buffer`; nil when the other end has closed.
    /// Descriptors beyond the first are closed.
    ///
    package func receive(
        into buffer: UnsafeMutableRawBufferPointer, _ patience: ReceivePatience = .waiting
    ) throws(SystemCallError) -> PacketEnvelope? {
        var about = lk_received()
        let got = try checked(
            "recvmsg", unsafe lk_receive(descriptor.raw, buffer.baseAddress, buffer.count, patience.rawValue, &about))
        let passed = about.descriptor >= 0 ? Descriptor(owning: about.descriptor) : nil
        if got == 0 && about.descriptors == 0 { return nil }
        return PacketEnvelope(
            byteCount: Int(got), descriptor: passed, descriptorCount: Int(about.descriptors),
            sender: about.has_credentials != 0
                ? SenderCredentials(pid: about.pid, uid: about.uid, gid: about.gid) : nil,
            isTruncated: about.truncated != 0)
    }

    /// Whether that process listens at the other end; in a foreign pid namespace
    /// nobody can tell, and the user id has to do.
    package func isListenedOn(by process: Int32) throws(SystemCallError) -> Bool {
        let peer = try peerCredentials().pid
        return peer == process || peer == 0
    }

    /// The process at the other end when it connected (SO_PEERCRED): effective ids.
    package func peerCredentials() throws(SystemCallError) -> SenderCredentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        _ = try checked("getsockopt SO_PEERCRED", unsafe lk_peer_credentials(descriptor.raw, &pid, &uid, &gid))
        return SenderCredentials(pid: pid, uid: uid, gid: gid)
    }
}
