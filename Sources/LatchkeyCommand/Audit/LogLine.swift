internal import KeychainModel

/// One line of the audit record, for people and for programs.
struct LogLine: Sendable {
    private let record: AuditRecord
    private let item: AuditPage.Name?

    init(_ record: AuditRecord, _ item: AuditPage.Name?) {
        self.record = record
        self.item = item
    }

    // MARK: For people

    func text(forPerson isForPerson: Bool) -> String {
        let fields = [
            Timestamp(secondsSince2001: record.first).text ?? "-", record.event.name, "\(record.count)",
            programText, itemText, outcome,
        ].map(PrintableText.escaped)
        guard isForPerson else { return fields.joined(separator: "\t") }
        let count = record.count == 1 ? "" : " ×\(record.count)"
        let what = [fields[3], fields[4]].filter { $0 != "-" }.joined(separator: "  ")
        return "\(fields[0])  \(fields[1])\(count)  \(what)" + (record.refusal == nil ? "" : "  \(fields[5])")
    }

    private var programText: String {
        guard !record.program.isEmpty else { return record.voucher == .enclave ? "the enclave" : "-" }
        // By the program's word.
        guard let served = record.served else { return record.program }
        return record.program + " for " + Self.text(served)
    }

    private static func text(_ served: ServedProgram) -> String {
        guard served.path.isEmpty else { return served.path }
        let process = served.process == 0 ? "a process" : "process \(served.process)"
        return served.evidence == .ended ? process + " that had ended" : process
    }

    private var itemText: String {
        if let item { return StoredItem.displayName(item.names.name, item.names.account) }
        if !record.item.isEmpty { return "#" + AttributeText.hex(Array(record.item.prefix(6))) }
        if !record.name.isEmpty { return "#" + AttributeText.hex(Array(record.name.prefix(6))) + "/…" }
        return record.group.map { "group \($0)" } ?? "-"
    }

    private var outcome: String {
        guard let refusal = record.refusal else { return "allowed" }
        return "refused \(refusal.status.rawValue): \(refusal.reason.explanation)"
    }

    // MARK: For programs

    var json: JSONValue {
        let isProgram = !record.program.isEmpty
        return .object([
            ("time", JSONValue(Timestamp(secondsSince2001: record.first).text)),
            ("last", JSONValue(Timestamp(secondsSince2001: record.last).text)),
            ("event", .string(record.event.name)), ("count", .integer(Int64(clamping: record.count))),
            ("by", .string(record.voucher == .enclave ? "enclave" : "daemon")),
            ("program", JSONValue(isProgram ? record.program : nil)),
            ("pid", isProgram ? .integer(Int64(record.process)) : .null),
            ("for", JSONValue(record.served?.path)),
            ("forPid", record.served.map { .integer(Int64($0.process)) } ?? .null),
            ("forBy", JSONValue(record.served.map { Self.word($0.evidence) })),
            ("strength", JSONValue(isProgram ? strength : nil)), ("contained", .bool(record.isContained)),
            ("inPersonsName", .bool(record.inPersonsName)), ("kind", JSONValue(kind)),
            ("protection", JSONValue(record.protection?.commandName)), ("group", JSONValue(record.group)),
            ("service", JSONValue(item?.names.name)), ("account", JSONValue(item?.names.account)),
            ("item", JSONValue(record.item.isEmpty ? nil : AttributeText.hex(record.item))),
            ("allowed", .bool(record.refusal == nil)),
            ("status", .integer(Int64(record.refusal?.status.rawValue ?? 0))),
            ("reason", JSONValue(record.refusal?.reason.explanation)),
        ])
    }

    /// By what the process behind a service was known.
    private static func word(_ evidence: ServedProgram.Evidence) -> String {
        switch evidence {
        case .number: "number"
        case .descriptor: "descriptor"
        case .ended: "ended"
        }
    }

    private var strength: String {
        switch record.strength {
        case .none: "none"
        case .user: "user"
        case .program: "program"
        }
    }

    private var kind: String? { record.itemClass?.commandName }
}

/// Whether the record is as it was written.
struct LogVerdict: Sendable {
    private var findings: [AuditFinding] = []
    private var blocks: UInt64 = 0
    private var lines: UInt64 = 0
    private var last: Double?
    private var unwritten: AuditPage.Unwritten?

    mutating func take(_ page: AuditPage) {
        unwritten = page.unwritten
        findings += page.findings.filter { !findings.contains($0) }
        blocks += page.blocks
        lines += UInt64(page.records.count)
        last = [last, page.records.map(\.last).max()].compactMap { $0 }.max()
    }

    /// What nobody has the keys of any more is no sign of anything.
    var isSound: Bool { findings.allSatisfy { $0.kind == .keysForgotten } }

    private var completeUpTo: String? { last.flatMap { Timestamp(secondsSince2001: $0).text } }

    var text: String {
        var lines = findings.map(Self.text)
        if isSound {
            lines.append(
                "The record is whole: \(self.lines) lines in \(blocks) blocks"
                    + (completeUpTo.map { ", up to \($0)." } ?? "."))
        } else {
            lines.append(
                "The record is not as the keychain wrote it. Its other lines (\(self.lines)) are; a backup of "
                    + "the folder may have what is missing.")
        }
        if let unwritten { lines.append(unwritten.text) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ finding: AuditFinding) -> String {
        let place = finding.file == 0 ? "" : "File \(finding.file): "
        return place + what(finding)
    }

    private static func what(_ finding: AuditFinding) -> String {
        switch finding.kind {
        case .fileMissing: "it is missing."
        case .fileDamaged: "it does not begin as one of this keychain's, or is another's."
        case .linesMissing: "lines are missing from block \(finding.block) on."
        case .linesChanged: "the lines of block \(finding.block) were changed, or stood elsewhere."
        case .linesCut: "the lines from block \(finding.block) on were cut off."
        case .tooLong:
            "it goes on beyond block \(finding.block), which the keychain does not know of: its keys, or another "
                + "file, are an older copy."
        case .headMissing: "what says where the record ends is gone (a restore does that too)."
        case .keysForgotten: "the keys of its lines are gone with older passcodes; they cannot be checked."
        case .unknown: "something that this version does not know does not fit."
        }
    }

    private static func name(_ kind: AuditFinding.Kind) -> String {
        switch kind {
        case .fileMissing: "file-missing"
        case .fileDamaged: "file-damaged"
        case .linesMissing: "lines-missing"
        case .linesChanged: "lines-changed"
        case .linesCut: "lines-cut"
        case .tooLong: "too-long"
        case .headMissing: "head-missing"
        case .keysForgotten: "keys-forgotten"
        case .unknown: "unknown"
        }
    }

    var json: JSONValue {
        .object([
            ("sound", .bool(isSound)), ("blocks", .integer(Int64(clamping: blocks))),
            ("lines", .integer(Int64(clamping: lines))), ("completeUpTo", JSONValue(completeUpTo)),
            ("unwritten", .integer(Int64(clamping: unwritten?.count ?? 0))),
            (
                "findings",
                .array(
                    findings.map { finding in
                        .object([
                            ("kind", .string(Self.name(finding.kind))),
                            ("file", .integer(Int64(clamping: finding.file))),
                            ("block", .integer(Int64(finding.block))), ("what", .string(Self.what(finding))),
                        ])
                    })
            ),
        ])
    }
}

extension AuditPage.Unwritten {
    /// For a person.
    var text: String {
        let moment = Timestamp(secondsSince2001: since).text.map { " since \($0)" } ?? ""
        return "Nothing could be written\(moment): \(count) events wait in the daemon (`latchkey doctor` says why)."
    }
}
