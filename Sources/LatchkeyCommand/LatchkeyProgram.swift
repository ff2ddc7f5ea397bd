internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform

/// The program `latchkey`.
package enum LatchkeyProgram {
    package static func main(transfer: any Transfer) -> Never {
        StandardStream.fillMissing()
        let surroundings = Surroundings.system(transfer: transfer)
        let status =
            if let arguments = ProgramArguments.given { run(arguments, in: surroundings) } else {
                tell(CommandFailure(.usage, lines: ProgramArguments.notText), on: surroundings.console)
            }
        ProcessEnvironment.exit(status.rawValue)
    }

    /// Reads the arguments, does what they say, and tells how it ended.
    package static func run(_ arguments: [String], in surroundings: Surroundings) -> ExitStatus {
        // Apart from everything that knows the parser, whose types take time to load.
        let status = SecretLookup.plain(arguments) { lookup in
            do throws(CommandFailure) { return try lookup.perform(in: surroundings) } catch {
                return tell(error, on: surroundings.console)
            }
        }
        return status ?? parseAndRun(arguments, in: surroundings)
    }

    private static func parseAndRun(_ arguments: [String], in surroundings: Surroundings) -> ExitStatus {
        if let misplaced = OptionalValue.misplaced(in: arguments) { return tell(misplaced, on: surroundings.console) }
        do {
            var command = try parsed(arguments)
            if let verb = command as? any Verb { return try verb.perform(in: surroundings) }
            if let root = command as? Latchkey, let terminal = FinderProgram.terminal(for: surroundings.console) {
                try surroundings.requireKeychain(root.store.dataDirectory)
                let keychain = try CommandKeychain.open(root.store, in: surroundings)
                return try FinderProgram(keychain, on: surroundings.configuration.clock).run(on: terminal)
            }
            try command.run()
            return .done
        } catch let failure as CommandFailure {
            return tell(failure, on: surroundings.console)
        } catch {
            return answer(error, to: arguments, on: surroundings.console)
        }
    }

    /// - Throws: also where the parser would give its help though nobody asked for it: for a
    ///   name with a hyphen before it that has an h in it, which would be a password then.
    private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        do {
            let command = try Latchkey.parseAsRoot(OptionalValue.filled(arguments))
            // Of a group of commands it is the help that says which they are; everything else
            // that the parser makes of arguments is help as well.
            if command is any Verb || !type(of: command).configuration.subcommands.isEmpty { return command }
            try HelpRequest.check(arguments)
            return command
        } catch let failure as CommandFailure { throw failure } catch {
            if Latchkey.exitCode(for: error).isSuccess {
                try HelpRequest.check(arguments)
            } else if let unknown = HelpRequest.unknownVerb(in: arguments) {
                throw CommandFailure.noCommand(unknown)
            }
            throw error
        }
    }

    private static func tell(_ failure: CommandFailure, on console: any Console) -> ExitStatus {
        for line in failure.lines { console.note("latchkey: \(line)") }
        return failure.status
    }

    /// What the parser throws: help and version, or a mistake in the arguments.
    private static func answer(_ error: any Error, to arguments: [String], on console: any Console) -> ExitStatus {
        let text = Latchkey.fullMessage(for: error)
        guard Latchkey.exitCode(for: error).isSuccess else {
            // It repeats what was given.
            let lines = withoutSecrets(text, arguments).split(separator: "\n", omittingEmptySubsequences: false)
            console.note(lines.map { PrintableText.escaped(String($0)) }.joined(separator: "\n"))
            return .usage
        }
        do throws(CommandFailure) {
            try printing { () throws(SystemCallError) in try console.write("\(text)\n") }
        } catch { return tell(error, on: console) }
        return .done
    }

    private static let takingSecrets: Set = [
        "set", "note", "import", "export", "passcode", "recovery", "protector", "slot", "unlock", "lock", "autolock",
        "erase",
    ]

    /// Somebody may have given a secret or a passphrase as an argument: a message that
    /// repeats it would carry it into a log.
    private static func withoutSecrets(_ text: String, _ arguments: [String]) -> String {
        guard arguments.contains(where: Self.takingSecrets.contains) else { return text }
        return arguments.reduce(text) { text, argument in
            let value = argument.hasPrefix("-") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
            return value.isEmpty ? text : text.replacing("'\(value)'", with: "'…'")
        }
    }
}

struct Latchkey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey",
        abstract: "Keep secrets: store, read, list and remove passwords from the command line.",
        discussion: """
            The keychain is a folder with an encrypted database, by default \
            $XDG_DATA_HOME/latchkey or ~/.local/share/latchkey. Its daemon starts by itself. \
            `latchkey status` says what protects it now.

            Secrets are read from standard input or typed at a prompt that does not show them; \
            they are never arguments, and only `get`, `read`, `inject`, `credential` and `set --show` write one. What is stored here belongs to \
            the access group "latchkey", which every program of this user may read when it names it.

            Without a command, on a terminal, it is a finder: type a part of a name, choose with the arrow \
            keys, Enter shows the secret for ten seconds, Ctrl-Y copies it, Esc leaves. Nothing of it stays \
            in the terminal's scroll-back.

            --json gives every command a stable form for programs, one object or array on one line; \
            each command's help names its members. Dates are RFC 3339 in UTC.

            EXIT STATUS
              0   done
              1   no item matches
              2   wrong usage, or several items match
              3   locked, or a person would have to be asked and cannot be
              4   denied
              5   the store is damaged
              69  the keychain cannot be reached or cannot work
              70  a fault of Latchkey itself
            `temp` and `exec` end with the status of their command, 128 + N where signal N ended it. \
            The last line of a failure says what to do.
            """,
        version: "latchkey \(LatchkeyVersion.text)",
        subcommands: [
            SetCommand.self, GetCommand.self, ListCommand.self, InfoCommand.self, EditCommand.self, NoteCommand.self,
            RemoveCommand.self, StatusCommand.self, UnlockCommand.self, LockCommand.self, AutolockCommand.self,
            PasscodeCommand.self, RecoveryCommand.self, ProtectorCommand.self, SlotCommand.self, WatchCommand.self,
            LogCommand.self, ExecCommand.self, ReadCommand.self, InjectCommand.self, CredentialCommand.self,
            WhocanCommand.self, DoctorCommand.self,
            BackupCommand.self, RestoreCommand.self, ImportCommand.self, ExportCommand.self, ExplainCommand.self,
            AppCommand.self, TempCommand.self, InstallCommand.self, UninstallCommand.self,
            SecretServiceCommand.self, EraseCommand.self,
            CompletionCommand.self,
            ClearClipboardCommand.self,
            CompleteCommand.self,
        ])

    @OptionGroup var store: StoreOptions
}
