internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Where a keybag lasts. Every call returns once what it wrote is durable.
protocol KeybagStorage: Sendable {
    /// - Returns: copies that could not be written; one at least was.
    /// - Throws: where nothing says the new one; the old one stands.
    func write(_ body: KeybagBody, generation: UInt64, root: borrowing RootKey) throws(KeybagError) -> [RepairFailure]

    /// The file `protectors`; throws and returns as ``write(_:generation:root:)`` of the keybag.
    func write(
        _ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey
    ) throws(KeybagError) -> [RepairFailure]
    /// A new secret of the software protector, in both copies of its file.
    func makeSoftwareSecret() throws(KeybagError) -> SoftwareSecret
    /// What both copies hold now, each written again from `secret` where it does not.
    ///
    /// - Throws: where one cannot be written or read: nothing is bound to it then.
    func keepSoftwareSecret(_ secret: SoftwareSecret) throws(KeybagError)
    /// Whether a copy holds it now.
    func holds(_ secret: SoftwareSecret) throws(KeybagError) -> Bool
    /// Overwrites both copies, then removes them.
    func effaceSoftwareSecret() throws(KeybagError)

    func effacement(named identifier: [UInt8]) throws(KeybagError) -> EffacementSecret?
    /// Beside the one of that name, until ``settle(on:)``.
    func add(_ effacement: EffacementSecret, beside kept: [UInt8]) throws(KeybagError)
    /// Effaces every other.
    func settle(on identifier: [UInt8]) throws(KeybagError)

    /// The file `attempts`; returns and throws as ``write(_:generation:root:)`` of the keybag.
    func write(_ attempts: AttemptsBody, root: borrowing RootKey) throws(KeybagError) -> [RepairFailure]
    /// The same under a root key that is about to take the present one's place: in one copy,
    /// while the other stays as it is.
    func write(_ attempts: AttemptsBody, before newRoot: borrowing RootKey) throws(KeybagError)

    /// What of the files, or their place, has gone.
    ///
    /// - Parameters:
    ///   - hasSecret: whether there has to be a software protector's secret.
    ///   - hasAttempts: whether a count of attempts has to be there.
    func absence(hasSecret: Bool, hasAttempts: Bool) -> StorageAbsence
    /// Whether the file of the effacement secret is there.
    var holdsEffacement: Bool { get }
    /// The copies of the keybag that have gone, as the last writing left them.
    func putBack(_ body: KeybagBody, generation: UInt64, root: borrowing RootKey) throws(KeybagError)
    /// Those of the file `protectors`.
    func putBack(_ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey) throws(KeybagError)
    /// Whether a copy of the protectors speaks of a root key that comes.
    var announcesRoot: Bool { get throws(KeybagError) }
    /// Of the keybag and the protectors those that can be read, and no copy of which is authentic.
    func damagedPairs(under root: borrowing RootKey) throws(KeybagError) -> [AuthenticatedFile.Kind]
    /// Whether one copy of a file is there now, by its name, and is as good as the other; false of
    /// what has no copies, and of what cannot be looked at.
    ///
    /// - Parameter secret: what the software protector's file is to hold.
    func isWritten(_ name: String, under root: borrowing RootKey, _ secret: SoftwareSecret?) -> Bool
    /// The file that says who has the folder, held by this process again.
    func putLockBack() throws(KeybagError)

    /// The places of the file `audit` (``AuditHead``).
    func auditHeads() throws(KeybagError) -> [[UInt8]]
    func write(auditHead record: [UInt8], at place: Int) throws(KeybagError)
}

/// The enclave's folder.
extension EnclaveDirectory: KeybagStorage {
    func write(
        _ body: KeybagBody, generation: UInt64, root: borrowing RootKey
    ) throws(KeybagError) -> [RepairFailure] {
        try write(.keybag, version: body.leastVersion, body.encoded, generation: generation, root: root)
    }

    func write(
        _ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey
    ) throws(KeybagError) -> [RepairFailure] {
        try write(.protectors, protectors.encoded, generation: generation, root: root)
    }

    private func write(
        _ kind: AuthenticatedFile.Kind, version: UInt32? = nil, _ body: [UInt8], generation: UInt64,
        root: borrowing RootKey
    ) throws(KeybagError) -> [RepairFailure] {
        let bytes = AuthenticatedFile.encode(kind, version: version, generation: generation, body: body, root: root)
        let files = try pair(kind)
        do throws(KeybagError) {
            try files.pair.write(bytes, copy: 0)
        } catch {
            // The rename may have come about and its flush not: what stands there decides.
            let newest = try pair(kind).newest(under: root)
            guard newest?.generation == generation else { throw error }
        }
        do throws(KeybagError) {
            try files.pair.write(bytes, copy: 1)
            return []
        } catch {
            return [RepairFailure(fileName: files.pair.fileName(1), error: error)]
        }
    }

    func makeSoftwareSecret() throws(KeybagError) -> SoftwareSecret {
        // A copy that was to go is no new secret.
        try SoftwareSecretFile.efface(in: directory)
        return try SoftwareSecretFile(in: directory).secretForNewProtector()
    }

    func keepSoftwareSecret(_ secret: SoftwareSecret) throws(KeybagError) {
        if let failure = try SoftwareSecretFile(in: directory).repair(with: secret).first { throw failure.error }
        let present = try SoftwareSecretFile(in: directory)
        guard present.copiesHolding(secret) == FilePair.count else { throw .unreadable(.secretDamaged) }
    }

    func holds(_ secret: SoftwareSecret) throws(KeybagError) -> Bool {
        try SoftwareSecretFile(in: directory).copiesHolding(secret) > 0
    }

    func effaceSoftwareSecret() throws(KeybagError) { try SoftwareSecretFile.efface(in: directory) }

    func effacement(named identifier: [UInt8]) throws(KeybagError) -> EffacementSecret? {
        try effacementFile.secret(named: identifier)
    }

    func add(_ effacement: EffacementSecret, beside kept: [UInt8]) throws(KeybagError) {
        try effacementFile.add(effacement, beside: kept)
    }

    func settle(on identifier: [UInt8]) throws(KeybagError) {
        try effacementFile.settle(on: identifier.isEmpty ? nil : identifier)
    }

    private var effacementFile: EffacementFile { EffacementFile(directory: directory) }

    /// Either copy will do: whichever is newer counts.
    func write(_ attempts: AttemptsBody, root: borrowing RootKey) throws(KeybagError) -> [RepairFailure] {
        let files = try pair(.attempts)
        let bytes = try Self.encoded(attempts, beside: files, root)
        var failures: [RepairFailure] = []
        for index in 0..<FilePair.count {
            do throws(KeybagError) { try files.pair.write(bytes, copy: index) } catch {
                failures.append(RepairFailure(fileName: files.pair.fileName(index), error: error))
            }
        }
        if let failure = failures.last, failures.count == FilePair.count { throw failure.error }
        return failures
    }

    func write(_ attempts: AttemptsBody, before newRoot: borrowing RootKey) throws(KeybagError) {
        let files = try pair(.attempts)
        try files.pair.write(try Self.encoded(attempts, beside: files, newRoot), copy: 1)
    }

    private static func encoded(
        _ attempts: AttemptsBody, beside files: AuthenticPair, _ root: borrowing RootKey
    ) throws(KeybagError) -> [UInt8] {
        let generation = try (files.newest(under: root)?.generation ?? 0) + 1
        return AuthenticatedFile.encode(
            .attempts, version: attempts.leastVersion, generation: generation, body: attempts.encoded, root: root)
    }

    func absence(hasSecret: Bool, hasAttempts: Bool) -> StorageAbsence {
        guard isInPlace else { return .place(hasSuccessor ? .replaced : .gone) }
        let names = [AuthenticatedFile.Kind.keybag.fileName, AuthenticatedFile.Kind.protectors.fileName]
        do throws(SystemCallError) {
            for name in names + (hasSecret ? [SoftwareSecret.fileName] : []) {
                guard try copies(of: name) == FilePair.count else { return .files }
            }
            // One is enough: the newer counts.
            if hasAttempts, try copies(of: AuthenticatedFile.Kind.attempts.fileName) == 0 { return .files }
            return isLocked ? .nothing : .files
        } catch { return .files }
    }

    /// What cannot be looked at may be there.
    var holdsEffacement: Bool {
        do throws(SystemCallError) { return try directory.holds(EffacementFile.fileName) } catch { return true }
    }

    private func copies(of name: String) throws(SystemCallError) -> Int {
        var count = 0
        for index in 0..<FilePair.count where try directory.holds("\(name).\(index)") { count += 1 }
        return count
    }

    func putBack(_ body: KeybagBody, generation: UInt64, root: borrowing RootKey) throws(KeybagError) {
        try putBack(
            .keybag,
            AuthenticatedFile.encode(
                .keybag, version: body.leastVersion, generation: generation, body: body.encoded, root: root))
    }

    func putBack(_ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey) throws(KeybagError) {
        try putBack(
            .protectors,
            AuthenticatedFile.encode(.protectors, generation: generation, body: protectors.encoded, root: root))
    }

    var announcesRoot: Bool {
        get throws(KeybagError) {
            try pair(.protectors).framed.contains {
                ProtectorsBody(parsing: $0.file.uncheckedBody)?.coming.isEmpty == false
            }
        }
    }

    func damagedPairs(under root: borrowing RootKey) throws(KeybagError) -> [AuthenticatedFile.Kind] {
        var damaged: [AuthenticatedFile.Kind] = []
        for kind in [AuthenticatedFile.Kind.protectors, .keybag] {
            let files = try pair(kind)
            // What the disk does not give may be whole.
            guard files.areReadable else { continue }
            if try files.newest(under: root) == nil { damaged.append(kind) }
        }
        return damaged
    }

    func isWritten(_ name: String, under root: borrowing RootKey, _ secret: SoftwareSecret?) -> Bool {
        do throws(KeybagError) {
            for kind in [AuthenticatedFile.Kind.keybag, .protectors, .attempts] {
                guard let index = Self.copy(name, of: kind.fileName) else { continue }
                let files = try pair(kind)
                guard let newest = try files.newest(under: root) else { return false }
                return files.copies[index].holds(newest.bytes)
            }
            guard let secret, let index = Self.copy(name, of: SoftwareSecret.fileName) else { return false }
            return try SoftwareSecretFile(in: directory).holds(secret, copy: index)
        } catch { return false }
    }

    private static func copy(_ name: String, of file: String) -> Int? {
        (0..<FilePair.count).first { name == "\(file).\($0)" }
    }

    /// What is there in any form is left alone.
    private func putBack(_ kind: AuthenticatedFile.Kind, _ bytes: [UInt8]) throws(KeybagError) {
        let files = FilePair(directory: directory, name: kind.fileName, sizeLimit: AuthenticatedFile.largestFile)
        for (index, copy) in try files.read().enumerated() {
            if case .missing = copy { try files.write(bytes, copy: index) }
        }
    }

    func auditHeads() throws(KeybagError) -> [[UInt8]] { try AuditHeadFile(directory: directory).places() }

    func write(auditHead record: [UInt8], at place: Int) throws(KeybagError) {
        try AuditHeadFile(directory: directory).write(record, at: place)
    }
}

/// What has gone of an enclave's files since it wrote them.
enum StorageAbsence: Hashable, Sendable {
    case nothing
    /// Files of a folder that is where it was.
    case files
    /// The folder.
    case place(PlaceFault)
}

/// A keybag that goes with its process.
final class EphemeralStorage: KeybagStorage {
    var holdsEffacement: Bool { true }
    func absence(hasSecret: Bool, hasAttempts: Bool) -> StorageAbsence { .nothing }
    func putBack(_ body: KeybagBody, generation: UInt64, root: borrowing RootKey) {}
    func putBack(_ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey) {}
    var announcesRoot: Bool { false }
    func damagedPairs(under root: borrowing RootKey) -> [AuthenticatedFile.Kind] { [] }
    func isWritten(_ name: String, under root: borrowing RootKey, _ secret: SoftwareSecret?) -> Bool { true }
    func putLockBack() {}

    private let held = Mutex<[EffacementSecret]>([])

    func write(_ body: KeybagBody, generation: UInt64, root: borrowing RootKey) -> [RepairFailure] { [] }
    func write(_ protectors: ProtectorsBody, generation: UInt64, root: borrowing RootKey) -> [RepairFailure] { [] }
    func makeSoftwareSecret() -> SoftwareSecret { .random() }
    func keepSoftwareSecret(_ secret: SoftwareSecret) {}
    func holds(_ secret: SoftwareSecret) -> Bool { true }
    func effaceSoftwareSecret() {}
    func write(_ attempts: AttemptsBody, root: borrowing RootKey) -> [RepairFailure] { [] }
    func write(_ attempts: AttemptsBody, before newRoot: borrowing RootKey) {}
    func auditHeads() -> [[UInt8]] { [] }
    func write(auditHead record: [UInt8], at place: Int) {}

    func effacement(named identifier: [UInt8]) -> EffacementSecret? {
        held.withLock { $0.first { $0.identifier == identifier } }
    }

    func add(_ effacement: EffacementSecret, beside kept: [UInt8]) {
        held.withLock { $0 = $0.filter { $0.identifier == kept } + [effacement] }
    }

    func settle(on identifier: [UInt8]) {
        held.withLock { $0.removeAll { $0.identifier != identifier } }
    }
}
