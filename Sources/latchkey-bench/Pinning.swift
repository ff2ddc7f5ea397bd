import Foundation

/// Which processors the client and its servers may use. A round trip between
/// processors that sleep costs five times one on the same, so figures compare
/// only where they were taken alike.
enum Pinning: String, CaseIterable, Sendable {
    /// Client, daemon and enclave on one processor.
    case same = "same core"
    /// The client on one processor, daemon and enclave on another.
    case across = "across cores"
    /// Wherever the scheduler puts them.
    case free = "not pinned"

    private var client: [Int] { self == .free ? Self.processors : [Self.processors[0]] }
    private var server: [Int] {
        switch self {
        case .same: [Self.processors[0]]
        case .across: [Self.processors[Self.processors.count - 1]]
        case .free: Self.processors
        }
    }

    /// Those that this process may use when it starts.
    private static let processors = ProcessFigures.processors(of: ProcessInfo.processInfo.processIdentifier)

    static var processorCount: Int { processors.count }

    /// Those that make sense on this machine.
    static var possible: [Pinning] { processors.count > 1 ? [.same, .across] : [.same] }

    func pinClient() throws { try Self.pin(ProcessInfo.processInfo.processIdentifier, to: client) }
    func pinServer(_ process: Int32) throws { try Self.pin(process, to: server) }

    /// Every thread of a process; later ones inherit it (taskset(1)).
    private static func pin(_ process: Int32, to processors: [Int]) throws {
        let list = processors.map { "\($0)" }.joined(separator: ",")
        try SpawnedProgram(["/usr/bin/taskset", "-a", "-p", "-c", list, "\(process)"]).run()
    }
}
