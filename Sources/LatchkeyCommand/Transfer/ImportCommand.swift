internal import ArgumentParser

struct ImportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over the items of another password manager or keyring, or of `latchkey export`.",
        discussion: """
            SOURCE is a file that the other program exported or keeps, the folder of pass, or - for standard \
            input. What it is, is seen by its content; --format says it where that is not enough:
              apple, chrome, firefox, bitwarden-csv, lastpass, dashlane, nordpass,
              proton-pass, csv,
              keepassxc-csv             CSV with the heading that the program writes
              bitwarden-json            an export that is not encrypted
              1pux                      1Password (needs unzip)
              kdbx                      KeePass 3.1, 4 (pykeepass or keepassxc-cli)
              pass                      a folder of .gpg files (needs gpg)
              gnome-keyring             ~/.local/share/keyrings/*.keyring
              latchkey                  a file of `latchkey export`

            --from takes the items of a program that runs in this session, over its bus:
              gnome-keyring    also where Latchkey is org.freedesktop.secrets
              secret-service   whoever else is that: KeePassXC, ksecretd
              kwallet          KWallet of KDE Frameworks 5 and 6

            Items of gnome-keyring and of a Secret Service become what `latchkey secret-service` would have \
            stored, with their lookup attributes and dates, so that programs find them as before; a collection \
            that is not the default one becomes the access group "secret-service.NAME". An entry of KWallet \
            becomes a generic password: service FOLDER, account ENTRY, and of a map "ENTRY (FIELD)" for each \
            field. A locked collection is unlocked by a question of its program where there is a display, and \
            is named in the report otherwise. The source is only read.

            An entry with the address of a site becomes an internet password, any other a generic one named \
            after its title. Notes, with every field that has no place of its own, become a generic password \
            of type note beside it, whose account ends in " (note)"; one-time secrets likewise in " (otp)", \
            attached files in " (file: NAME)". The report says where each column went, and names every line \
            that could not be read.

            What is there already with the same value is left alone, so a second run changes nothing. Where a \
            place holds another value, --on-conflict decides: keep what is there (and say so), replace it, or \
            rename: store the new one, with its notes and one-time secrets, under the account with " (2)". The status is 1 where something was kept \
            or could not be read, 69 where the keychain could not store something (a full disk, say).

            EXAMPLES
              latchkey import --dry-run passwords.csv
              latchkey import --on-conflict rename vault.kdbx
              latchkey import ~/.password-store
              latchkey import --dry-run --from gnome-keyring
              latchkey import ~/.local/share/keyrings/login.keyring

            A dry run of --from and of a keyring's file names every item.

            --json writes {"format", "dryRun", "added", "unchanged", "replaced", "renamed", "conflicts", "failed", \
            "flaws": [{"place", "reason"}], "items": [{"place", "outcome", "service", "account", "renamedTo", \
            "reason"}] (those that were not simply added), "fields": [{"field", "destination", "count", "why"}], \
            "notes", "oneTimeSecrets", "attachments"}.
            """)

    @Argument(help: "The file or folder to import.")
    var source: String?

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "Take the items of a program of this session: gnome-keyring, secret-service, kwallet.",
            valueName: "program"))
    var program: String?

    @Option(help: ArgumentHelp("Say what the source is.", valueName: "format"))
    var format: String?

    @Option(
        name: .customLong("on-conflict"), help: "What to do where the place holds another value: keep, replace, rename."
    )
    var conflict: ImportJob.Conflict = .keep

    @Flag(name: .customLong("dry-run"), help: "Say what would happen; change nothing.")
    var isDryRun = false

    @Option(name: .customLong("key-file"), help: ArgumentHelp("The key file of a KeePass database.", valueName: "file"))
    var keyFile: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the source from this descriptor.", valueName: "n"))
    var passphraseDescriptor: Int32?

    @Flag(help: "Write the report as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        guard (source == nil) != (program == nil) else {
            throw ValidationError("Name a file or folder, or a program of this session with --from.")
        }
        guard source?.isEmpty != true else { throw ValidationError("The name of the file or folder is empty.") }
        if program != nil, format != nil || keyFile != nil || passphraseDescriptor != nil {
            throw ValidationError("--from goes without --format, --key-file and --passphrase-fd.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.transfer.perform(
            ImportJob(
                source: program.map { .program($0) } ?? .path(source ?? ""), format: format, conflict: conflict,
                isDryRun: isDryRun, keyFile: keyFile,
                passphraseDescriptor: passphraseDescriptor, json: json, dataDirectory: store.dataDirectory),
            in: surroundings)
    }
}

extension ImportJob.Conflict: ExpressibleByArgument {}
