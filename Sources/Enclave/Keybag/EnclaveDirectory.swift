internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The enclave's own folder, `enclave` in the data folder, held by one process
/// at a time.
///
/// It holds `lock`, `software-secret.0/.1`, `protectors.0/.1` and
/// `keybag.0/.1`, and is made with mode 0700 where it is not there.
struct EnclaveDirectory: Sendable {
    static let name = EnclaveRendezvous.folderName
    static let lockName = EnclaveRendezvous.lockName

    let directory: PrivateDirectory
    private let lock: FileLock

    /// - Throws: ``KeybagError/inUse`` where another process, or another opening
    ///   in this one, has the folder.
    init(inData path: String) throws(KeybagError) {
        do throws(DirectoryRefusal) {
            directory = try PrivateDirectory("\(path)/\(Self.name)", creating: true)
        } catch {
            throw .directory(error)
        }
        lock = try FileLock.take(Self.lockName, in: directory)
    }

    /// Lets others have the folder.
    func release() { lock.release() }

    /// Says in the lock file where this enclave listens.
    func announce(_ rendezvous: EnclaveRendezvous) throws(KeybagError) {
        do throws(SystemCallError) { try lock.write(rendezvous.encoded) } catch { throw .system(error) }
    }
}

extension EnclaveDirectory {
    /// Opens the keybag, making it first where `expected` allows and nothing of
    /// one is there.
    ///
    /// Nothing is written before everything has opened; then each damaged or
    /// older copy is written again from the good one.
    ///
    /// - Parameters:
    ///   - expected: nil: whichever store is there; none is made.
    ///   - moment: now, by the clock whose time counts for attempts.
    ///   - code: a recovery code's bytes, where a person brought one.
    func open(
        _ expected: ExpectedStore?, at moment: Duration, cost: PasscodeCost, hardware: any HardwareDoor = NoHardware(),
        code: SharedSecret? = nil
    ) throws(KeybagError) -> EnclaveCore {
        var keybag = try keybagFiles()
        if keybag.isAbsent {
            guard expected == .anyOrNew else { throw .unreadable(.missing) }
            try make()
            keybag = try keybagFiles()
        }
        let keys = ProtectorKeys(try SoftwareSecretFile(in: directory), code: code, hardware: hardware)
        let protectorFiles = try protectorFiles()
        let found = try Protectors.open(protectorFiles, keys)
        guard expected?.accepts(found.body.store) ?? true else { throw .mismatch }
        var held = HeldProtectors(body: found.body, generation: found.file.generation, software: nil)
        let isSettled = found.body.coming.isEmpty
        // They may still be written under the key from before.
        let formerAttempts = try isSettled ? nil : failedAttempts(root: found.root)
        let protectors = try isSettled ? found : settled(found, keybag, protectorFiles, keys)
        held.body = protectors.body
        held.software = held.body.contains(.softwareFile) ? keys.softwareSecret : nil
        let file = try newest(of: keybag, protectors)
        let body = try Self.body(of: file, protectors)

        var repairs = keybag.repairs(to: file)
        if isSettled { repairs += protectorFiles.repairs(to: protectors.file) }
        let opened = try Keybag(body, generation: file.generation, root: protectors.takeRoot())
        let failed = try failedAttempts(root: opened.root) ?? formerAttempts ?? AttemptsBody.unbelievable
        var core = try EnclaveCore(
            opened, in: self, protectors: nil, hardware: hardware, unrepaired: [],
            attempts: AttemptCounter(failed: failed, at: moment), cost: cost)
        // Everything has opened: from here on files are written.
        core.unrepaired = Self.perform(repairs) + settleEffacement(of: body)
        if !isSettled { core.unrepaired += settle(&held, failed, under: core.keybag.root) }
        // Before both copies say so, the file's secret may still be needed.
        let name = AuthenticatedFile.Kind.protectors.fileName
        let areWritten = !core.unrepaired.contains { $0.fileName.hasPrefix(name) }
        if areWritten { core.unrepaired += settleSoftwareSecret(of: held, keys) }
        core.protectors = held
        return core
    }

    /// A replacement of the root key was cut short: the keybag says which of the two
    /// it is. What the file is to say then, with that root key.
    ///
    /// - Throws: where the key that comes does not open. The keybag may be its.
    private func settled(
        _ found: consuming Protectors, _ keybag: AuthenticPair, _ files: AuthenticPair, _ keys: ProtectorKeys
    ) throws(KeybagError) -> Protectors {
        let (store, file, coming) = (found.body.store, found.file, found.body.coming)
        guard let root = keys.open(coming, of: store) else { throw Protectors.failure(files, keys) }
        if try keybag.newest(under: root) != nil {
            return Protectors(root: root, body: ProtectorsBody(store: store, protectors: coming), file: file)
        }
        let body = ProtectorsBody(store: store, protectors: found.body.protectors)
        return Protectors(root: found.takeRoot(), body: body, file: file)
    }

    /// Has the files say what was settled; the protectors last, which alone know of it.
    private func settle(
        _ held: inout HeldProtectors, _ failedAttempts: Int, under root: borrowing RootKey
    ) -> [RepairFailure] {
        do throws(KeybagError) {
            try write(failedAttempts: failedAttempts, store: held.body.store, root: root)
            held.generation += 1
            return try write(held.body, generation: held.generation, root: root)
        } catch {
            return [RepairFailure(fileName: AuthenticatedFile.Kind.protectors.fileName, error: error)]
        }
    }

    /// The software protector's secret in both copies of its file, or in none.
    private func settleSoftwareSecret(of held: HeldProtectors, _ keys: ProtectorKeys) -> [RepairFailure] {
        if let secret = held.software { return keys.secrets.repair(with: secret) }
        guard !held.body.contains(.softwareFile), !keys.secrets.isAbsent else { return [] }
        do throws(KeybagError) {
            try effaceSoftwareSecret()
            return []
        } catch { return [RepairFailure(fileName: SoftwareSecret.fileName, error: error)] }
    }

    /// What a change that was cut short left undone: to efface, or to write twice.
    private func settleEffacement(of body: KeybagBody) -> [RepairFailure] {
        do throws(KeybagError) {
            try settle(on: body.effacement)
            return []
        } catch {
            return [RepairFailure(fileName: EffacementFile.fileName, error: error)]
        }
    }

    private func keybagFiles() throws(KeybagError) -> AuthenticPair { try pair(.keybag) }
    private func protectorFiles() throws(KeybagError) -> AuthenticPair { try pair(.protectors) }

    func pair(_ kind: AuthenticatedFile.Kind) throws(KeybagError) -> AuthenticPair {
        try AuthenticPair(
            kind,
            in: FilePair(directory: directory, name: kind.fileName, sizeLimit: AuthenticatedFile.largestFile))
    }

    private func newest(
        of keybag: AuthenticPair, _ protectors: borrowing Protectors
    ) throws(KeybagError) -> AuthenticatedFile.Verified {
        if let found = try keybag.newest(under: protectors.root) { return found }
        if let version = keybag.claimedNewerVersion { throw .newer(version: version) }
        let claims = keybag.framed.compactMap { KeybagBody(parsing: $0.file.uncheckedBody)?.store }
        throw claims.contains { $0 != protectors.body.store } ? .mismatch : .unreadable(.keybagDamaged)
    }

    private static func body(
        of file: AuthenticatedFile.Verified, _ protectors: borrowing Protectors
    ) throws(KeybagError) -> KeybagBody {
        guard let body = KeybagBody(parsing: file.body) else { throw .unreadable(.malformed) }
        guard body.store == protectors.body.store else { throw .mismatch }
        return body
    }

    private static func perform(_ repairs: [Repair]) -> [RepairFailure] {
        repairs.compactMap { repair in
            do throws(KeybagError) {
                try repair.perform()
                return nil
            } catch {
                return RepairFailure(fileName: repair.fileName, error: error)
            }
        }
    }
}

extension EnclaveDirectory {
    /// Makes what a new store needs, in the order in which it is needed to open;
    /// goes on where a making was cut short. Writes no file that is there.
    private func make() throws(KeybagError) {
        let secrets = try SoftwareSecretFile(in: directory)
        let files = try protectorFiles()
        if files.isAbsent {
            let secret = try secrets.secretForNewProtector()
            try files.pair.write(Protectors.encodeNew(for: .random(), secret: secret))
        }
        let keys = ProtectorKeys(try SoftwareSecretFile(in: directory), code: nil, hardware: NoHardware())
        let protectors = try Protectors.open(try protectorFiles(), keys)
        let body = KeybagBody.new(for: protectors.body.store, root: protectors.root)
        let bytes = AuthenticatedFile.encode(.keybag, generation: 1, body: body.encoded, root: protectors.root)
        try keybagFiles().pair.write(bytes)
    }
}

extension ExpectedStore {
    func accepts(_ store: StoreID) -> Bool {
        switch self {
        case .anyOrNew: true
        case .named(let bytes): bytes == store.bytes
        }
    }
}
