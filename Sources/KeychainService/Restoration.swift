package import Enclave
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import KeychainStore

/// Puts a store back from a backup. The caller holds the store's lock, and no
/// enclave has its keybag open.
package struct Restoration {
    private let data: PrivateDirectory
    private let clock: any KeychainClock
    private let hardware: any HardwareDoor
    private let recoveryCode: SharedSecret?

    /// - Parameters:
    ///   - hardware: what opens a backup that is bound to it.
    ///   - recoveryCode: as it was typed, for a backup that nothing else opens.
    package init(
        into data: PrivateDirectory, clock: any KeychainClock, hardware: any HardwareDoor = NoHardware(),
        recoveryCode: SharedSecret? = nil
    ) {
        self.data = data
        self.clock = clock
        self.hardware = hardware
        self.recoveryCode = recoveryCode
    }

    /// What a restore did.
    package struct Outcome: Sendable {
        /// Every row of the backup, looked at before anything was changed.
        package let inspection: InspectionCounts
        /// Items of the class that went with the passcode of the keychain that was backed up.
        package let leftBehind: Int
        /// The folder that holds the former store, if there was one.
        package let aside: String
    }

    /// Whether a folder has items that a restore would put aside.
    package static func wouldReplaceItems(in data: PrivateDirectory) throws(KeychainError) -> Bool {
        try StoreBackup.holdsItems(data)
    }

    /// - Throws: as ``StoreBackup/check(_:)`` for a file that is no whole backup.
    package static func check(_ backup: String) throws(KeychainError) { try StoreBackup.check(backup) }

    /// Lays the new store out beside the present one and opens every row of it,
    /// then changes over. Until that, and where anything fails, the present store
    /// is as it was.
    package func run(from backup: String) throws(KeychainError) -> Outcome {
        try changeOver(to: stage(backup))
    }

    /// What was laid out, as its inspection found it.
    package typealias Staged = (inspection: InspectionCounts, leftBehind: Int)

    /// The second half, and what is to be told of both.
    package func changeOver(to staged: Staged) throws(KeychainError) -> Outcome {
        try commit()
        let aside = try RestoreSwitch.finish(in: data, at: clock.wallClock)
        return Outcome(inspection: staged.inspection, leftBehind: staged.leftBehind, aside: aside ?? "")
    }

    /// The first half: everything that can fail. Where what the backup holds does not open, that is
    /// `storeMalformed`, `storeMismatch`, `storeUnreadable`, `keybagUnreadable` or `storeNewer`.
    @discardableResult
    package func stage(_ backup: String) throws(KeychainError) -> Staged {
        try RestoreSwitch.finish(in: data, at: clock.wallClock)
        let staging = try emptyFolder(RestoreSwitch.stagingName)
        let files = try StoreBackup.read(backup, to: staging.path + "/" + Store.fileName)
        guard EnclaveFiles.suffice(files), files.allSatisfy({ EnclaveFiles.names.contains($0.name) }) else {
            throw KeychainError(
                .notAvailable, reason: .keybagUnreadable, underlying: "the backup's keybag is not whole")
        }
        let keybag = try folder("\(staging.path)/\(EnclaveFiles.folderName)")
        for (name, content) in files {
            try translatingFiles { () throws(SystemCallError) in try keybag.replace(name, with: content) }
        }
        let outcome = try inspect(staging.path)
        try translatingFiles { () throws(SystemCallError) in
            for name in [Store.fileName + "-wal", Store.fileName + "-shm"] where try staging.holds(name) {
                throw SystemCallError("the new store did not close", errno: 0)
            }
            try staging.synchronize(Store.fileName)
            try keybag.synchronize()
            try staging.synchronize()
        }
        try RestoreSwitch.prepare(staging, in: data, at: clock.wallClock)
        return outcome
    }

    /// The second half: one rename that decides, then renames that any opening
    /// would carry on.
    package func commit() throws(KeychainError) { try RestoreSwitch.commit(in: data) }

    /// Opens the new store with its own keybag, migrates it, and looks at every row. Columns that
    /// say something else than their seals are mended: what they should lead to would not be found.
    private func inspect(
        _ path: String
    ) throws(KeychainError) -> (inspection: InspectionCounts, leftBehind: Int) {
        let engine = try KeychainEngine.open(dataDirectory: path, clock: clock) { expected throws(KeychainError) in
            try InProcessEnclave(
                dataDirectory: path, expecting: expected, for: .inspection, hardware: hardware,
                recoveryCode: recoveryCode)
        }
        let report: Result<(InspectionCounts, leftBehind: Int), KeychainError>
        do throws(KeychainError) {
            let found = try engine.inspect(.mendColumns)
            // What is known not to open is the new store's known damage, of which everybody hears.
            if found.unopened > 0, found.unopened < found.rows { _ = try engine.inspect(.setAside) }
            let leftBehind = try engine.store.read { reader throws(KeychainError) in
                try reader.count(in: .whenPasscodeSetThisDeviceOnly)
            }
            // Observers of the store that it replaces know nothing of this one.
            try engine.store.write { transaction throws(KeychainError) in try transaction.beginNewHistory() }
            report = .success((found, leftBehind))
        } catch {
            report = .failure(error)
        }
        try engine.close()
        let (counts, leftBehind) = try report.get()
        // A keybag that opens none of them is not theirs.
        guard counts.rows == 0 || counts.unopened < counts.rows else {
            throw KeychainError(.notAvailable, reason: .storeMismatch, underlying: "no row of the backup opens")
        }
        return (counts, leftBehind)
    }

    private func emptyFolder(_ name: String) throws(KeychainError) -> PrivateDirectory {
        let found = try folder("\(data.path)/\(name)")
        try translatingFiles { () throws(SystemCallError) in try FolderContent.remove(in: found.descriptor) }
        return found
    }

    private func folder(_ path: String) throws(KeychainError) -> PrivateDirectory {
        do throws(DirectoryRefusal) { return try PrivateDirectory(path, creating: true) } catch {
            if case .system(_, let below) = error { throw KeychainError(files: below) }
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }
}
