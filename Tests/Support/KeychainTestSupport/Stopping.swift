internal import Foundation

/// Stops a process (SIGSTOP) and returns once none of its threads runs.
///
/// kill(2) only notes the signal: on a busy machine other threads go on until the one that
/// gets it has been given a processor (signal(7), "Stop").
///
/// - Throws: `ESRCH` where it is not there, `ETIMEDOUT` where it runs on for a minute.
package func stop(_ process: Int32) throws {
    guard kill(process, SIGSTOP) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .ESRCH) }
    guard try Waiting.soon({ try hasStopped(process) }) else { throw POSIXError(.ETIMEDOUT) }
}

/// Whether each thread is stopped, or has ended (proc_pid_stat(5), field 3).
private func hasStopped(_ process: Int32) throws -> Bool {
    let threads = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: threads).allSatisfy { thread in
        // A thread may end between the two.
        let file = "\(threads)/\(thread)/stat"
        guard let record = try? String(contentsOfFile: file, encoding: .utf8) else { return true }
        let state = record[(record.lastIndex(of: ")") ?? record.startIndex)...].dropFirst(2).first
        return state.map { "TtZX".contains($0) } ?? false
    }
}
