internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct DoctorCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say whether the store is sound, and mend it.",
        discussion: """
            Without an option it says what is known: how many items there are, in all groups; damaged ones that \
            were set aside; whether writing has stopped because too many turned up at once; and which command \
            goes on from there.

            Then it says what protects the secrets now and what on this machine weakens that or stands in the way: \
            what daemon and enclave do to themselves, as the kernel has it; files that are open to others, memory \
            that is not locked, swap that is not encrypted, crash dumps that a program collects, programs that may \
            look into others, features that the kernel lacks, a daemon of another version, a store elsewhere, who \
            serves desktop programs as org.freedesktop.secrets and what keeps them from it (other providers, a desktop \
            under which Electron takes none, a policy file that is none), each with the command that mends it. --fix mends what needs nobody's decision: modes of files, and a daemon of another version.

            --verify opens every item with both its seals and has SQLite check the file; it changes nothing.
            --salvage tries again what was set aside: damaged items, and the items of a database that was \
            malformed. What opens comes back where no newer item has its place; the rest stays set aside. \
            Writing goes on if every item opens then.
            --accept-damage sets every item aside that does not open, however many they are, and lets writing \
            go on. Nothing is deleted: --salvage can still try.

            It also looks whether the database and the files of the keys are still the ones that daemon and enclave \
            have open. What was removed or renamed under them can be read, and exported, for as long as they run.

            The status is 5 where something is damaged that nobody has accepted yet, or is not where it was opened.

            --json writes {"sound", "dataDirectory", "storeFormat", "items": {"generic", "internet", "certificate", \
            "key"}, "tombstones", "damaged", "newDamage", "writingStopped", "writingStoppedSince", "setAside": \
            [FILE], "intact", "databaseFault", "keysFault", "unrepairedFiles": [NAME], "inspection", "salvage", "advice": [TEXT], "protection", "measures": [{"program", "pid", \
            "measure", "inForce", "note"}], "findings": [{"what", "command", "fixable"}], "fixed": [TEXT]} (the \
            last four only without another option than --fix); "databaseFault" and "keysFault" are null, "gone" or \
            "replaced"; "inspection" is null or {"rows", "sound", \
            "locked", "unopened", "mismatched", "mended", "moved"}, "salvage" null or {"files", "unreadableFiles", \
            "restored", "present", "unopened", "locked", "complete"}. Of a keychain that does not open it writes \
            {"sound": false, "error": TEXT, "advice": [TEXT], "findings", "fixed"}.
            """)

    @Flag(help: "Open every item and check the file; changes nothing.")
    var verify = false

    @Flag(help: "Bring back what was set aside and opens.")
    var salvage = false

    @Flag(help: "Set aside every item that does not open, and write again.")
    var acceptDamage = false

    @Flag(help: "Mend what needs nobody's decision.")
    var fix = false

    @Flag(help: "Write everything as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        guard [verify, salvage, acceptDamage, fix].filter({ $0 }).count <= 1 else {
            throw ValidationError("Give one of --verify, --salvage, --accept-damage and --fix.")
        }
    }

    private var task: DoctorTask {
        if verify { return .verify }
        if salvage { return .salvage }
        return acceptDamage ? .acceptDamage : .look
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        // A folder that was named, and may be misspelled, is not made for being looked at.
        if store.dataDirectory != nil { try surroundings.requireKeychain(store.dataDirectory) }
        // Files first: the daemon does not serve a folder that others can write.
        let check = MachineCheck(surroundings: surroundings, dataDirectory: store.dataDirectory)
        let files = task == .look ? check.fileFindings() : []
        var machine = MachineReport()
        try machine.take(files, fixing: fix)
        let keychain: CommandKeychain
        do throws(CommandFailure) { keychain = try opened(surroundings, files) } catch {
            // For programs as well, what was found before is all that there is to say.
            if json { try write(Self.unopened(error, machine).text + "\n", in: surroundings) }
            throw error
        }
        let found = try keychain.doctor(task)
        let report = DoctorText(
            found, obstacle: MachineCheck.obstacle(toWritingIn: found.dataDirectory),
            modeOfKeys: MachineCheck.modeOfKeys(in: found.dataDirectory),
            foldersAmongKeys: MachineCheck.foldersAmongKeys(in: found.dataDirectory))
        if task == .look {
            let status = try keychain.status()
            machine.protection = Protection(status, keychain.session).sentence
            machine.measures = check.measures(status)
            try machine.take(check.findings(status, keychain.session), fixing: fix)
            let device = try keychain.deviceState()
            try machine.take(MachineFinding.ofEffacement(device, status), fixing: fix)
            try machine.take(MachineFinding.ofCounter(device.counter), fixing: fix)
        }
        let text = json ? report.json(with: task == .look ? machine : nil).text + "\n" : report.text + machine.text
        try write(text, in: surroundings)
        return report.isSound ? .done : .damaged
    }

    private func write(_ text: String, in surroundings: Surroundings) throws(CommandFailure) {
        try printing { () throws(SystemCallError) in try surroundings.console.write(text) }
    }

    /// What there is to say of a keychain that does not open.
    private static func unopened(_ failure: CommandFailure, _ machine: MachineReport) -> JSONValue {
        .object(
            [
                ("sound", .bool(false)), ("error", JSONValue(failure.lines.first)),
                ("advice", .strings(Array(failure.lines.dropFirst()))),
            ] + machine.jsonOfFindings)
    }

    /// What was found among the files explains why there is no keychain.
    private func opened(
        _ surroundings: Surroundings, _ files: [MachineFinding]
    ) throws(CommandFailure) -> CommandKeychain {
        do throws(CommandFailure) { return try CommandKeychain.open(store, in: surroundings) } catch {
            let lines = files.filter { _ in !fix }.flatMap { finding in
                ["\(PrintableText.escaped(finding.what))"] + (finding.command.map { ["  \($0)"] } ?? [])
            }
            guard !lines.isEmpty else { throw error }
            let remedy = files.contains { $0.mend != .byHand } ? ["`latchkey doctor --fix` closes such files."] : []
            throw CommandFailure(error.status, lines: error.lines + lines + remedy)
        }
    }
}

extension CommandKeychain {
    /// A database that turns out malformed is set aside by the next daemon, which
    /// is asked the same once more.
    func doctor(_ task: DoctorTask) throws(CommandFailure) -> DoctorReport {
        let answer: KeychainAnswer
        do throws(KeychainError) { answer = try ask(task) } catch {
            guard error.reason == .storeMalformed else { throw CommandFailure(error) }
            answer = try asking { () throws(KeychainError) in try ask(task) }
        }
        guard let report = answer.doctor else {
            throw CommandFailure(KeychainError(.internalComponent, reason: .internalFault(what: "no report came")))
        }
        return report
    }

    private func ask(_ task: DoctorTask) throws(KeychainError) -> KeychainAnswer {
        try transport.perform(KeychainRequest(.doctor(task)))
    }
}
