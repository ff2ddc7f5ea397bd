/// The fields of `/proc/PID/stat` that say where a process lives, and since when
/// (proc_pid_stat(5)).
package struct ProcessRecord: Hashable, Sendable {
    package let processGroup: Int32
    package let session: Int32
    /// The controlling terminal as makedev(3) packs it; 0: none.
    package let terminal: UInt64
    /// The group that the terminal belongs to now; -1: none.
    package let foregroundGroup: Int32
    /// Clock ticks from boot to the start of the process.
    package let startTime: UInt64

    /// Whether it may use its terminal.
    package var isInForeground: Bool { terminal != 0 && processGroup == foregroundGroup }

    /// The second field is a name in parentheses that may itself hold any of the
    /// separators: counting starts after the last parenthesis, at field 3.
    package init?(_ text: [UInt8]) {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        // Up to field 22; the rest is nobody's business here.
        guard fields.count >= 20, let startTime = UInt64(Self.text(fields[19])) else { return nil }
        let numbers = fields[1..<6].compactMap { Int32(Self.text($0)) }
        guard numbers.count == 5 else { return nil }
        processGroup = numbers[1]
        session = numbers[2]
        terminal = UInt64(UInt32(bitPattern: numbers[3]))
        foregroundGroup = numbers[4]
        self.startTime = startTime
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }
}
