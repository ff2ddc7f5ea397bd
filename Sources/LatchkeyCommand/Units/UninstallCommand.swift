internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

struct UninstallCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "Undo `install`; keeps the keychain unless told.",
        discussion: """
            Stops what `latchkey install --user` had systemd start and removes the two unit files. The keychain \
            stays where it is, and programs start its daemon by themselves again. Where nothing is installed \
            nothing happens, and the status is 0. A unit file that `install` did not write stays.

            --delete-keychain then ends the daemon and deletes the keychain: every item of every program, the keys, \
            the log, and what was set aside. Nothing brings it back but a backup. It asks on a terminal, and needs \
            --yes elsewhere. A folder that holds anything else is left alone, whole.

            --secret-service does what `latchkey secret-service disable` does, and nothing else.

            The programs themselves go with `make uninstall`.

            EXAMPLES
              latchkey uninstall --user
              latchkey backup ~/keychain.backup &&
                latchkey uninstall --user --delete-keychain

            --json writes {"removed": [FILE], "dataDirectory", "deleted"}.
            """)

    @Flag(help: "For you alone; nothing else is there.")
    var user = false

    @Flag(help: "Serve desktop programs no longer: `latchkey secret-service disable`.")
    var secretService = false

    @Flag(help: "Delete the keychain, with every item in it.")
    var deleteKeychain = false

    @Flag(help: "Delete without asking.")
    var yes = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// What a person types.
    private static let word = "delete"

    mutating func validate() throws {
        guard user != secretService else {
            throw ValidationError(
                "Say --user, or --secret-service: the keychain, its daemon and what it serves are one user's own.")
        }
        if secretService { try SecretServiceCommand.refuse(store) }
        guard user || !deleteKeychain else { throw ValidationError("--delete-keychain goes with --user.") }
        guard deleteKeychain || !yes else { throw ValidationError("--yes goes with --delete-keychain.") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        if secretService { return try SecretServiceDisableCommand.perform(json: json, in: surroundings) }
        let configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
        guard case .store(let locations, _) = configuration.target, let folder = surroundings.userManager.unitFolder
        else {
            throw CommandFailure(
                .usage, "there is no keychain of your own here",
                "Run this outside `latchkey temp`, as a user with a home.")
        }
        let data = locations.dataDirectory
        // Whatever of a keychain is left in it.
        let isThere = FileStatus.isThere(data)
        if deleteKeychain, isThere { try confirm(data, surroundings.console) }
        let removed = try removeUnits(in: folder, of: data, surroundings)
        if deleteKeychain, isThere {
            let remains = TPMRemains(ofAllIn: data)
            let status = try UpkeepProgram(surroundings, store).run(["--erase"], replacing: false, json: false)
            guard status == .done else { return status }
            remains.tell(after: .erased, on: surroundings.console)
        }
        try report(removed, data, isThere: isThere, surroundings.console)
        return .done
    }

    private func confirm(_ data: String, _ console: any Console) throws(CommandFailure) {
        if yes { return }
        let what = "every item of the keychain in \(PrintableText.escaped(data))"
        guard console.inputIsTerminal else {
            throw CommandFailure(
                .usage, "\(what) would be deleted and nobody can be asked; nothing was changed",
                "Add --yes to delete it. `latchkey backup FILE` keeps a copy.")
        }
        let answer = console.promptForLine("This deletes \(what), for good. Type \(Self.word) to go on: ")
        guard answer == Self.word else {
            throw CommandFailure(.usage, "nothing was changed", "Type \(Self.word), or add --yes.")
        }
    }

    private func removeUnits(
        in folder: String, of data: String, _ surroundings: Surroundings
    ) throws(CommandFailure) -> [String] {
        if try UserUnits.serveAnother(than: data, in: folder) {
            surroundings.console.note(
                "The units in \(PrintableText.escaped(folder)) serve another keychain; they stay.")
            return []
        }
        var ours: [String] = []
        for name in UserUnits.names {
            let path = "\(folder)/\(name)"
            guard let isOurs = try UserUnits.isOurs(path) else { continue }
            if isOurs {
                ours.append(path)
            } else {
                surroundings.console.note("\(PrintableText.escaped(path)) is not by `latchkey install`; it stays.")
            }
        }
        guard !ours.isEmpty else { return [] }
        let (manager, clock) = (surroundings.userManager, surroundings.configuration.clock)
        // Where no manager answers nothing runs either.
        _ = manager.does("disable", "--now", UserUnits.socket, by: clock)
        _ = manager.does("stop", UserUnits.service, by: clock)
        do throws(SystemCallError) {
            for path in ours { _ = try FileRemoval.remove(FilePath(path)) }
            // Of `enable`, where no manager took it away.
            let enabled = "\(folder)/sockets.target.wants"
            if ours.contains("\(folder)/\(UserUnits.socket)") {
                _ = try FileRemoval.remove(FilePath("\(enabled)/\(UserUnits.socket)"))
                try FileRemoval.removeIfEmpty(FilePath(enabled))
            }
        } catch {
            throw CommandFailure(
                .unavailable, "the unit files cannot be removed (\(error))",
                "Remove them by hand: \(ours.joined(separator: " "))")
        }
        _ = manager.does("daemon-reload", by: clock)
        return ours
    }

    private func report(
        _ removed: [String], _ data: String, isThere: Bool, _ console: any Console
    ) throws(CommandFailure) {
        if json {
            let line = JSONValue.object([
                ("removed", .strings(removed)), ("dataDirectory", .string(data)),
                ("deleted", .bool(deleteKeychain && isThere)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return
        }
        for path in removed { console.note("Removed \(PrintableText.escaped(path))") }
        if removed.isEmpty { console.note("No unit of systemd is installed.") }
        let folder = PrintableText.escaped(data)
        guard isThere else { return console.note("There is no keychain in \(folder).") }
        console.note(
            deleteKeychain
                ? "Deleted the keychain in \(folder)."
                : "The keychain stays in \(folder); add --delete-keychain to delete it.")
    }
}
