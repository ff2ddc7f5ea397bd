/// The fields of `/proc/PID/stat` that say where a process lives (proc_pid_stat(5)).
package struct ProcessRecord: Hashable, Sendable {
    package let processGroup: Int32
    package let session: Int32
    /// The controlling terminal as makedev(3) packs it; 0: none.
    package let terminal: UInt64
    /// The group that the terminal belongs to now; -1: none.
    package let foregroundGroup: Int32

    /// Whether it may use its terminal.
    package var isInForeground: Bool { terminal != 0 && processGroup == foregroundGroup }

    /// The second field is a name in parentheses that may itself hold any of the
    /// separators: counting starts after the last parenthesis, at field 3.
    package init?(_ text: [UInt8]) {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " ")).prefix(6)
        let numbers = fields.dropFirst().compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 5 else { return nil }
        processGroup = numbers[1]
        session = numbers[2]
        terminal = UInt64(UInt32(bitPattern: numbers[3]))
        foregroundGroup = numbers[4]
    }
}

/// The real and effective user of a process (`/proc/PID/status`, line "Uid:").
package enum ProcessUsers {
    package static func parse(_ text: [UInt8]) -> (real: UInt32, effective: UInt32)? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Uid:\t".utf8) {
            let numbers = line.dropFirst(5).split(separator: UInt8(ascii: "\t")).map {
                UInt32(String(decoding: $0, as: UTF8.self))
            }
            guard numbers.count == 4, let real = numbers[0], let effective = numbers[1] else { return nil }
            return (real, effective)
        }
        return nil
    }
}
