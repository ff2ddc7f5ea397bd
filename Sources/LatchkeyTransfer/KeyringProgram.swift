internal import KeychainPlatform
internal import LatchkeyImport

/// latchkey-secret-service as what reads another keyring over the session's bus: `latchkey`
/// itself is linked without libsystemd. What it reads comes back through a pipe.
enum KeyringProgram {
    private static let program = "latchkey-secret-service"
    private static let outputLimit = 512 << 20
    /// How it finds the bus, and whether a person can be asked.
    private static let kept = [
        "HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    static func readOut(_ format: SourceFormat, _ folders: [String]) throws(ImportFailure) -> SecretBytes {
        let tool = try ImportTool(
            program, package: "latchkey", at: folders.map { "\($0)/\(program)" },
            environment: kept.compactMap { name in ProcessEnvironment.variable(name).map { "\(name)=\($0)" } })
        let run = try tool.run(["--read-out", format.rawValue], outputLimit: outputLimit)
        guard run.output.count > 0 else {
            throw ImportFailure(
                .unavailable, "\(program) cannot read it (\(run.complaint))", "Look at `latchkey doctor`.")
        }
        return run.output.copy()
    }
}
