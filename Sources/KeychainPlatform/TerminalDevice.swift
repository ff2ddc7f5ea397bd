@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A terminal of another session. It never becomes ours.
package struct TerminalDevice: Sendable {
    package let status: FileStatus
    private let descriptor: Descriptor

    /// - Throws: ENOTTY for what is no terminal; EACCES for another user's.
    package init(_ path: FilePath) throws(SystemCallError) {
        let raw = unsafe path.withCString { unsafe lk_open($0, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, 0) }
        descriptor = Descriptor(owning: try checked("open a terminal", raw))
        _ = try TerminalClaim.settings(of: descriptor)
        status = try FileStatus(of: descriptor)
    }

    /// Characters in a line; 80 where it does not say.
    package var columns: Int { terminalColumns(descriptor.raw) }

    /// The right to ask on it, among programs that ask for this; nil where another
    /// keeps it beyond `deadline`.
    package func claim(until deadline: Deadline) throws(SystemCallError) -> TerminalClaim? {
        guard let lock = try FileLock.take(descriptor, until: deadline) else { return nil }
        return try TerminalClaim(lock)
    }
}

/// The right to ask on a terminal, as it was when nobody asked on it: whoever had the right
/// before has put its settings back.
package final class TerminalClaim: Sendable {
    private let lock: FileLock
    private let before: termios

    fileprivate init(_ lock: FileLock) throws(SystemCallError) {
        self.lock = lock
        before = try Self.settings(of: lock.descriptor)
    }

    fileprivate static func settings(of terminal: Descriptor) throws(SystemCallError) -> termios {
        var settings = termios()
        guard unsafe tcgetattr(terminal.raw, &settings) == 0 else { throw SystemCallError("tcgetattr", errno: errno) }
        return settings
    }

    /// Puts its settings back. Never waits (a terminal that is stopped would let
    /// tcdrain(3) wait for ever).
    ///
    /// - Parameter droppingInput: what was typed and not read was meant for a prompt.
    package func restore(droppingInput: Bool) {
        var settings = before
        if droppingInput { _ = tcflush(lock.descriptor.raw, TCIFLUSH) }
        _ = unsafe tcsetattr(lock.descriptor.raw, TCSANOW, &settings)
    }
}

/// Characters in a line; 80 where it does not say, or is no terminal.
func terminalColumns(_ descriptor: Int32) -> Int {
    var (columns, rows): (Int32, Int32) = (0, 0)
    guard unsafe lk_terminal_size(descriptor, &columns, &rows) == 0, columns > 0 else { return 80 }
    return Int(columns)
}
