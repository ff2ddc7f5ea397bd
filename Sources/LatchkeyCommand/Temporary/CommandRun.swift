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
            // The statuses by which shells and env(1) say it.
            return .failure(
                CommandFailure(
                    ExitStatus(rawValue: error.isNoSuchFile ? 127 : 126), "the command cannot be started (\(error))",
                    "Check its name and mode, or give its whole path after --."))
        }
    }
}
