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

    /// What a confined enclave needs of it.
    var reach: Confinement.Folder { Confinement.Folder(directory, for: .files) }

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
    /// - Parameter moment: now, by the clock whose time counts for attempts.
    func open(
        _ expected: ExpectedStore, at moment: Duration, cost: PasscodeCost
    ) throws(KeybagError) -> EnclaveCore {
        var keybag = try keybagFiles()
        if keybag.isAbsent {
            guard expected == .anyOrNew else { throw .unreadable(.missing) }
            try make()
            keybag = try keybagFiles()
        }
        let secrets = try SoftwareSecretFile(in: directory)
        let protectorFiles = try protectorFiles()
        let protectors = try Protectors.open(protectorFiles, secrets)
        guard expected.accepts(protectors.body.store) else { throw .mismatch }
        let file = try newest(of: keybag, protectors)
        let body = try Self.body(of: file, protectors)

        let repairs = protectorFiles.repairs(to: protectors.file) + keybag.repairs(to: file)
        let secret = protectors.secret
        let kinds = protectors.body.protectors.map(\.kind.name)
        let opened = try Keybag(body, generation: file.generation, root: protectors.takeRoot())
        let failed = try failedAttempts(root: opened.root)
        var core = try EnclaveCore(
            opened, in: self, protectors: kinds, unrepaired: [],
            attempts: AttemptCounter(failed: failed, at: moment), cost: cost)
        core.unrepaired = secrets.repair(with: secret) + Self.perform(repairs) + settleEffacement(of: body)
        return core
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
        let protectors = try Protectors.open(try protectorFiles(), try SoftwareSecretFile(in: directory))
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
