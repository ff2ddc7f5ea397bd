package import KeychainModel

/// A command that ended without doing what it was asked: an exit status, and
/// lines for standard error of which the last says what to do. Holds no secret.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    package let lines: [String]
    /// Of what the keychain said; nil: it did not say this.
    package private(set) var reason: Reason?

    package init(_ status: ExitStatus, _ lines: String...) {
        self.status = status
        self.lines = lines
    }

    package init(_ status: ExitStatus, lines: [String]) {
        self.status = status
        self.lines = lines
    }

    /// A change would have made two items of one name.
    static let nameIsTaken = CommandFailure(
        .usage, "another item has that name already; nothing was changed",
        "Choose another name, or look at it with `latchkey info` and move or remove it first.")

    static func noKeychain(at path: String) -> CommandFailure {
        CommandFailure(
            .noMatch, "there is no keychain at \(PrintableText.escaped(path)) yet",
            "`latchkey set` makes one; where there should be one, look at --data-dir and XDG_DATA_HOME.")
    }

    /// What is looked for may be among what was set aside.
    package static let mayBeSetAside = CommandFailure(KeychainError(.itemNotFound, reason: .mayBeSetAside))

    /// For whoever shows all that there is.
    package static let itemsMayBeMissing =
        "latchkey: items may be missing: damaged ones, or a whole database, were set aside. `latchkey doctor` says more."

    static let changedMeanwhile = CommandFailure(
        .noMatch, "the item was changed or removed meanwhile; nothing was changed",
        "Look with `latchkey list`, then try again.")

    package init(_ error: KeychainError) {
        let below = error.underlying.map { " (\($0))" } ?? ""
        if case .locked = error.reason {
            self.init(ExitStatus(error), "the keychain is locked\(below); `latchkey unlock` opens it.")
        } else {
            self.init(ExitStatus(error), error.reason.explanation + below, Advice.line(for: error))
        }
        reason = error.reason
    }
}

/// Runs a call of the keychain, turning what it throws into what a person reads.
package func asking<R: ~Copyable>(_ call: () throws(KeychainError) -> R) throws(CommandFailure) -> R {
    do throws(KeychainError) { return try call() } catch { throw CommandFailure(error) }
}
