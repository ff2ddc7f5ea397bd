import Foundation

/// What /proc says of other processes (proc_pid_stat(5)).
enum ProcessTable {
    /// Children of a process by the name that the kernel has of them (15 bytes).
    static func children(of parent: Int32, named name: String) -> [Int32] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return folders.compactMap { Int32($0) }.filter { Self.parent(of: $0, named: name) == parent }
    }

    static func runs(_ process: Int32, named name: String) -> Bool { parent(of: process, named: name) != nil }

    private static func parent(of process: Int32, named name: String) -> Int32? {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: close)...].split(separator: " ")
        // What has ended and was not waited for is gone.
        guard stat[stat.index(after: open)..<close] == name, fields.count > 1, fields[0] != "Z" else { return nil }
        return Int32(fields[1])
    }
}
