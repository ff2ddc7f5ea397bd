@_implementationOnly import CLatchkeyPlatform
internal import Synchronization

/// A small process that starts one program, again and again, for a process that has
/// given up to start any itself.
///
/// It is forked before that process has a thread or a secret, takes nothing but
/// descriptors, and starts nothing but the one path that it was made for. It ends with
/// whoever holds this.
package final class ProgramSpawner: Sendable {
    private let socket: PacketSocket
    /// A program is started in a few milliseconds.
    private static let patience: Duration = .seconds(2)
    /// One question at a time.
    private let turn = Mutex(())

    /// - Parameter path: absolute.
    /// - Precondition: this process has one thread.
    package init(of path: String) throws(SystemCallError) {
        let result = unsafe path.withCString { unsafe lk_start_spawner($0, CommandLine.unsafeArgv, CommandLine.argc) }
        socket = PacketSocket(owning: Descriptor(owning: try checked("fork", result)))
        try socket.waitInReceive(atMost: Self.patience)
    }

    /// Starts the program with `descriptor` as its descriptor 3: no other, no arguments,
    /// no environment, in a session of its own.
    package func start(with descriptor: Descriptor) throws(SystemCallError) {
        let result: Result<Int32, SystemCallError> = turn.withLock { _ in
            do throws(SystemCallError) {
                try socket.send([1], descriptor: descriptor)
                return .success(try answer())
            } catch { return .failure(error) }
        }
        _ = try checked("start a program", try result.get())
    }

    private func answer() throws(SystemCallError) -> Int32 {
        var number: Int32 = 0
        let envelope = try unsafe withUnsafeMutableBytes(of: &number) { bytes throws(SystemCallError) in
            try unsafe socket.receive(into: bytes)
        }
        guard envelope?.byteCount == MemoryLayout<Int32>.size else {
            throw SystemCallError("start a program", errno: 32)
        }
        return number
    }
}

/// A bound on how long this process may go on.
package enum ProcessAlarm {
    /// SIGALRM ends this process then, whatever it is waiting for; alarm(2).
    package static func end(after limit: Duration) { lk_end_after(UInt32(max(1, limit.components.seconds))) }
    package static func cancel() { lk_end_after(0) }
}
