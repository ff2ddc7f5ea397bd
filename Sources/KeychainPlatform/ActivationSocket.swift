@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// The one listening socket that a service manager hands to a program:
/// sd_listen_fds(3), systemd.socket(5). The manager keeps it when the program
/// leaves, and starts it again for whoever connects then.
package enum ActivationSocket {
    /// SD_LISTEN_FDS_START, sd_listen_fds(3).
    private static let firstDescriptor: Int32 = 3
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]

    /// Why what was handed over is no socket for a program of ours.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case foreignProcess(named: String)
        case notOne(count: String)
        case noSocket
        case otherType(wanted: String)
        case notListening
        case system(SystemCallError)

        package var description: String {
            switch self {
            case .foreignProcess(let named):
                "LISTEN_PID names process \(named) and not this one: start the program itself, not through a shell"
            case .notOne(let count):
                "LISTEN_FDS is \(count): give exactly one socket, by one Listen…= line of the unit"
            case .noSocket: "descriptor 3 is no socket, although LISTEN_FDS says so"
            case .otherType(let wanted): "the socket is of another type: it takes \(wanted)= with a path"
            case .notListening: "the socket does not listen: Accept=no is needed"
            case .system(let error): "the socket cannot be used: \(error)"
            }
        }
    }

    /// A socket of packets, which ours are; nil where nobody handed one over.
    package static func take() throws(Refusal) -> PacketSocket? {
        guard let descriptor = try take(.packets) else { return nil }
        let socket = PacketSocket(owning: descriptor)
        do throws(SystemCallError) {
            try socket.setNonBlocking(true)
            try socket.stampSenders()
        } catch { throw .system(error) }
        return socket
    }

    /// A stream socket, for the protocols of others; nil where nobody handed one to this
    /// process: who starts such a program may have had one itself, and says so still.
    package static func takeStream() throws(Refusal) -> StreamListener? {
        guard ProcessEnvironment.variable("LISTEN_PID") == "\(getpid())" else {
            forgetVariables()
            return nil
        }
        guard let descriptor = try take(.stream) else { return nil }
        do throws(SystemCallError) { return try StreamListener(owning: descriptor) } catch { throw .system(error) }
    }

    private enum Kind {
        case packets
        case stream

        var type: Int32 { Int32(self == .packets ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue) }
        /// What a unit calls it.
        var setting: String { self == .packets ? "ListenSequentialPacket" : "ListenStream" }
    }

    /// Forgets the variables, so that no child takes them for its own.
    private static func take(_ kind: Kind) throws(Refusal) -> Descriptor? {
        let (process, count) = (ProcessEnvironment.variable("LISTEN_PID"), ProcessEnvironment.variable("LISTEN_FDS"))
        forgetVariables()
        guard process != nil || count != nil else { return nil }
        guard process == "\(getpid())" else { throw .foreignProcess(named: shown(process)) }
        guard count == "1" else { throw .notOne(count: shown(count)) }
        guard let descriptor = Descriptor.inherited(firstDescriptor) else { throw .noSocket }
        try check(descriptor, is: kind)
        return descriptor
    }

    private static func forgetVariables() {
        for name in variables { _ = unsafe unsetenv(name) }
    }

    /// Nothing of somebody else's variable is repeated but a number.
    private static func shown(_ value: String?) -> String {
        guard let value else { return "not set" }
        return Int32(value) != nil ? value : "no number"
    }

    private static func check(_ descriptor: Descriptor, is wanted: Kind) throws(Refusal) {
        var kind = lk_socket_kind()
        let result = unsafe lk_socket_kind(descriptor.raw, &kind)
        guard result != -ENOTSOCK else { throw .noSocket }
        guard result == 0 else { throw .system(SystemCallError("getsockopt", errno: -result)) }
        guard kind.domain == AF_UNIX, kind.type == wanted.type else { throw .otherType(wanted: wanted.setting) }
        guard kind.listens != 0 else { throw .notListening }
    }
}

extension PacketSocket {
    /// Makes this process the one that whoever connects from now on sees as the
    /// listener: listen(2) on a socket that listens already notes who called it,
    /// and connect(2) copies that for SO_PEERCRED (Linux, net/unix/af_unix.c,
    /// unix_listen). The queue becomes as long as the system allows.
    package func listenAnew() throws(SystemCallError) {
        _ = try checked("listen", lk_listen(descriptor.raw, .max))
    }

    /// The path that a socket is bound to, nil where there is none.
    package func boundPath() throws(SystemCallError) -> FilePath? {
        // sizeof sun_path (unix(7)).
        var bytes = [CChar](repeating: 0, count: 108)
        let count = try checked("getsockname", unsafe lk_socket_path(descriptor.raw, &bytes, bytes.count))
        return count == 0 ? nil : FilePath(bytes: bytes.prefix(Int(count)).map { UInt8(bitPattern: $0) })
    }
}
