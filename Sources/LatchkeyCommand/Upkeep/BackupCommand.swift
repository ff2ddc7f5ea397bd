internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct BackupCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write everything that the keychain holds into one file.",
        discussion: """
            The file holds the database as it is at this moment and the keybag: all that `latchkey restore` \
            needs. Programs may go on reading and writing meanwhile. Its mode is 0600.

            WITHOUT A PASSCODE OR A HARDWARE PROTECTOR, WHOEVER HAS THE FILE CAN OPEN IT. Keep it as you would \
            the secrets themselves.

            EXAMPLES
              latchkey backup ~/keychain.backup
              latchkey backup --replace /media/usb/keychain.backup

            Items of the class when-passcode-set-this-device-only go with the passcode of this keychain: they are \
            in no backup that opens, and how many there are is said.

            --json writes {"file", "leftBehind"}.
            """)

    @Argument(help: "Where to write the backup.")
    var file: String

    @Flag(help: "Replace the file if it is there.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        try refuseStream(file, "a backup is written to a file")
        try WriteTarget(file, store.dataDirectory, in: surroundings).check(replace ? .file : .none)
        let path = surroundings.absolute(file)
        if replace { try refuseToReplaceTheWhole(path, in: surroundings) }
        haveKeysWritten(in: surroundings)
        let status = try UpkeepProgram(surroundings, store).run(["--backup", path], replacing: replace, json: json)
        if status == .done, mayLackItems(in: surroundings) {
            surroundings.console.note(CommandFailure.itemsMayBeMissing)
        }
        return status
    }

    /// The older file may be where what is missing still is.
    private func refuseToReplaceTheWhole(_ path: String, in surroundings: Surroundings) throws(CommandFailure) {
        do throws(SystemCallError) { _ = try FileStatus(at: FilePath(path), followingLink: true) } catch { return }
        guard mayLackItems(in: surroundings) else { return }
        throw CommandFailure(
            .damaged,
            "items may be missing from the keychain, which the older file may still have; it was not replaced",
            "`latchkey doctor` says what is missing. Write another file, or accept it first: "
                + "`latchkey doctor --accept-damage`.")
    }

    /// An enclave that runs has in its memory what both copies of a damaged file of the keys lack,
    /// and writes it again when it is asked how it is. What keeps it from that the backup says.
    private func haveKeysWritten(in surroundings: Surroundings) {
        let configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
        guard case .store(let locations, _) = configuration.target,
            EnclaveRendezvous.last(inData: locations.dataDirectory) != nil
        else { return }
        // No daemon is started for it: the opening of a malformed database would set that aside.
        let running = surroundings.runningKeychain(store.dataDirectory, patience: .seconds(5))
        do throws(KeychainError) { _ = try running.perform(KeychainRequest(.status)) } catch { return }
    }

    /// A backup takes no daemon; one that cannot be asked says nothing.
    private func mayLackItems(in surroundings: Surroundings) -> Bool {
        do throws(CommandFailure) { return try CommandKeychain.open(store, in: surroundings).mayLackItems() } catch {
            return false
        }
    }
}

/// What other commands take for a stream is no name of a file either.
private func refuseStream(_ file: String, _ why: String) throws(CommandFailure) {
    guard file != "-" else {
        throw CommandFailure(.usage, "\(why), not to or from a stream", "Name a file; ./- is one of that name.")
    }
}

struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put the keychain back from a backup.",
        discussion: """
            Every row of the backup is opened before anything changes. Rows that do not open are set aside as damaged, \
            the others are restored, and it ends with 5. A keychain that has items is replaced only \
            with --replace, and is then set aside whole in a folder beside the new one, not deleted. The daemon is \
            asked to leave; the next command starts it anew. A restore that was cut short leaves either the old \
            keychain or the new one. What the old one has in a TPM (`latchkey passcode effacement`, `latchkey protector \
            counter`) stays there, because going back to it needs it, and is named with the command that removes it. Where a TPM counted when the backup was made (`latchkey protector \
            counter`), the keychain is not opened before `latchkey protector counter accept`.

            A backup is bound to what the keychain was bound to when it was made. Where that is hardware which is \
            gone, --recovery opens it with the recovery code of that time: typed, or the first line of standard \
            input. Then `latchkey unlock --recovery` opens the keychain, until `latchkey protector add` binds it \
            to something that is there.

            EXAMPLES
              latchkey restore --replace ~/keychain.backup
              latchkey restore --recovery /media/usb/keychain.backup

            --json writes {"rows", "unopened", "leftBehind", "replaced"}: how many rows there are, how many of them \
            do not open, how many went with the passcode that the keychain had, and the folder with what was there before, or null.
            """)

    @Argument(help: "A file that `latchkey backup` wrote.")
    var file: String

    @Flag(help: "Set a keychain that has items aside, and restore in its place.")
    var replace = false

    @Flag(help: "Open the backup with the recovery code, because its hardware is gone.")
    var recovery = false

    @OptionGroup var source: SecretSource

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        guard recovery || !source.isGiven else { throw ValidationError("a code is taken with --recovery alone") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try refuseStream(file, "a backup is read from a file")
        let configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
        guard case .store(let locations, _) = configuration.target else { return try restore(in: surroundings) }
        let before = TPMRemains(ofKeychainIn: locations.dataDirectory)
        let status = try restore(in: surroundings)
        guard status == .done || status == .damaged else { return status }
        // What the backup names as well is in use again.
        before.without(TPMRemains(ofKeychainIn: locations.dataDirectory)).tell(
            after: .setAside, on: surroundings.console)
        // With damage it may be the keychain of before.
        if status == .done { Self.tellOfCounter(in: locations.dataDirectory, surroundings.console) }
        return status
    }

    private static func tellOfCounter(in folder: String, _ console: any Console) {
        guard let place = KeybagOutline.counterPlaces(inData: folder)?.counting.first else { return }
        console.note(
            "A TPM counts for this keychain (\(place)), and a backup is an older copy to it: the keychain is not opened "
                + "before you accept it with the recovery code of the time of the backup: `latchkey protector counter accept`; "
                + "where that TPM is gone, with --give-up.")
    }

    private func restore(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let path = surroundings.absolute(file)
        let program = UpkeepProgram(surroundings, store)
        guard recovery else { return try program.run(["--restore", path], replacing: replace, json: json) }
        var input = source.input(surroundings.console)
        let code = SharedSecret(try input.existing("Recovery code: "))
        return try program.run(["--restore", path, "--recovery"], replacing: replace, json: json, secret: code)
    }
}
