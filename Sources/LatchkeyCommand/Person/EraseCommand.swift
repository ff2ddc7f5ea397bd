internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

struct EraseCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Destroy the keychain with every item in it, and begin anew.",
        discussion: """
            Ends the daemon and the enclave, overwrites every file that holds a key (the keybag, its protectors and \
            their secrets, what passcode and recovery code open), and deletes the folder: every item of every \
            program, the log, and what was set aside. The next command begins an empty keychain without a \
            passcode. Takes no passcode: whoever can delete the folder can do the same.

            What the overwriting is worth: on a hard disk with a file system that writes in place the keys are \
            gone. Flash (SSD, USB sticks) and copy-on-write file systems (btrfs, ZFS, snapshots) may keep the old \
            blocks until they use them again; with a passcode they open with it alone. Backups and copies of the \
            folder open as before: delete them too. No TPM is asked: where one keeps what goes with the passcode \
            (`latchkey passcode effacement`), remove the passcode first; what stays there is named, with the command that \
            removes it.

            It asks twice on a terminal, and needs --yes elsewhere. A folder that holds anything else is left \
            alone, whole. `latchkey uninstall --user --delete-keychain` does the same and removes the units of \
            systemd as well.

            EXAMPLES
              latchkey erase
              latchkey backup ~/keychain.backup && latchkey erase --yes

            --json writes {"dataDirectory", "erased"}.
            """)

    @Flag(help: "Erase without asking.")
    var yes = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
        guard case .store(let locations, _) = configuration.target else {
            throw CommandFailure(
                .usage, "only a keychain of your own can be erased",
                "Run this outside `latchkey temp`, or name a folder with --data-dir.")
        }
        let folder = PrintableText.escaped(locations.dataDirectory)
        let confirmation = Confirmation(console: console, isGiven: yes)
        try confirmation.require("This destroys every item of every program in \(folder), for good", word: "erase")
        try confirmation.require("Nothing brings them back but a backup", word: "destroy")
        let remains = TPMRemains(ofAllIn: locations.dataDirectory)
        let status = try UpkeepProgram(surroundings, store).run(["--erase"], replacing: false, json: false)
        guard status == .done else { return status }
        remains.tell(after: .erased, on: console)
        try report(locations.dataDirectory, console)
        return .done
    }

    private func report(_ folder: String, _ console: any Console) throws(CommandFailure) {
        if json {
            let line = JSONValue.object([("dataDirectory", .string(folder)), ("erased", .bool(true))])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        guard console.errorIsTerminal else { return }
        console.note("Erased \(PrintableText.escaped(folder)); its keys were overwritten first.")
        console.note(
            "SSDs and copy-on-write file systems may keep old blocks for a while, and backups open as before.")
    }
}
