@_implementationOnly import CLatchkeyPlatform
internal import Glibc
internal import Synchronization

/// Starts programs of ours for a process that gives up starting any (``Confinement``): a
/// child of it, forked before, that has a list of programs and starts nothing else.
///
/// It ends when its owner does, and its owner when it does (``end``).
package final class Starter: Sendable {
    /// What may be started, and with which environment; everything else is what
    /// ``DaemonStarter`` and ``ChildProcess`` say.
    package struct Program: Hashable, Sendable {
        package enum Kind: Sendable {
            case daemon
            case child
        }

        let path: String
        let environment: [String]
        let kind: Kind

        package init(_ path: String, as kind: Kind, environment: [String]) {
            self.path = path
            self.kind = kind
            self.environment = environment
        }
    }

    private let programs: [Program]
    /// One request at a time.
    private let socket: Mutex<Descriptor>
    /// Readable once the starter has ended: nothing can be started any more. nil where the
    /// system has no pidfds.
    package let end: Descriptor?

    /// Forks it.
    ///
    /// - Precondition: this process has no other thread yet.
    package init(for programs: [Program]) throws(SystemCallError) {
        precondition(programs.count < 256)
        self.programs = programs
        // Freed by nobody: the starter has them for as long as it lives.
        let table = unsafe programs.map { program in
            unsafe lk_startable(
                path: unsafe UnsafePointer(strdup(program.path)), environment: unsafe Self.words(program.environment),
                is_daemon: program.kind == .daemon ? 1 : 0)
        }
        var ended: Int32 = -1
        let raw = unsafe lk_fork_starter(
            table, Int32(table.count), CommandLine.unsafeArgv, CommandLine.argc, &ended)
        socket = Mutex(Descriptor(owning: try checked("fork", raw)))
        end = ended < 0 ? nil : Descriptor(owning: ended)
    }

    private static func words(_ words: [String]) -> UnsafePointer<UnsafeMutablePointer<CChar>?>? {
        let place = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { unsafe (place + index).initialize(to: strdup(word)) }
        unsafe (place + words.count).initialize(to: nil)
        return unsafe UnsafePointer(place)
    }

    /// As ``DaemonStarter/start(_:arguments:environment:keeping:)``.
    ///
    /// - Throws: EINVAL for a program that is not in the list.
    package func startDaemon(
        _ path: String, arguments: [String], keeping: Descriptor
    ) throws(SystemCallError) {
        _ = try ask(path, .daemon, arguments, keeping: keeping)
    }

    /// As ``ChildProcess/start(_:arguments:environment:third:fourth:)``, with the one
    /// descriptor, if any, as its third.
    ///
    /// - Throws: EINVAL for a program that is not in the list.
    package func startChild(
        _ path: String, arguments: [String], keeping: Descriptor? = nil
    ) throws(SystemCallError) -> ChildProcess {
        let started = try ask(path, .child, arguments, keeping: keeping)
        guard let handle = started.handle else { throw SystemCallError("start \(path)", errno: EINVAL) }
        return ChildProcess(processID: started.process, ofStarter: handle)
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
        let result = socket.withLock { socket in
            unsafe lk_ask_starter(socket.raw, Int32(index), words, words.count, keeping?.raw ?? -1, &raw)
        }
        let handle = raw >= 0 ? Descriptor(owning: raw) : nil
        return (try checked("start \(path)", result), handle)
    }
}
