internal import KeychainPlatform

/// A command of the user's, in the foreground, with one variable more.
enum CommandRun {
    static func run(
        _ command: [String], setting name: String, to value: String
    ) -> Result<ExitStatus, CommandFailure> {
        let environment = ProcessEnvironment.variables.filter { !$0.hasPrefix("\(name)=") } + ["\(name)=\(value)"]
        do throws(SystemCallError) {
            return .success(ExitStatus(rawValue: try ForegroundCommand.run(command, environment: environment)))
        } catch {
            return .failure(.notStarted(command, error))
        }
    }
}

extension CommandFailure {
    /// With the statuses by which shells and env(1) say it. Of the command its name alone: what
    /// it is given may be a secret.
    static func notStarted(_ command: [String], _ error: SystemCallError) -> CommandFailure {
        let name = command.first.map { PrintableText.escaped($0) } ?? ""
        return CommandFailure(
            ExitStatus(rawValue: error.isNoSuchFile ? 127 : 126), "the command cannot be started: \(name) (\(error))",
            error.isTooMuchForAProgram
                ? "A variable holds at most 128 KiB; `latchkey exec --file` and `--fd` hand over a secret of any size."
                : "Check its name and mode, or give its whole path after --.")
    }
}
