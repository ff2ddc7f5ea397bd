/// What `latchkey import` and `latchkey export` do, once their arguments are known:
/// a room of its own (LatchkeyTransfer), with readers and cryptography that no
/// other command needs.
package protocol Transfer: Sendable {
    func perform(_ job: ImportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus
    func perform(_ job: ExportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus
}

/// What is to be imported, and how.
package struct ImportJob: Sendable {
    /// What happens to a row whose place holds another value.
    package enum Conflict: String, Sendable, CaseIterable {
        case keep
        case replace
        case rename
    }

    package enum Source: Sendable, Hashable {
        /// A file, a folder, or - for standard input.
        case path(String)
        /// What another program of this session has, as `--from` names it.
        case program(String)

        package var path: String? { if case .path(let path) = self { path } else { nil } }
    }

    package var source: Source
    /// As `--format` was given.
    package var format: String?
    package var conflict: Conflict
    package var isDryRun: Bool
    package var keyFile: String?
    package var passphraseDescriptor: Int32?
    package var json: Bool
    package var dataDirectory: String?
}

/// What is to be exported, and how.
package struct ExportJob: Sendable {
    package enum Protection: Sendable, Hashable {
        case passphrase
        /// - Warning: whoever reads the file has every secret.
        case insecurePlaintext(confirmed: Bool)
    }

    package var target: String
    package var reach: ItemReach
    package var protection: Protection
    package var passphraseDescriptor: Int32?
    package var replacesFile: Bool
    package var json: Bool
    package var dataDirectory: String?
}
