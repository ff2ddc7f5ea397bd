internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

struct SecretServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Serve desktop programs as org.freedesktop.secrets, in place of gnome-keyring.",
        discussion: """
            secret-tool, git-credential-libsecret, Python's keyring and whatever else uses Secret Service then keep \
            their secrets here. The session bus starts latchkey-secret-service for the first program that asks.

            Whoever is on your session bus sees every item of every collection, as with gnome-keyring: the bus \
            does not tell programs apart. The default collection is where `latchkey set` stores; \
            `latchkey get SERVICE ACCOUNT` finds what such programs store, and they find what you did.

            `$XDG_CONFIG_HOME/latchkey/secret-service.policy` (or below ~/.config) keeps collections and schemas for the \
            programs that it names: "schema com.example.Kept /usr/bin/secret-tool", "collection work nobody".

            Where the keychain is locked, a prompt on the program's own terminal or display asks for the passcode; \
            where there is neither, the program is told at once. `latchkey unlock` opens it for all.

            Where there is no session bus, `latchkey secret-service exec -- COMMAND` serves one command.
            """,
        subcommands: [
            SecretServiceEnableCommand.self, SecretServiceDisableCommand.self, SecretServiceExecCommand.self,
        ])
}

/// The file by which the session bus starts our service (D-Bus Specification 0.43, "Message
/// Bus Starting Services (Activation)").
private struct BusActivation {
    static let mark = "# Written by `latchkey secret-service enable`"

    let path: String
    private let configuration: ClientConfiguration

    init(_ surroundings: Surroundings) throws(CommandFailure) {
        configuration = surroundings.configuration
        // The folder of the data folder is XDG_DATA_HOME, in which the bus looks first.
        guard case .store(let locations, _) = configuration.target,
            let end = locations.dataDirectory.lastIndex(of: "/")
        else {
            throw CommandFailure(
                .usage, "only a keychain of your own can serve your session",
                "Run this outside `latchkey temp`, as a user with a home.")
        }
        path = "\(locations.dataDirectory[..<end])/dbus-1/services/\(SecretServiceName.bus).service"
    }

    func file() throws(CommandFailure) -> OwnFile {
        let program = try PrivateSecretService.find(configuration)
        guard program.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"\"'\\$`".utf8.contains($0) }) else {
            throw CommandFailure(
                .usage, "\(PrintableText.escaped(program)) cannot be written in a service file",
                "Install it in a folder without spaces, quotes and control characters in its name.")
        }
        let text = """
            \(Self.mark); `latchkey secret-service disable` removes it.
            [D-BUS Service]
            Name=\(SecretServiceName.bus)
            Exec=\(program)

            """
        return OwnFile(path, text, marked: Self.mark)
    }
}

struct SecretServiceEnableCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Have the session bus start it for whoever asks.",
        discussion: """
            Writes $XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service (or below ~/.local/share), which \
            comes before what the system has there. A program that serves the name already keeps it until it ends: \
            the command says which.

            --json writes {"file", "written", "owner"}: the file, whether it was written now, and who has the name \
            (null: nobody, or no bus answers).
            """)

    @Flag(help: "Write over a file that says something else.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let file = try BusActivation(surroundings).file()
        let state = try file.state()
        switch state {
        case .same: break
        case .different(let found) where !replace:
            throw CommandFailure(
                .usage,
                lines: ["\(PrintableText.escaped(file.path)) says something else:"] + file.difference(from: found)
                    + ["Nothing was changed. Add --replace to write over it."])
        case .absent, .different:
            try file.write()
        }
        SecretServiceName.reload()
        let owner = SecretServiceName.owner()
        if json {
            let line = JSONValue.object([
                ("file", .string(file.path)), ("written", .bool(state != .same)), ("owner", JSONValue(owner)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return .done
        }
        console.note("\(state == .same ? "Already there:" : "Wrote") \(PrintableText.escaped(file.path))")
        if let owner, !SecretServiceName.isOurs(owner) {
            console.note("\(PrintableText.escaped(owner)) has the name until it ends: log out, or end it.")
        }
        console.note("To undo this: latchkey secret-service disable. It keeps the keychain.")
        return .done
    }
}

struct SecretServiceDisableCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Leave the name to whoever else serves it.",
        discussion: """
            Removes the file that `enable` wrote. What programs stored stays in the keychain. A service that runs \
            goes on until the session ends.

            --json writes {"file", "removed"}.
            """)

    @Flag(help: "Write what was done as JSON.")
    var json = false

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let path = try BusActivation(surroundings).path
        let shown = PrintableText.escaped(path)
        let isOurs = try OwnFile.isOurs(path, marked: BusActivation.mark)
        if isOurs == true {
            do throws(SystemCallError) { _ = try FileRemoval.remove(FilePath(path)) } catch {
                throw CommandFailure(.unavailable, "\(shown) cannot be removed (\(error))", "Check the folder.")
            }
            SecretServiceName.reload()
        }
        let console = surroundings.console
        if json {
            let line = JSONValue.object([("file", .string(path)), ("removed", .bool(isOurs == true))])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return .done
        }
        switch isOurs {
        case nil: console.note("Nothing is there: \(shown)")
        case false?: console.note("\(shown) is not by `latchkey secret-service enable`; it stays.")
        case true?: console.note("Removed \(shown)")
        }
        return .done
    }
}
