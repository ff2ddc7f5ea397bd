internal import KeychainModel
internal import KeychainPlatform
internal import MessageBus

/// Which program each connection of a bus is, as far as its process says: looked at with
/// its first call, and forgotten with its end.
///
/// Where the bus gives a process descriptor, what is looked at is the process that connected
/// or nothing: one that has ended is nobody, whoever has its number now or its connection.
/// Of a bare number that is not sure. In either case a program may have become another since:
/// nothing is granted for it.
struct BusCallers {
    private var known: [String: ServedProgram] = [:]
    /// Connections that are remembered; who comes after that many is looked at each time.
    private static let most = 4096

    /// nil where nobody can tell any more.
    mutating func program(of call: BusCall) -> ServedProgram? {
        switch call.caller {
        case .unknown: return nil
        case .ended(let number): return Self.ended(number)
        case .numbered(let number): return program(number, .number, as: call.sender)
        case .held(let process, let number):
            let program = program(number, .descriptor, as: call.sender)
            // By its number: alive now means that it was this process that was looked at.
            guard process.isAlive else {
                forget(call.sender)
                return Self.ended(number)
            }
            return program
        }
    }

    private mutating func program(
        _ process: Int32, _ evidence: ServedProgram.Evidence, as name: String
    ) -> ServedProgram {
        if let known = known[name] { return known }
        let program = ServedProgram(path: Self.path(of: process), process: process, evidence: evidence)
        if known.count < Self.most { known[name] = program }
        return program
    }

    private static func ended(_ process: Int32) -> ServedProgram {
        ServedProgram(path: "", process: process, evidence: .ended)
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
