@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A terminal that hands over every key as it is pressed, on its other screen, of
/// which nothing stays in its scroll-back.
///
/// Signals that would end or stop this process wait meanwhile and come as events,
/// so that the terminal is as it was, however this ends.
package struct RawTerminal: ~Copyable {
    package enum Event: Sendable, Hashable {
        case bytes([UInt8])
        case resized
        /// Somebody wants us to end: leave, then ``end(by:)``.
        case signal(Int32)
        case timedOut
        /// The terminal is gone.
        case hungUp
    }

    private let terminal: Descriptor
    private let signals: Descriptor
    private let before: termios

    /// Other screen, no line wrap, marks around what is pasted; the way back, with that
    /// screen emptied.
    private static let enter = "\u{1b}[?1049h\u{1b}[?7l\u{1b}[?2004h\u{1b}[H\u{1b}[J"
    private static let leave = "\u{1b}[H\u{1b}[J\u{1b}[?2004l\u{1b}[?7h\u{1b}[?1049l"

    /// Takes the terminal over; where that fails it is as before.
    package static func taking(_ terminal: Descriptor) throws(SystemCallError) -> RawTerminal {
        var before = termios()
        guard unsafe tcgetattr(terminal.raw, &before) == 0 else { throw SystemCallError("tcgetattr", errno: errno) }
        var raw = before
        unsafe cfmakeraw(&raw)
        let signals = Descriptor(owning: try checked("signalfd", lk_hold_signals()))
        guard unsafe tcsetattr(terminal.raw, TCSAFLUSH, &raw) == 0 else {
            let failure = errno
            lk_release_signals()
            throw SystemCallError("tcsetattr", errno: failure)
        }
        let taken = RawTerminal(terminal, signals, before)
        try taken.write(enter)
        return taken
    }

    private init(_ terminal: Descriptor, _ signals: Descriptor, _ before: termios) {
        self.terminal = terminal
        self.signals = signals
        self.before = before
    }

    deinit {
        let way = Array(Self.leave.utf8)
        _ = unsafe way.withUnsafeBytes { unsafe Glibc.write(terminal.raw, $0.baseAddress, $0.count) }
        var settings = before
        _ = unsafe tcsetattr(terminal.raw, TCSAFLUSH, &settings)
        lk_release_signals()
    }

    /// Ends this process as a signal would have, once its terminal is restored.
    package static func end(by signal: Int32) { _ = Glibc.raise(signal) }

    package func write(_ text: String) throws(SystemCallError) {
        try write(SecretBytes(copying: Array(text.utf8)))
    }

    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) { try terminal.write(secret) }

    /// Columns and rows; those of the first terminals where it does not say.
    package var size: (columns: Int, rows: Int) {
        var columns: Int32 = 0
        var rows: Int32 = 0
        guard unsafe lk_terminal_size(terminal.raw, &columns, &rows) == 0, columns > 0, rows > 0 else {
            return (80, 24)
        }
        return (Int(columns), Int(rows))
    }

    package func next(until deadline: Deadline) throws(SystemCallError) -> Event {
        switch try waitForAny(of: [terminal, signals], until: deadline) {
        case nil: return .timedOut
        case 0:
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(terminal.raw, &bytes, bytes.count)
            return count > 0 ? .bytes(Array(bytes[..<count])) : .hungUp
        default:
            let signal = lk_next_signal(signals.raw)
            return signal == SIGWINCH ? .resized : .signal(signal)
        }
    }
}
