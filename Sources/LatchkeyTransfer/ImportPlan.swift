internal import KeychainPlatform
internal import LatchkeyCommand
internal import LatchkeyImport

/// All that a source gives to be stored.
struct ImportPlan: Sendable {
    let format: SourceFormat
    let items: [PlannedItem]
    let flaws: [ImportedDocument.Flaw]
    let fields: [FieldLedger.Row]

    /// More than any export; what is larger is no such file.
    private static let largestSource = 2 << 30

    static func read(_ job: ImportJob, _ surroundings: Surroundings) throws(CommandFailure) -> ImportPlan {
        let format = try named(job.format)
        let path = surroundings.absolute(job.source)
        let source = try open(job.source, path, surroundings.console)
        do throws(ImportFailure) {
            let content = try SourceContent.detect(source, path: path)
            try content.check(format)
            return try read(content, format, job, surroundings)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func named(_ name: String?) throws(CommandFailure) -> SourceFormat? {
        guard let name else { return nil }
        guard let format = SourceFormat(rawValue: name) else {
            throw CommandFailure(
                .usage, "no format has the name \(PrintableText.escaped(name))",
                "Name one of: \(SourceFormat.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return format
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
            let password = try words("Password of the database: ", job, surroundings)
            let keyFile = job.keyFile.map(surroundings.absolute)
            return ImportPlan(try SourceReader.keePass(path, password: password, keyFile: keyFile))
        case .latchkey(let bytes):
            return ImportPlan(
                try ExportReader.open(bytes) { () throws(ImportFailure) in
                    try words("Passphrase of the export: ", job, surroundings)
                })
        }
    }

    private static func refuseStandardInput(_ job: ImportJob) throws(ImportFailure) {
        guard job.source == "-" else { return }
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
        flaws = document.flaws
        fields = document.ledger.rows
    }

    private init(_ export: ExportReader) {
        format = .latchkey
        items = export.items
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
