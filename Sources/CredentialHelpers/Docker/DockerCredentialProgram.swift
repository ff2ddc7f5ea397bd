internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyImport

/// The program `docker-credential-latchkey` (docker-credential-helpers, README).
package struct DockerCredentialProgram {
    private let program: HelperProgram

    package init(_ program: HelperProgram) { self.program = program }

    /// Reads the arguments, does what they say, and returns the exit status.
    ///
    /// What went wrong stands on standard output, where docker reads it.
    package func run(_ arguments: [String]) -> Int32 {
        do throws(HelperFailure) {
            guard arguments.count == 1, let action = arguments.first else { throw Self.wrongUsage }
            try perform(action)
            return 0
        } catch {
            do throws(HelperFailure) { try write(error.lines.joined(separator: "\n") + "\n") } catch {
                program.note(error.lines)
            }
            return error.status
        }
    }

    private func perform(_ action: String) throws(HelperFailure) {
        switch action {
        case "get": try get()
        case "store": try store()
        case "erase":
            let server = try server()
            if program.hasNoKeychain { return }
            let credentials = try credentials()
            try program.asking { () throws(KeychainError) in try credentials.erase(server) }
        case "list": try list()
        case "version", "--version", "-v":
            // "NAME (PACKAGE) VERSION" (credentials/credentials.go, PrintVersion).
            try write("docker-credential-latchkey (latchkey) \(LatchkeyVersion.text)\n")
        case "--help", "-h": try write(Self.help)
        case let word where word.utf8.allSatisfy { (0x21...0x7E).contains($0) }:
            // As docker-credential-helpers (credentials/credentials.go, HandleCommand).
            throw HelperFailure(.noMatch, "Unknown credential action `\(word)`")
        default: throw Self.wrongUsage
        }
    }

    private func credentials() throws(HelperFailure) -> DockerCredentials { DockerCredentials(try program.keychain()) }

    private func get() throws(HelperFailure) {
        let server = try server()
        if program.hasNoKeychain { throw Self.notFound }
        let credentials = try credentials()
        guard let found = try program.asking({ () throws(KeychainError) in try credentials.get(server) }) else {
            throw Self.notFound
        }
        let object = SecretObject([
            ("ServerURL", .text(server.url)), ("Username", .text(found.username)), ("Secret", .secret(found.secret)),
        ])
        guard let object else {
            throw HelperFailure(
                .noMatch, "the secret of that server is no text, which docker cannot be told.")
        }
        try program.streaming { () throws(SystemCallError) in try program.console.write(object.line) }
    }

    private func store() throws(HelperFailure) {
        let input = try input()
        let request: DockerCredentialRequest
        do throws(DockerCredentialRequest.Flaw) { request = try DockerCredentialRequest(SourceText(input)) } catch {
            throw HelperFailure(.noMatch, error.explanation)
        }
        let credentials = try credentials()
        try program.asking { () throws(KeychainError) in try credentials.store(request) }
    }

    private func list() throws(HelperFailure) {
        if program.hasNoKeychain { return try write("{}\n") }
        let credentials = try credentials()
        let accounts = try program.asking { () throws(KeychainError) in try credentials.list() }
        let members = accounts.map { JSONText.quoted($0.url) + ":" + JSONText.quoted($0.username) }
        try write("{" + members.joined(separator: ",") + "}\n")
    }

    private func server() throws(HelperFailure) -> DockerServer {
        let input = try input()
        do throws(DockerCredentialRequest.Flaw) { return try DockerCredentialRequest.server(input) } catch {
            throw HelperFailure(.noMatch, error.explanation)
        }
    }

    private func input() throws(HelperFailure) -> SecretBytes {
        let read = try program.streaming { () throws(SystemCallError) in
            try program.console.readAll(atMost: DockerCredentialRequest.mostBytes)
        }
        guard let read else {
            throw HelperFailure(.noMatch, DockerCredentialRequest.Flaw.tooLong.explanation)
        }
        return read
    }

    private func write(_ text: String) throws(HelperFailure) {
        try program.streaming { () throws(SystemCallError) in try program.console.write(text) }
    }

    /// docker's client compares the text (credentials/error.go).
    private static let notFound = HelperFailure(.noMatch, "credentials not found in native keychain")

    private static let wrongUsage = HelperFailure(
        .noMatch, "usage: docker-credential-latchkey (store|get|erase|list|version)")

    private static let help = """
        usage: docker-credential-latchkey (store|get|erase|list|version)

        Keeps docker's passwords and tokens in the keychain, without a bus, a display or a file in
        the clear. docker runs it where ~/.docker/config.json says

            {"credsStore": "latchkey"}

        It asks nobody and never waits for a person: where the keychain is locked it fails and says
        so. Whoever can run it gets the passwords, as with `latchkey get`.

        """
}
