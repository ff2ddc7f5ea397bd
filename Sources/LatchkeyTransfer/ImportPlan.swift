internal import KeychainClient
internal import KeychainPlatform
internal import LatchkeyCommand
internal import LatchkeyImport

/// All that a source gives to be stored.
struct ImportPlan: Sendable {
    let format: SourceFormat
    let items: [PlannedItem]
    /// Those of a Secret Service, whose place what is there decides as well.
    let services: [ServiceItem]
    let collections: [ServiceCollection]
    var flaws: [ImportedDocument.Flaw]
    let fields: [FieldLedger.Row]

    /// More than any export; what is larger is no such file.
    private static let largestSource = 2 << 30

    static func read(_ job: ImportJob, _ surroundings: Surroundings) throws(CommandFailure) -> ImportPlan {
        let format = try named(job.format, of: SourceFormat.ofFiles)
        guard case .path(let written) = job.source else { return try readProgram(job, surroundings) }
        let path = surroundings.absolute(written)
        let source = try open(written, path, surroundings.console)
        do throws(ImportFailure) {
            let content = try SourceContent.detect(source, path: path)
            try content.check(format)
            return try read(content, format, job, surroundings)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func named(
        _ name: String?, of formats: [SourceFormat], what: String = "format"
    ) throws(CommandFailure) -> SourceFormat? {
        guard let name else { return nil }
        guard let format = formats.first(where: { $0.rawValue == name }) else {
            throw CommandFailure(
                .usage, "no \(what) has the name \(PrintableText.escaped(name))",
                "Name one of: \(formats.map(\.rawValue).joined(separator: ", "))")
        }
        return format
    }

    private static func readProgram(
        _ job: ImportJob, _ surroundings: Surroundings
    ) throws(CommandFailure) -> ImportPlan {
        guard case .program(let name) = job.source,
            let format = try named(name, of: SourceFormat.overBus, what: "program to import from")
        else { preconditionFailure("a source is a path or a program") }
        do throws(ImportFailure) {
            let bar = ProgressBar("Reading", on: surroundings.console)
            bar.show(0, of: 1)
            defer { bar.clear() }
            return ImportPlan(
                try SourceReader.keyringLines(
                    try KeyringProgram.readOut(format, surroundings.configuration.programDirectories), format))
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func open(
        _ source: String, _ path: String, _ console: any Console
    ) throws(CommandFailure) -> NamedSource {
        do throws(SystemCallError) {
            guard source == "-" else { return try NamedSource.read(path, atMost: largestSource) }
            if let read = try console.readSecret(atMost: largestSource) { return .file(read) }
        } catch {
            throw CommandFailure(
                .usage, "the source cannot be read (\(error))", "Name a file or folder that you may read.")
        }
        throw CommandFailure(.usage, "the source is too large", "Import it in parts.")
    }

    private static func read(
        _ content: consuming SourceContent, _ format: SourceFormat?, _ job: ImportJob, _ surroundings: Surroundings
    ) throws(ImportFailure) -> ImportPlan {
        let written = job.source.path ?? ""
        switch consume content {
        case .csv(let text): return ImportPlan(try SourceReader.csv(text, format))
        case .json(let text): return ImportPlan(try SourceReader.json(text, format))
        case .folder(let path):
            let bar = ProgressBar("Decrypting", on: surroundings.console)
            defer { bar.clear() }
            return ImportPlan(
                try SourceReader.passwordStore(path, variable: ProcessEnvironment.variable) { bar.show($0, of: $1) })
        case .onePassword(let path):
            try refuseStandardInput(job)
            return ImportPlan(try SourceReader.onePassword(path))
        case .keePass(let path):
            try refuseStandardInput(job)
            let keyFile = try keyFile(job, surroundings)
            let password = try words("Password of the database: ", job, surroundings)
            return ImportPlan(try SourceReader.keePass(path, password: password, keyFile: keyFile))
        case .latchkey(let bytes):
            return ImportPlan(
                try ExportReader.open(bytes) { () throws(ImportFailure) in
                    try words("Passphrase of the export: ", job, surroundings)
                })
        case .gnomeKeyring(let bytes):
            let file = try GnomeKeyringFile.parse(bytes)
            let name = KeyringFileName(surroundings.absolute(written), orLabel: file.label)
            let password = try words("Password of the keyring: ", job, surroundings)
            return ImportPlan(
                try file.items(
                    in: KeyringFile.open(file, password), collection: name.collection, isDefault: name.isDefault))
        case .gnomeKeyringText(let text):
            let name = KeyringFileName(surroundings.absolute(written), orLabel: "")
            return ImportPlan(
                try SourceReader.gnomeKeyringText(text, collection: name.collection, isDefault: name.isDefault))
        }
    }

    /// Any file may be one.
    private static let largestKeyFile = 64 << 20

    private static func keyFile(
        _ job: ImportJob, _ surroundings: Surroundings
    ) throws(ImportFailure) -> SharedSecret? {
        guard let written = job.keyFile else { return nil }
        let why: String
        do throws(SystemCallError) {
            switch try NamedSource.read(surroundings.absolute(written), atMost: largestKeyFile) {
            case .file(let content): return SharedSecret(content)
            case .folder: why = "it is a folder"
            }
        } catch {
            why = "\(error)"
        }
        throw ImportFailure(
            .wrongSource, "the key file \(written) cannot be read (\(why))",
            "Name with --key-file the file that opens this database together with its password.")
    }

    private static func refuseStandardInput(_ job: ImportJob) throws(ImportFailure) {
        guard job.source == .path("-") else { return }
        throw ImportFailure(
            .wrongSource, "this format is opened by a program that needs a file", "Name the file instead of -.")
    }

    private static func words(
        _ prompt: String, _ job: ImportJob, _ surroundings: Surroundings
    ) throws(ImportFailure) -> SecretBytes {
        let passphrase = Passphrase(descriptor: job.passphraseDescriptor, console: surroundings.console)
        do throws(CommandFailure) { return try passphrase.existing(prompt) } catch {
            throw ImportFailure(
                error.status == .locked ? .needsPerson : .wrongSource, error.lines.first ?? "", error.lines.last ?? "")
        }
    }

    private init(_ document: ImportedDocument) {
        format = document.format
        items = EntryPlan.items(document)
        services = document.serviceItems
        collections = document.collections
        flaws = document.flaws
        fields = document.ledger.rows
    }

    private init(_ export: ExportReader) {
        format = .latchkey
        items = export.items
        (services, collections) = ([], [])
        flaws = export.flaws
        fields = export.ledger.rows
    }
}

extension CommandFailure {
    init(_ failure: ImportFailure) {
        let status: ExitStatus =
            switch failure.kind {
            case .wrongSource: .usage
            case .unavailable: .unavailable
            case .needsPerson: .locked
            }
        self.init(status, PrintableText.escaped(failure.message), failure.advice)
    }
}
