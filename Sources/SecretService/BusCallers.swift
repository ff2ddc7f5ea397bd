internal import KeychainModel
internal import KeychainPlatform
internal import MessageBus

/// Which program each connection of a bus is, as far as its bare process number says:
/// looked at with its first call, and forgotten with its end.
///
/// The number may be another process's by then, and a program may have become another
/// since: nothing is granted for it.
struct BusCallers {
    private var known: [String: ServedProgram] = [:]
    /// Connections that are remembered; who comes after that many is looked at each time.
    private static let most = 4096

    /// nil where nobody can tell any more.
    mutating func program(of call: BusCall) -> ServedProgram? {
        if let known = known[call.sender] { return known }
        guard let process = call.process else { return nil }
        let program = ServedProgram(path: Self.path(of: process), process: process)
        if known.count < Self.most { known[call.sender] = program }
        return program
    }

    mutating func forget(_ connection: String) { known[connection] = nil }

    /// What the kernel puts behind the path of a program that was replaced since (proc_pid_exe(5)).
    private static let replaced = " (deleted)"

    /// Of what the process runs; empty where that cannot be seen, or cannot be shown.
    private static func path(of process: Int32) -> String {
        do throws(SystemCallError) {
            let path =
                try Descriptor.look(at: FilePath("/proc/\(process)"), .folder).linkTarget(FilePath("exe")).printable
                ?? ""
            return path.hasSuffix(replaced) ? String(path.dropLast(replaced.count)) : path
        } catch { return "" }
    }
}
