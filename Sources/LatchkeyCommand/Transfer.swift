internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform

/// What `latchkey import` and `latchkey export` do, once their arguments are known.
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

    package var source: String
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
    package var protection: Protection
    package var passphraseDescriptor: Int32?
    package var replacesFile: Bool
    package var json: Bool
    package var dataDirectory: String?
}

/// The program latchkey-import, which has the readers and the cryptography that
/// `latchkey get` should not have to load. It is told the same words.
struct TransferProgram: Transfer {
    static let name = "latchkey-import"

    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func perform(_ job: ImportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try run(surroundings)
    }

    func perform(_ job: ExportJob, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try run(surroundings)
    }

    private func run(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let candidates = surroundings.configuration.programDirectories.map { "\($0)/\(Self.name)" }
        guard let program = candidates.first(where: TrustedPath.isExecutableOfOurs) else {
            throw CommandFailure(
                .unavailable, "\(Self.name) is not installed, or others may change it",
                "Run `make install` in the Latchkey sources, or put \(Self.name) beside latchkeyd.")
        }
        do throws(SystemCallError) {
            return ExitStatus(
                rawValue: try ForegroundCommand.run([program] + arguments, environment: ProcessEnvironment.variables))
        } catch {
            throw CommandFailure(
                .unavailable, "\(Self.name) cannot be started (\(error))", "Check its mode, then try again.")
        }
    }
}
