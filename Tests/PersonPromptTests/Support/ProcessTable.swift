import Foundation

/// What /proc says of other processes (proc_pid_stat(5)).
enum ProcessTable {
    /// Children of a process by the name that the kernel has of them (15 bytes).
    static func children(of parent: Int32, named name: String) -> [Int32] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return folders.compactMap { Int32($0) }.filter { process in
            guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
            else { return false }
            let fields = stat[stat.index(after: close)...].split(separator: " ")
            // What has ended and was not waited for is gone.
            return stat[stat.index(after: open)..<close] == name && fields.count > 1 && fields[0] != "Z"
                && fields[1] == "\(parent)"
        }
    }
}
