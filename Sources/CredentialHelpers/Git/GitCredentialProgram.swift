internal import KeychainModel
internal import KeychainPlatform

/// The program `git-credential-latchkey` (gitcredentials(7), "CUSTOM HELPERS").
package struct GitCredentialProgram {
    private let program: HelperProgram

    package init(_ program: HelperProgram) { self.program = program }

    /// Reads the arguments, does what they say, and returns the exit status. git goes on
    /// whatever that is, and asks where nothing was answered.
    package func run(_ arguments: [String]) -> Int32 {
        program.finish { () throws(HelperFailure) in
            switch arguments.last {
            case "--help", "-h":
                try program.streaming { () throws(SystemCallError) in try program.console.write(Self.help) }
            case "--version":
                try program.streaming { () throws(SystemCallError) in
                    try program.console.write("git-credential-latchkey \(LatchkeyVersion.text)\n")
                }
            case let action? where arguments.count == 1: try perform(action)
            default: throw HelperFailure(.usage, "one of get, store and erase is expected", Self.usage)
            }
            return 0
        }
    }

    private func perform(_ action: String) throws(HelperFailure) {
        // gitcredentials(7): "If a helper receives any other operation, it should
        // silently ignore the request."
        guard ["get", "store", "erase"].contains(action) else { return }
        guard let request = try request() else { return }
        if action != "store", program.hasNoKeychain { return }
        var credentials = GitCredentials(try program.keychain(), clock: program.clock)
        var answer: SharedSecret?
        do throws(KeychainError) {
            switch action {
            case "get": answer = try credentials.get(request)
            case "store": try credentials.store(request)
            default: try credentials.erase(request)
            }
        } catch { throw HelperFailure(error) }
        program.note(credentials.notes)
        guard let answer else { return }
        try program.streaming { () throws(SystemCallError) in try program.console.write(answer.bytes) }
    }

    private func request() throws(HelperFailure) -> GitCredentialRequest? {
        let read = try program.streaming { () throws(SystemCallError) -> SharedSecret? in
            guard let lines = try program.console.readLines(atMost: CredentialLines.mostBytes) else { return nil }
            return SharedSecret(lines)
        }
        do throws(CredentialLines.Flaw) {
            guard let read else { throw CredentialLines.Flaw.tooManyBytes }
            return try GitCredentialRequest(try CredentialLines(read))
        } catch {
            throw HelperFailure(
                .usage, "\(error.explanation); nothing was done", "git-credential(1) has the format.")
        }
    }

    private static let usage = "git config --global credential.helper latchkey"

    private static let help = """
        usage: git-credential-latchkey (get|store|erase)

        Keeps git's passwords and tokens in the keychain, without a bus, a display or a file in the
        clear. git runs it:

            \(usage)

        It reads key=value lines as git-credential(1) describes them. It asks nobody and never
        waits for a person: where the keychain is locked it says so, answers nothing, and git asks.
        Whoever can run it gets the password, as with `latchkey get`.

        """
}
