internal import KeychainModel
internal import KeychainPlatform

/// A command that ended without doing what it was asked: an exit status, and
/// lines for standard error of which the last says what to do. Holds no secret.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    package let lines: [String]

    init(_ status: ExitStatus, _ lines: String...) {
        self.status = status
        self.lines = lines
    }

    init(_ status: ExitStatus, lines: [String]) {
        self.status = status
        self.lines = lines
    }

    init(_ error: KeychainError) {
        let below = error.underlying.map { " (\($0))" } ?? ""
        self.init(ExitStatus(error), error.reason.explanation + below, Advice.line(for: error.reason))
    }
}

/// Runs a call of the keychain, turning what it throws into what a person reads.
func asking<R: ~Copyable>(_ call: () throws(KeychainError) -> R) throws(CommandFailure) -> R {
    do throws(KeychainError) { return try call() } catch { throw CommandFailure(error) }
}

/// Writes to standard output; a failure is one of this command.
func printing<R: ~Copyable>(_ write: () throws(SystemCallError) -> R) throws(CommandFailure) -> R {
    do throws(SystemCallError) { return try write() } catch {
        throw CommandFailure(
            .unavailable, "the output could not be written (\(error))",
            "Check where standard output goes and try again.")
    }
}
