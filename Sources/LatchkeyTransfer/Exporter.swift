internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import LatchkeyCommand

/// Writes the items that the command line reaches into one file.
struct Exporter {
    private let job: ExportJob
    private let surroundings: Surroundings
    private let cost: PassphraseCost

    init(_ job: ExportJob, _ surroundings: Surroundings, _ cost: PassphraseCost) {
        self.job = job
        self.surroundings = surroundings
        self.cost = cost
    }

    private var console: any Console { surroundings.console }
    private var path: String { surroundings.absolute(job.target) }

    func run() throws(CommandFailure) -> ExitStatus {
        try refuseTarget()
        let shelves = try CommandKeychain.open(
            Importer.workers, dataDirectory: job.dataDirectory, reach: job.reach, in: surroundings
        ).map { ItemShelf(keychain: $0) }
        // Asked before anything is typed: nobody thinks of a passphrase in vain.
        let items = try items(of: shelves[0].keychain)
        if job.protection == .insecurePlaintext(confirmed: false) { try confirm() }
        // Before there is a file: an interrupted question leaves nothing behind.
        let seal = try seal()
        let count: Int
        if job.target == "-" {
            let console = console
            count = try write(items, shelves, seal) { bytes throws(CommandFailure) in
                try printing { () throws(SystemCallError) in try console.write(bytes) }
            }
        } else {
            count = try writeFile(items, shelves, seal)
        }
        try report(count)
        return .done
    }

    /// What is there, as a person who has agreed may have it.
    ///
    /// The command line's own group could be read without anybody: there the person is
    /// asked for as well (in a terminal session once), so that no program makes this one
    /// hand everything over unseen.
    private func items(of keychain: CommandKeychain) throws(CommandFailure) -> [ValueWindow.Item] {
        guard try keychain.status().hasPasscode else { return try ItemShelf(keychain: keychain).all() }
        guard job.reach == .own || surroundings.isInTerminalSession() else {
            throw CommandFailure(
                .locked, "a person would have to agree to each item anew, because this runs in no terminal session",
                "Run it in a terminal.")
        }
        return try ItemShelf(keychain: keychain.withPresence()).all()
    }

    // MARK: What must not be

    private func refuseTarget() throws(CommandFailure) {
        if job.target == "-" {
            guard !console.outputIsTerminal else {
                throw CommandFailure(.usage, "secrets are not written to a terminal", "Name a file.")
            }
            return
        }
        try WriteTarget(job.target, job.dataDirectory, in: surroundings).check(job.replacesFile ? .file : .none)
    }

    private func confirm() throws(CommandFailure) {
        guard console.inputIsTerminal else {
            throw CommandFailure(
                .usage, "every secret would be written in the clear and nobody can be asked; nothing was written",
                "Add --yes to write them all the same.")
        }
        let answer = console.promptForLine(
            "Write every secret IN THE CLEAR? Whoever reads the file has them. Type yes: ")
        guard answer == "yes" else {
            throw CommandFailure(.usage, "nothing was written", "Type yes, or leave --insecure-plaintext out.")
        }
    }

    // MARK: Writing

    /// How the file is closed to others.
    private enum Seal {
        case inTheClear
        case passphrase(SharedSecret)
    }

    private func seal() throws(CommandFailure) -> Seal {
        guard job.protection == .passphrase else { return .inTheClear }
        let passphrase = Passphrase(descriptor: job.passphraseDescriptor, console: console)
        return .passphrase(SharedSecret(try passphrase.new("Passphrase for the export: ")))
    }

    private func writeFile(
        _ items: [ValueWindow.Item], _ shelves: [ItemShelf], _ seal: Seal
    ) throws(CommandFailure) -> Int {
        let file = try writing { () throws(SystemCallError) in try UnnamedFile(path) }
        do throws(CommandFailure) {
            let count = try write(items, shelves, seal) { bytes throws(CommandFailure) in
                try writing { () throws(SystemCallError) in try file.write(bytes) }
            }
            try writing { () throws(SystemCallError) in try file.publish(replacing: job.replacesFile) }
            let damaged = try shelves[0].keychain.status().damaged
            if damaged > 0 {
                console.note(
                    "latchkey: \(damaged) damaged item\(damaged == 1 ? " is" : "s are") set aside, of whatever program, and not in the file: see `latchkey doctor`."
                )
            } else if shelves[0].keychain.mayLackItems() {
                console.note(CommandFailure.itemsMayBeMissing)
            }
            return count
        } catch {
            file.discard()
            throw error
        }
    }

    private func writing<R>(_ body: () throws(SystemCallError) -> R) throws(CommandFailure) -> R {
        do throws(SystemCallError) { return try body() } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: SystemCallError) -> CommandFailure {
        CommandFailure(
            error.isAlreadyThere ? .usage : .unavailable, "the file could not be written (\(error))",
            "Check the folder and try again.")
    }

    private func write(
        _ items: [ValueWindow.Item], _ shelves: [ItemShelf], _ seal: Seal,
        to write: @escaping (borrowing SecretBytes) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Int {
        var sink: ExportSink
        switch seal {
        case .inTheClear: sink = ExportSink(insecureTo: write)
        case .passphrase(let words): sink = try ExportSink(passphrase: words.bytes, cost: cost, to: write)
        }
        let bar = ProgressBar("Exporting", on: console)
        defer { bar.clear() }
        var count = 0
        try sink.take(ExportLine.heading)
        for start in stride(from: 0, to: items.count, by: ValueWindow.itemCount) {
            bar.show(start, of: items.count)
            let window = Array(items[start..<min(start + ValueWindow.itemCount, items.count)])
            for (item, outcome) in zip(window, ValueWindow.read(window, shelves)) {
                guard let value = try value(outcome) else { continue }
                try sink.take(ExportLine.item(item.kind, item.attributes, value))
                count += 1
            }
        }
        try sink.take(ExportLine.end(count))
        try sink.finish()
        return count
    }

    /// nil: one that was removed meanwhile, or that turned out damaged and was set aside, as it
    /// is left out by every later export.
    private func value(_ outcome: ValueWindow.Outcome) throws(CommandFailure) -> SharedSecret?? {
        do throws(KeychainError) { return try outcome.get() } catch {
            guard error.reason == .mayBeSetAside else { throw CommandFailure(error) }
            return nil
        }
    }

    private func report(_ count: Int) throws(CommandFailure) {
        let isEncrypted = job.protection == .passphrase
        if job.json {
            let line = JSONValue.object([
                ("file", .string(path)), ("items", .integer(Int64(count))), ("encrypted", .bool(isEncrypted)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        if console.errorIsTerminal {
            console.note("Exported \(count) items\(isEncrypted ? "" : ", IN THE CLEAR").")
        }
    }
}
