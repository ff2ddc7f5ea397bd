internal import KeychainPlatform

/// Who has `org.freedesktop.secrets` on this session's bus, as busctl(1) says it: `latchkey`
/// itself speaks no D-Bus.
enum SecretServiceName {
    static let bus = "org.freedesktop.secrets"

    struct Owner: Sendable, Hashable {
        let process: Int32
        /// What the kernel calls the process: 15 bytes of its program's name.
        let name: String
        /// Its executable; nil where that is not seen.
        let program: String?

        fileprivate static let ours = "latchkey-secret"

        var isOurs: Bool { name.hasPrefix(Self.ours) }

        /// For people.
        var text: String { "\(name) (process \(process)\(program.map { ", \($0)" } ?? ""))" }
    }

    /// nil: nobody has it, or there is no bus, or no busctl.
    static func owner() -> Owner? {
        guard let status = call(["status", bus]) else { return nil }
        var fields: [Substring: String] = [:]
        for line in status.split(separator: "\n") {
            guard let sign = line.firstIndex(of: "=") else { continue }
            fields[line[..<sign]] = String(line[line.index(after: sign)...])
        }
        guard let process = fields["PID"].flatMap({ Int32($0) }), let name = fields["Comm"] else { return nil }
        return Owner(process: process, name: name, program: fields["Exe"].flatMap { $0.hasPrefix("/") ? $0 : nil })
    }

    /// Has the bus look at the files that say what it starts; a folder that was not there
    /// when it began is not watched.
    static func reload() {
        _ = ask("ReloadConfig")
    }

    /// Whether the bus would start somebody for the name; nil where it does not say.
    static var isActivatable: Bool? {
        // `as 2 "org.freedesktop.DBus" "org.freedesktop.secrets"`.
        ask("ListActivatableNames").map { $0.split(separator: " ").contains("\"\(bus)\"") }
    }

    /// The process of the bus itself; nil where it does not say.
    static var busProcess: Int32? {
        // `u 4711`.
        ask("GetConnectionUnixProcessID", "s", itself)?.split(separator: " ").last.flatMap { Int32($0) }
    }

    private static let itself = "org.freedesktop.DBus"

    private static func ask(_ method: String, _ arguments: String...) -> String? {
        call(["call", itself, "/org/freedesktop/DBus", itself, method] + arguments)?
            .split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// What busctl says; nil where it fails, or there is none.
    private static func call(_ arguments: [String]) -> String? {
        guard let bus = ProcessEnvironment.variable("DBUS_SESSION_BUS_ADDRESS") else { return nil }
        do throws(ToolRun.Failure) {
            let tool = try ToolRun.run(
                "/usr/bin/busctl", ["--user", "--no-pager"] + arguments,
                environment: ["DBUS_SESSION_BUS_ADDRESS=\(bus)", "LANG=C"], input: SecretBytes(count: 0),
                output: .upTo(1 << 16),
                // A bus that does not answer must keep nobody waiting.
                patience: .until(Deadline(after: .seconds(3), on: SystemClock())))
            return tool.status == 0 ? String(decoding: tool.output.insecureArray(), as: UTF8.self) : nil
        } catch {
            return nil
        }
    }
}
