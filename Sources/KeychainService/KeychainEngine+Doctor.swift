internal import Enclave
package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol
internal import KeychainStore
internal import Synchronization

extension KeychainEngine {
    /// What `latchkey doctor` asks for. Counts only: nothing of an item is in the
    /// answer, so every program of the user may ask. May take long; one at a time.
    ///
    /// - Throws: `errSecNotAvailable`, reason `busy` while another one runs, or
    ///   `storeMalformed`.
    package func doctor(_ task: DoctorTask) throws(KeychainError) -> DoctorReport {
        try refuseIfMalformed()
        // It would miss all that is there.
        if let moved { throw moved }
        let outcome: Result<DoctorReport, KeychainError>? = doctoring.withLockIfAvailable { _ in
            do throws(KeychainError) { return .success(try perform(task)) } catch {
                return .failure(noteMalformation(error))
            }
        }
        guard let outcome else { throw KeychainError(.notAvailable, reason: .busy) }
        return try outcome.get()
    }

    /// Goes on bringing back what the time at opening was too short for.
    package var needsSalvage: Bool { mayBringBack.load(ordering: .acquiring) }

    private func perform(_ task: DoctorTask) throws(KeychainError) -> DoctorReport {
        try store.checkLog()
        var report = DoctorReport()
        switch task {
        case .look: break
        case .verify:
            report.isIntact = try store.read { reader throws(KeychainError) in try reader.isIntact() }
            report.inspection = try inspect(.none)
        case .salvage: try salvage(&report)
        case .acceptDamage: try acceptDamage(&report)
        }
        try describe(&report)
        return report
    }

    func inspect(_ remedy: Inspection.Remedy) throws(KeychainError) -> InspectionCounts {
        var inspection = Inspection(self, remedy)
        try inspection.run()
        return inspection.counts
    }

    /// Brings back what opens; lets the brake go where no row is left that does
    /// not open.
    private func salvage(_ report: inout DoctorReport) throws(KeychainError) {
        guard try store.read({ reader throws(KeychainError) in try reader.isIntact() }) else {
            // The whole file is to be set aside; the next opening does that.
            throw KeychainError(.notAvailable, reason: .storeMalformed)
        }
        report.isIntact = true
        var salvage = Salvage(self, .whole)
        try salvage.run()
        report.salvage = salvage.counts
        let counts = try inspect(.mendColumns)
        report.inspection = counts
        if counts.unopened == 0 { try brake.release() }
    }

    /// Sets every row aside that does not open, however many they are, and lets
    /// the brake go.
    private func acceptDamage(_ report: inout DoctorReport) throws(KeychainError) {
        report.inspection = try inspect(.setAside)
        let newest = try store.read { reader throws(KeychainError) in try reader.openDamage().newest }
        try store.write { transaction throws(KeychainError) in
            try transaction.put(StoreRecord.bytes(of: Double(newest)), as: .accepted)
            // While items still come back nobody knows what there is to accept.
            if try transaction.reader.record(.salvaging) == nil { try transaction.remove(.incomplete) }
            try transaction.remove(.behind)
        }
        isBehindUnnoted.store(false, ordering: .releasing)
        if !needsSalvage { lacksItems.store(false, ordering: .releasing) }
        try brake.release()
        keys.forget()
    }

    private func describe(_ report: inout DoctorReport) throws(KeychainError) {
        report.dataDirectory = dataDirectory
        report.storeFormat = StoreSchema.format
        report.setAsideFiles = try StoreSetAside.files(in: directory)
        report.brakeIsOn = brake.isOn
        report.databaseFault = store.placeFault
        let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        report.keysFault = described.placeFault
        report.unrepairedFiles = described.unrepairedFiles
        try store.read { reader throws(KeychainError) in
            for itemClass in ItemClass.stored {
                let (items, tombstones) = try reader.totals(of: itemClass)
                report.items[itemClass] = items
                report.tombstones += tombstones
            }
            report.damaged = try reader.openDamage().count
            // A database that was lost, or not read to its end, left nothing to count.
            let lacksItems = try lacksItems(reader)
            report.hasNewDamage = try reader.hasOpenDamage() || lacksItems
            report.brakeSince = try reader.number(.brake)
        }
    }
}
