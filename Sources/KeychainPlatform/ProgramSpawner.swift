@_implementationOnly import CLatchkeyPlatform
internal import Glibc
internal import Synchronization

/// Starts programs of ours for a process that gives up starting any (``Confinement``): a
/// child of it, forked before it has a thread or a secret, that has a list of programs
/// and starts nothing else.
///
/// A spare, its own child, takes its place where it is killed, and makes another. Both end
/// with whoever holds this; ``end`` says that none is left.
package final class ProgramSpawner: Sendable {
    /// What may be started, and with which environment; everything else is what
    /// ``DaemonStarter`` and ``ChildProcess`` say.
    package struct Program: Hashable, Sendable {
        package enum Kind: Sendable {
            case daemon
            case child
            /// Whose descriptor 3 is one end of a socket; we get the other.
            case peer

            fileprivate var number: Int32 {
                switch self {
                case .child: Int32(LK_AS_CHILD)
                case .daemon: Int32(LK_AS_DAEMON)
                case .peer: Int32(LK_AS_PEER)
                }
            }
        }

        package let path: String
        let environment: [String]
        let kind: Kind

        package init(_ path: String, as kind: Kind, environment: [String]) {
            self.path = path
            self.kind = kind
            self.environment = environment
        }
    }

    /// One question at a time.
    private struct Line {
        let socket: Descriptor
        var asked: UInt32 = 0
    }

    private let programs: [Program]
    private let line: Mutex<Line>
    /// Readable once it has ended with its spare: nothing can be started any more.
    package let end: Descriptor

    /// Forks it.
    ///
    /// - Parameter patience: how long an answer may take; a program is started in a few
    ///   milliseconds.
    /// - Precondition: this process has no other thread yet.
    package init(for programs: [Program], patience: Duration = .seconds(5)) throws(SystemCallError) {
        self.programs = programs
        // Freed by nobody: the spawner has them for as long as it lives.
        let table = unsafe programs.map { program in
            unsafe lk_startable(
                path: unsafe UnsafePointer(strdup(program.path)), environment: unsafe Self.words(program.environment),
                kind: program.kind.number)
        }
        var ended: Int32 = -1
        let raw = unsafe lk_fork_spawner(table, Int32(table.count), &ended)
        let socket = Descriptor(owning: try checked("fork", raw))
        end = Descriptor(owning: ended)
        _ = try checked("setsockopt SO_RCVTIMEO", lk_set_receive_limit(socket.raw, patience.wholeNanoseconds))
        line = Mutex(Line(socket: socket))
    }

    private static func words(_ words: [String]) -> UnsafePointer<UnsafeMutablePointer<CChar>?>? {
        let place = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { unsafe (place + index).initialize(to: strdup(word)) }
        unsafe (place + words.count).initialize(to: nil)
        return unsafe UnsafePointer(place)
    }

    /// What to do where a program cannot be started because none is left (EPIPE).
    package static func advice(_ program: String) -> String {
        "what starts \(program) was ended; `latchkey lock --stop`, and any command after it, brings it back"
    }

    /// As ``DaemonStarter/start(_:arguments:environment:keeping:)``.
    ///
    /// - Throws: EINVAL for a program that is not in the list, ETIMEDOUT where there was
    ///   no answer in time; it may be started all the same.
    package func startDaemon(
        _ path: String, arguments: [String], keeping: Descriptor
    ) throws(SystemCallError) {
        _ = try ask(path, .daemon, arguments, keeping: keeping)
    }

    /// As ``ChildProcess/start(_:arguments:environment:third:fourth:)``, with the one
    /// descriptor, if any, as its third.
    ///
    /// - Throws: as ``startDaemon(_:arguments:keeping:)``.
    package func startChild(
        _ path: String, arguments: [String], keeping: Descriptor? = nil
    ) throws(SystemCallError) -> ChildProcess {
        let started = try ask(path, .child, arguments, keeping: keeping)
        guard let handle = started.handle else { throw SystemCallError("start \(path)", errno: EINVAL) }
        return ChildProcess(processID: started.process, ofSpawner: handle)
    }

    /// A process of its own that ends with the socket, which it has as its descriptor 3;
    /// without arguments. This process makes no socket for it.
    ///
    /// - Throws: as ``startDaemon(_:arguments:keeping:)``.
    package func startPeer(_ path: String) throws(SystemCallError) -> PacketSocket {
        guard let socket = try ask(path, .peer, [], keeping: nil).handle else {
            throw SystemCallError("start \(path)", errno: EINVAL)
        }
        return PacketSocket(owning: socket)
    }

    private func ask(
        _ path: String, _ kind: Program.Kind, _ arguments: [String], keeping: Descriptor?
    ) throws(SystemCallError) -> (process: Int32, handle: Descriptor?) {
        guard let index = programs.firstIndex(where: { $0.path == path && $0.kind == kind }) else {
            throw SystemCallError("start \(path)", errno: EINVAL)
        }
        var words: [UInt8] = []
        for argument in arguments { words += Array(argument.utf8) + [0] }
        var raw: Int32 = -1
        let result = line.withLock { line in
            line.asked &+= 1
            return unsafe lk_ask_spawner(
                line.socket.raw, line.asked, Int32(index), words, words.count, keeping?.raw ?? -1, &raw)
        }
        let handle = raw >= 0 ? Descriptor(owning: raw) : nil
        return (try checked("start \(path)", result), handle)
    }
}
