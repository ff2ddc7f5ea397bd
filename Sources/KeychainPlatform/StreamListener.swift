@_implementationOnly import CLatchkeyPlatform

/// A Unix stream socket that others connect to, for the protocols of others; ours are
/// of packets (``PacketSocket``).
package final class StreamListener: Sendable {
    /// Readable when somebody connects.
    package let descriptor: Descriptor

    /// Of a socket that listens already: a service manager's.
    package init(owning descriptor: Descriptor) throws(SystemCallError) {
        self.descriptor = descriptor
        _ = try checked("fcntl", lk_set_nonblocking(descriptor.raw, 1))
    }

    /// Connections that nobody has taken yet: GLib's clients do not come again where there is no
    /// room. The kernel's own limit is lower where it is set so (listen(2), net.core.somaxconn).
    private static let mostWaiting: Int32 = 4096

    /// Listens at `name` in an open directory, which nobody else can enter.
    package convenience init(at name: String, in directory: Descriptor) throws(SystemCallError) {
        let socket = Descriptor(owning: try checked("socket", lk_stream_socket()))
        // A path in an address has room for 107 bytes only (unix(7)).
        let path = "/proc/self/fd/\(directory.raw)/\(name)"
        _ = try checked("bind", unsafe path.withCString { unsafe lk_bind_listen(socket.raw, $0, Self.mostWaiting) })
        try self.init(owning: socket)
    }

    /// Whether somebody has a socket at a path. It is looked for without a connection: a
    /// service manager would start what it listens for.
    package static func isThere(at path: String) throws(SystemCallError) -> Bool {
        let table = try readAll(Descriptor.look(at: FilePath("/proc/net/unix"), .reading), atMost: 16 << 20)
        let end = Array(" \(path)".utf8)
        return table.split(separator: UInt8(ascii: "\n")).contains { $0.suffix(end.count).elementsEqual(end) }
    }

    /// The next connection; nil where there is none.
    package func accept() throws(SystemCallError) -> Descriptor? {
        let result = lk_accept(descriptor.raw)
        if result == -11 { return nil }  // EAGAIN
        return Descriptor(owning: try checked("accept4", result))
    }
}
