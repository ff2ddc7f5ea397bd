internal import KeychainPlatform

/// The lines of `/proc/PID/status` that say who a process is (proc_pid_status(5)).
///
/// The first line holds a name that the process chose; the kernel escapes line
/// ends in it, so that it cannot pretend to be another line.
struct ProcessStatus: Hashable, Sendable {
    let credentials: ProcessCredentials
    /// Who traces it, or 0; 0 also where the tracer has no number here.
    let tracerID: Int32

    init?(_ text: [UInt8]) {
        guard let users = Self.numbers(of: "Uid:", in: text), users.count == 4,
            let groups = Self.numbers(of: "Gid:", in: text), groups.count == 4,
            let tracer = Self.numbers(of: "TracerPid:", in: text), tracer.count == 1
        else { return nil }
        credentials = ProcessCredentials(
            realUser: users[0], effectiveUser: users[1], realGroup: groups[0], effectiveGroup: groups[1])
        tracerID = Int32(bitPattern: tracer[0])
    }

    private static func numbers(of label: StaticString, in text: [UInt8]) -> [UInt32]? {
        let label = Array("\(label)".utf8)
        guard let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: label) }) else {
            return nil
        }
        let fields = line.dropFirst(label.count).split(whereSeparator: { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") })
        let numbers = fields.compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        return numbers.count == fields.count ? numbers : nil
    }

    /// Field 22 of `/proc/PID/stat`. The second field is a name in parentheses
    /// that may itself hold any of the separators, so counting starts after the
    /// last parenthesis, at field 3.
    static func startTime(_ text: [UInt8]) -> UInt64? {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }
}
