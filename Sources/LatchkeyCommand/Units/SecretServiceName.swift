internal import KeychainPlatform

/// Who has `org.freedesktop.secrets` on this session's bus, as busctl(1) says it: `latchkey`
/// itself speaks no D-Bus.
enum SecretServiceName {
    static let bus = "org.freedesktop.secrets"
    /// What a process of ours is called by the kernel, which keeps 15 bytes of a name.
    private static let ours = "latchkey-secret"

    /// The name of the process; nil: nobody has it, or there is no bus, or no busctl.
    static func owner() -> String? {
        guard let status = call(["status", bus]) else { return nil }
        return status.split(separator: "\n").first { $0.hasPrefix("Comm=") }.map { String($0.dropFirst(5)) }
    }

    static func isOurs(_ owner: String) -> Bool { owner.hasPrefix(ours) }

    /// Has the bus look at the files that say what it starts; a folder that was not there
    /// when it began is not watched.
    static func reload() {
        let name = "org.freedesktop.DBus"
        _ = call(["call", name, "/org/freedesktop/DBus", name, "ReloadConfig"])
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
