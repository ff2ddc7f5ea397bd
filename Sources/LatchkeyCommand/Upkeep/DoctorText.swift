internal import KeychainModel
internal import KeychainProtocol

/// What `latchkey doctor` shows, for people and for programs.
struct DoctorText: Sendable {
    private let report: DoctorReport
    /// Why nothing can be written into its folder.
    private let obstacle: String?
    /// What mode the folder of the keys has, where that keeps its owner from it.
    private let modeOfKeys: String?
    /// Paths at which a file of the keys should lie, and a folder does.
    private let foldersAmongKeys: [String]

    private static let classes: [(ItemClass, name: String)] = [
        (.genericPassword, "generic"), (.internetPassword, "internet"), (.certificate, "certificate"), (.key, "key"),
    ]

    init(_ report: DoctorReport, obstacle: String?, modeOfKeys: String? = nil, foldersAmongKeys: [String] = []) {
        self.report = report
        self.obstacle = obstacle
        self.modeOfKeys = modeOfKeys
        self.foldersAmongKeys = foldersAmongKeys
    }

    /// Whether nothing is damaged that nobody has accepted.
    var isSound: Bool {
        let counts = report.inspection ?? InspectionCounts()
        return !report.brakeIsOn && !report.hasNewDamage && report.isIntact != false && counts.unopened == 0
            && counts.mismatched == 0 && report.databaseFault == nil && report.keysFault == nil
            && modeOfKeys == nil && foldersAmongKeys.isEmpty && !lacksEffacement
    }

    /// Whether what opens items that last as long as the passcode is gone from the disk.
    private var lacksEffacement: Bool { report.unrepairedFiles.contains("effacement") }

    // MARK: For people

    var text: String {
        let lines = fields.map { name, value in
            name + String(repeating: " ", count: max(1, 14 - name.count)) + PrintableText.escaped(value)
        }
        return (lines + [""] + advice).joined(separator: "\n") + "\n"
    }

    private var fields: [(String, String)] {
        var fields = [
            ("Data", report.dataDirectory), ("Format", "\(report.storeFormat)"),
            ("Items", Self.classes.map { "\(report.items[$0.0] ?? 0) \($0.name)" }.joined(separator: ", ")),
            ("Tombstones", "\(report.tombstones)"), ("Damaged", "\(report.damaged) set aside"), ("Writing", writing),
            ("Set aside", report.setAsideFiles.isEmpty ? "no database" : report.setAsideFiles.joined(separator: ", ")),
        ]
        if let isIntact = report.isIntact { fields.append(("File", isIntact ? "intact" : "malformed")) }
        if let counts = report.inspection { fields.append(("Looked at", Self.text(counts))) }
        if let counts = report.salvage { fields.append(("Salvaged", Self.text(counts))) }
        return fields
    }

    private var since: String? { report.brakeSince.flatMap { Timestamp(secondsSince2001: $0).text } }

    private var writing: String {
        if let away { return "impossible: \(away)" }
        guard report.brakeIsOn else { return obstacle.map { "impossible: \($0)" } ?? "possible" }
        return "stopped" + (since.map { " since \($0)" } ?? "")
    }

    /// What is no longer where it was opened.
    private var away: String? {
        switch (report.databaseFault, report.keysFault) {
        case (.gone?, _): "the database is gone"
        case (.replaced?, _), (.damaged?, _): "another file lies in the place of the database"
        case (nil, _) where modeOfKeys != nil: "the folder of the keys cannot be used"
        case (nil, .gone?): "the files of the keys are gone"
        case (nil, .replaced?): "others lie in the place of the files of the keys"
        case (nil, .damaged?): "the files of the keys are damaged"
        case (nil, nil): nil
        }
    }

    /// What can be saved as long as the programs run that have it open.
    private var adviceOnPlaces: [String] {
        let folder = report.dataDirectory
        var lines: [String] = []
        if let fault = report.databaseFault {
            lines.append(
                "\(folder)/keychain.db \(fault == .gone ? "is gone" : "is another file"): it was removed or renamed "
                    + "while latchkeyd has it open, and lives on in that alone. Nothing is written. If it was renamed, put "
                    + "it back.")
        }
        switch report.keysFault {
        case _ where modeOfKeys != nil:
            lines.append(
                "The folder \(folder)/enclave has mode \(modeOfKeys ?? ""), so that nothing can be written or read in "
                    + "it: no passcode can be set, and the next start opens nothing. Nothing is damaged: chmod 700 it.")
        case .damaged?:
            lines.append(
                "The files in \(folder)/enclave that open the keys are damaged, and cannot be written again (is the "
                    + "disk full, or read-only?): the keys lie in the memory of latchkey-enclave alone. No backup can be made.")
        case let fault?:
            lines.append(
                "The files in \(folder)/enclave that open the keys \(fault == .gone ? "are gone" : "are others"): they "
                    + "were removed, moved or replaced while latchkey-enclave has the keys open, which lie in its memory "
                    + "alone. Nothing is stored, and no backup can be made. If they were moved, put them back.")
        case nil: break
        }
        lines += foldersAmongKeys.map { path in
            "\(path) is a folder, where one of two copies of a file of the keys should lie: the other is the only one, "
                + "and no passcode can be set. Nothing is damaged: move it away, and the file is written again."
        }
        lines += report.unrepairedFiles.sorted().map { name in
            let path = "\(folder)/enclave/\(name)"
            guard name == "effacement" else {
                return "\(path) could not be written again when it was tried last: another copy counts. See that there "
                    + "is room and that the folder can be written; the next start tries again (`latchkey lock --stop`)."
            }
            return "\(path), without which no item opens that lasts as long as the passcode "
                + "(when-passcode-set-this-device-only), is gone or is not the keychain's. Put it back; until "
                + "the next lock such items that are open can be exported (`latchkey export --all FILE`)."
        }
        // A mode takes nothing from what runs, nor from what comes once it is mended.
        guard report.databaseFault != nil || report.keysFault != nil && modeOfKeys == nil else { return lines }
        return lines + [
            "Until then reading works: `latchkey export FILE` now, and `latchkey export --all FILE` for "
                + "what other programs keep. When latchkeyd or latchkey-enclave ends (`latchkey lock --stop`, a "
                + "logout, a shutdown), what is in no export or backup is lost."
        ]
    }

    private static func text(_ counts: InspectionCounts) -> String {
        let parts = [
            (counts.sound, "sound"), (counts.locked, "locked"), (counts.unopened, "do not open"),
            (counts.mismatched, "with wrong columns"), (counts.mended, "with columns mended"),
            (counts.moved, "set aside"),
        ]
        return "\(counts.rows) rows: "
            + parts.filter { $0.0 > 0 || $0.1 == "sound" }.map { "\($0.0) \($0.1)" }
            .joined(separator: ", ")
    }

    private static func text(_ counts: SalvageCounts) -> String {
        let parts = [
            (counts.present, "with a newer item in their place or here already"), (counts.unopened, "do not open"),
            (counts.locked, "locked"), (counts.unreadableFiles, "files not readable to their end"),
        ]
        return "\(counts.restored) brought back"
            + parts.filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
    }

    /// What there is to do, most pressing first.
    private var advice: [String] {
        var lines = adviceOnPlaces
        if let obstacle {
            lines.append("Nothing can be stored, changed or deleted in \(report.dataDirectory): \(obstacle).")
        }
        if report.isIntact == false {
            lines.append("The file is malformed: `latchkey doctor --salvage` sets it aside and takes over what opens.")
        }
        if report.brakeIsOn {
            lines.append(
                "Too many damaged items turned up at once, so nothing is written. Check the disk first, and that the "
                    + "keybag is this store's; then `latchkey doctor --salvage` goes on if every item opens, and "
                    + "`latchkey doctor --accept-damage` sets aside those that do not.")
        } else if report.hasNewDamage, report.damaged == 0 {
            lines.append(
                "Items are missing: a database or its log was lost, cut, or replaced by an older copy. A backup may "
                    + "have them; "
                    + "`latchkey doctor --accept-damage` takes note that there is none.")
        } else if report.hasNewDamage {
            lines.append(
                "Damaged items were set aside: `latchkey doctor --salvage` tries them again, "
                    + "`latchkey doctor --accept-damage` takes note of them, and a backup may still have them.")
        }
        let counts = report.inspection ?? InspectionCounts()
        if counts.unopened > 0, !report.brakeIsOn {
            lines.append(
                "Some items do not open: `latchkey doctor --accept-damage` sets them aside; a backup may have them.")
        }
        if counts.mismatched > 0 {
            lines.append(
                "Some items cannot be found by what they say, or are found by what they do not: `latchkey doctor "
                    + "--salvage` mends their columns.")
        }
        let logs = report.setAsideFiles.filter { $0.hasSuffix("-wal") }
        if logs.count < report.setAsideFiles.count, report.salvage == nil {
            lines.append("A malformed database was set aside: `latchkey doctor --salvage` tries again what it holds.")
        }
        if !logs.isEmpty {
            lines.append(
                "A log is kept under another name (\(logs.joined(separator: ", "))): it did not belong beside the "
                    + "database, or could not be read to its end. Nothing takes it over by itself; keep it as long as "
                    + "something may be missing.")
        }
        if let failed = report.auditFailedSince {
            let since = Timestamp(secondsSince2001: failed).text.map { " since \($0)" } ?? ""
            lines.append(
                "Who reads what cannot be recorded\(since): see that the disk has room and that the folder can be "
                    + "written.")
        }
        return lines.isEmpty ? ["Nothing to do."] : lines
    }

    // MARK: For programs

    func json(with machine: MachineReport?) -> JSONValue {
        guard let machine, case .object(let members) = json else { return json }
        return .object(members + machine.json)
    }

    private var json: JSONValue {
        .object([
            ("sound", .bool(isSound)), ("dataDirectory", .string(report.dataDirectory)),
            ("storeFormat", .integer(Int64(report.storeFormat))),
            ("items", .object(Self.classes.map { ($0.name, .integer(Int64(report.items[$0.0] ?? 0))) })),
            ("tombstones", .integer(Int64(report.tombstones))), ("damaged", .integer(Int64(report.damaged))),
            ("newDamage", .bool(report.hasNewDamage)), ("writingStopped", .bool(report.brakeIsOn)),
            ("writingStoppedSince", JSONValue(since)),
            ("setAside", .strings(report.setAsideFiles)), ("intact", report.isIntact.map { .bool($0) } ?? .null),
            ("databaseFault", JSONValue(report.databaseFault?.rawValue)),
            ("keysFault", JSONValue(report.keysFault?.rawValue)),
            ("unrepairedFiles", .strings(report.unrepairedFiles.sorted())),
            ("inspection", report.inspection.map(Self.json) ?? .null),
            ("salvage", report.salvage.map(Self.json) ?? .null),
            ("advice", .strings(advice)),
        ])
    }

    private static func json(_ counts: InspectionCounts) -> JSONValue {
        numbers([
            ("rows", counts.rows), ("sound", counts.sound), ("locked", counts.locked), ("unopened", counts.unopened),
            ("mismatched", counts.mismatched), ("mended", counts.mended), ("moved", counts.moved),
        ])
    }

    private static func json(_ counts: SalvageCounts) -> JSONValue {
        guard
            case .object(let members) = numbers([
                ("files", counts.files), ("unreadableFiles", counts.unreadableFiles), ("restored", counts.restored),
                ("present", counts.present), ("unopened", counts.unopened), ("locked", counts.locked),
            ])
        else { return .null }
        return .object(members + [("complete", .bool(!counts.isCutShort))])
    }

    private static func numbers(_ members: [(String, Int)]) -> JSONValue {
        .object(members.map { ($0.0, .integer(Int64($0.1))) })
    }
}
