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
        var users: [UInt32] = []
        var groups: [UInt32] = []
        var tracer: [UInt32] = []
        var rest = text[...]
        while users.isEmpty || groups.isEmpty || tracer.isEmpty {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard let label = line.first.flatMap(Label.init(rawValue:)), line.starts(with: label.text) else { continue }
            guard let numbers = Self.numbers(in: line.dropFirst(label.text.count)), numbers.count == label.count else {
                return nil
            }
            switch label {
            case .users: users = numbers
            case .groups: groups = numbers
            case .tracer: tracer = numbers
            }
        }
        credentials = ProcessCredentials(
            realUser: users[0], effectiveUser: users[1], realGroup: groups[0], effectiveGroup: groups[1])
        tracerID = Int32(truncatingIfNeeded: tracer[0])
    }

    /// The lines that matter, known by their first letters.
    private enum Label: UInt8 {
        case users = 0x55  // U
        case groups = 0x47  // G
        case tracer = 0x54  // T

        var text: String.UTF8View {
            switch self {
            case .users: "Uid:\t".utf8
            case .groups: "Gid:\t".utf8
            case .tracer: "TracerPid:\t".utf8
            }
        }

        var count: Int { self == .tracer ? 1 : 4 }
    }

    /// Numbers with tabs between them, or nil where anything else is there.
    private static func numbers(in line: ArraySlice<UInt8>) -> [UInt32]? {
        var numbers: [UInt32] = []
        for field in line.split(separator: UInt8(ascii: "\t")) {
            var value: UInt32 = 0
            for byte in field {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
                let (sum, carry) = shifted.addingReportingOverflow(UInt32(byte - UInt8(ascii: "0")))
                guard !overflow, !carry else { return nil }
                value = sum
            }
            numbers.append(value)
        }
        return numbers
    }
}
