internal import KeychainMessages
internal import KeychainModel

extension Latchkey_DoctorTask {
    init(_ task: DoctorTask) {
        self =
            switch task {
            case .look: .look
            case .verify: .verify
            case .salvage: .salvage
            case .acceptDamage: .acceptDamage
            }
    }

    func task() throws(WireFault) -> DoctorTask {
        switch self {
        case .look: .look
        case .verify: .verify
        case .salvage: .salvage
        case .acceptDamage: .acceptDamage
        case .unspecified, .UNRECOGNIZED: throw WireFault()
        }
    }
}

extension Latchkey_DoctorReport {
    init(_ report: DoctorReport) {
        self.init()
        dataDirectory = report.dataDirectory
        storeFormat = UInt32(report.storeFormat)
        for (itemClass, count) in report.items { items[itemClass.rawValue] = UInt64(count) }
        tombstones = UInt64(report.tombstones)
        damaged = UInt64(report.damaged)
        hasNewDamage_p = report.hasNewDamage
        brakeIsOn = report.brakeIsOn
        if let since = report.brakeSince { brakeSince = since }
        if let since = report.auditFailedSince { auditFailedSince = since }
        databaseFault = report.databaseFault?.rawValue ?? ""
        keysFault = report.keysFault?.rawValue ?? ""
        unrepairedFiles = report.unrepairedFiles
        setAsideFiles = report.setAsideFiles
        if let isIntact = report.isIntact { self.isIntact = isIntact }
        if let counts = report.inspection { inspection = Inspection(counts) }
        if let counts = report.salvage { salvage = Salvage(counts) }
    }

    func report() throws(WireFault) -> DoctorReport {
        var report = DoctorReport()
        report.dataDirectory = dataDirectory
        report.storeFormat = Int(storeFormat)
        for (name, count) in items {
            guard let itemClass = ItemClass(rawValue: name) else { throw WireFault() }
            report.items[itemClass] = Int(clamping: count)
        }
        report.tombstones = Int(clamping: tombstones)
        report.damaged = Int(clamping: damaged)
        report.hasNewDamage = hasNewDamage_p
        report.brakeIsOn = brakeIsOn
        if hasBrakeSince { report.brakeSince = brakeSince }
        if hasAuditFailedSince { report.auditFailedSince = auditFailedSince }
        report.databaseFault = try Self.fault(databaseFault)
        report.keysFault = try Self.fault(keysFault)
        report.unrepairedFiles = unrepairedFiles
        report.setAsideFiles = setAsideFiles
        if hasIsIntact { report.isIntact = isIntact }
        if hasInspection { report.inspection = inspection.counts }
        if hasSalvage { report.salvage = salvage.counts }
        return report
    }

    private static func fault(_ name: String) throws(WireFault) -> PlaceFault? {
        guard !name.isEmpty else { return nil }
        guard let fault = PlaceFault(rawValue: name) else { throw WireFault() }
        return fault
    }
}

extension Latchkey_DoctorReport.Inspection {
    init(_ counts: InspectionCounts) {
        self.init()
        rows = UInt64(counts.rows)
        sound = UInt64(counts.sound)
        locked = UInt64(counts.locked)
        unopened = UInt64(counts.unopened)
        mismatched = UInt64(counts.mismatched)
        mended = UInt64(counts.mended)
        moved = UInt64(counts.moved)
    }

    var counts: InspectionCounts {
        var counts = InspectionCounts()
        counts.rows = Int(clamping: rows)
        counts.sound = Int(clamping: sound)
        counts.locked = Int(clamping: locked)
        counts.unopened = Int(clamping: unopened)
        counts.mismatched = Int(clamping: mismatched)
        counts.mended = Int(clamping: mended)
        counts.moved = Int(clamping: moved)
        return counts
    }
}

extension Latchkey_DoctorReport.Salvage {
    init(_ counts: SalvageCounts) {
        self.init()
        files = UInt64(counts.files)
        unreadableFiles = UInt64(counts.unreadableFiles)
        restored = UInt64(counts.restored)
        present = UInt64(counts.present)
        unopened = UInt64(counts.unopened)
        locked = UInt64(counts.locked)
        isCutShort = counts.isCutShort
    }

    var counts: SalvageCounts {
        var counts = SalvageCounts()
        counts.files = Int(clamping: files)
        counts.unreadableFiles = Int(clamping: unreadableFiles)
        counts.restored = Int(clamping: restored)
        counts.present = Int(clamping: present)
        counts.unopened = Int(clamping: unopened)
        counts.locked = Int(clamping: locked)
        counts.isCutShort = isCutShort
        return counts
    }
}
