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
    private let lock: FolderLock

    /// - Throws: ``KeybagError/inUse`` where another process, or another opening
    ///   in this one, has the folder.
    init(inData path: String) throws(KeybagError) {
        do throws(DirectoryRefusal) {
            directory = try PrivateDirectory("\(path)/\(Self.name)", creating: true)
        } catch {
            throw .directory(error)
        }
        guard try Self.hasFileOrNone(directory) else { throw .noFile(path: "\(directory.path)/\(Self.lockName)") }
        let taken: FolderLock?
        do throws(SystemCallError) { taken = try FolderLock.take(Self.lockName, in: directory) } catch {
            throw .system(error)
        }
        guard let taken else { throw .inUse }
        lock = taken
    }

    /// Whether nothing but a file lies in the place of the lock: a pipe opens like one, and is none.
    private static func hasFileOrNone(_ directory: PrivateDirectory) throws(KeybagError) -> Bool {
        do throws(SystemCallError) {
            guard try directory.holds(lockName) else { return true }
            return try FileStatus(at: FilePath(lockName), in: directory.descriptor, followingLink: false).isRegularFile
        } catch { throw .system(error) }
    }

    /// Whether the path still leads here.
    var isInPlace: Bool { directory.isInPlace }

    /// Whether it leads to another folder.
    var hasSuccessor: Bool {
        do throws(SystemCallError) {
            _ = try FileStatus(at: FilePath(directory.path), followingLink: false)
            return true
        } catch { return false }
    }

    /// Whether others find the lock that this process holds.
    var isLocked: Bool { lock.isInPlace }

    func putLockBack() throws(KeybagError) {
        let isBack: Bool
        do throws(SystemCallError) { isBack = try lock.putBack() } catch { throw .system(error) }
        guard isBack else { throw .inUse }
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
    /// Opens the keybag, making it first where it is opened for a new store and nothing
    /// of one is there.
    ///
    /// Nothing is written before everything has opened; then each damaged or
    /// older copy is written again from the good one.
    ///
    /// - Parameters:
    ///   - purpose: whether what went is destroyed in TPMs too.
    ///   - moment: now, by the clock whose time counts for attempts.
    func open(
        for opener: KeybagOpener, _ purpose: KeybagPurpose = .use, at moment: Duration, cost: PasscodeCost,
        hardware: any HardwareDoor = NoHardware(), biometry: (any BiometrySource)? = nil
    ) throws(KeybagError) -> EnclaveCore {
        var keybag = try keybagFiles()
        if keybag.isAbsent {
            guard opener.makesStore else { throw .unreadable(.missing) }
            try make()
            keybag = try keybagFiles()
        }
        let keys = ProtectorKeys(try SoftwareSecretFile(in: directory), code: opener.code, hardware: hardware)
        let protectorFiles = try protectorFiles()
        let settled = try settled(protectorFiles, keybag, keys)
        let store = settled.protectors.body.store
        guard opener.accepts(store) else { throw .mismatch }
        var held = HeldProtectors(settled.protectors.body, generation: settled.generation)
        held.software = held.body.contains(.softwareFile) ? keys.softwareSecret : nil
        let (state, formerAttempts) = (settled.state, settled.formerAttempts)
        let protectors = settled.takeProtectors()
        let file = try newest(of: keybag, protectors)
        let body = try Self.body(of: file, protectors)

        var repairs = keybag.repairs(to: file)
        if state == .settled, let file = protectors.file { repairs += protectorFiles.repairs(to: file) }
        let opened = try Keybag(body, generation: file.generation, root: protectors.takeRoot())
        let attempts = try FoundAttempts(try pair(.attempts), former: formerAttempts, root: opened.root)
        if let good = attempts.file, state == .settled, body.counter.place != nil {
            repairs += attempts.files.repairs(to: good)
        }
        let generations = FileGenerations(keybag: file.generation, protectors: held.generation)
        let areReadable = keybag.areReadable && protectorFiles.areReadable && attempts.files.areReadable
        let standing = try standing(
            of: opened, held, generations, attempts, areReadable: areReadable, keys, opener, purpose)
        var core = try EnclaveCore(
            opened, in: self, protectors: nil, hardware: hardware, unrepaired: [],
            attempts: AttemptCounter(failed: attempts.failed, at: moment), cost: cost, biometry: biometry)
        core.audit.witness.note(.started, at: moment)
        // Everything has opened: from here on files are written.
        core.unrepaired = Self.perform(repairs)
        core.sparesWhatWent = try !keybagFiles().areBoth(file)
        // Where a TPM has the secret, another copy may say that the file has it.
        if body.tpm.place == nil || !core.sparesWhatWent { core.unrepaired += settleEffacement(of: body) }
        if state == .toBeWritten {
            let anchor = body.counter.place == nil ? nil : attempts.body?.anchor
            let said = AttemptsBody(store: store, failed: attempts.failed, anchor: anchor)
            core.unrepaired += settle(&held, said, under: core.keybag.root)
        }
        // Before both copies say so, the file's secret may still be needed.
        let name = AuthenticatedFile.Kind.protectors.fileName
        let areWritten = state != .undecided && !core.unrepaired.contains { $0.fileName.hasPrefix(name) }
        if areWritten, try pair(.protectors).areBoth(authenticUnder: core.keybag.root) {
            core.unrepaired += settleSoftwareSecret(of: held, keys)
        }
        core.protectors = held
        try core.take(standing, at: moment)
        if purpose == .use, state == .settled, attempts.speakOfCounter { core.forgetUnusedAnchor() }
        core.unlockAtStart(at: moment) { keys.answer(to: $0) }
        // What devices have no time for now is done after a person's next attempt, or at the
        // next start: nothing else asks them while a desk may.
        if purpose == .use { core.undefineAtStart(within: keys.left) }
        return core
    }

    /// What the files `protectors` come to, beside the keybag.
    private struct Settled: ~Copyable {
        enum State {
            /// They speak of one root key.
            case settled
            /// A replacement of it was cut short; what is said here is to be written.
            case toBeWritten
            /// As before, but nobody can tell yet whether the other key has to stay:
            /// nothing is written.
            case undecided
        }

        let protectors: Protectors
        let generation: UInt64
        let state: State
        /// Attempts that are still written under the key from before.
        let formerAttempts: AttemptsBody?

        consuming func takeProtectors() -> Protectors { protectors }
    }

    /// Where a replacement of the root key was cut short, the keybag says which of the
    /// two it is: the one that comes, if a copy is authentic under it; the one from before,
    /// if every copy is. Nothing is decided by what cannot be read or does not open.
    private func settled(
        _ files: AuthenticPair, _ keybag: AuthenticPair, _ keys: ProtectorKeys
    ) throws(KeybagError) -> Settled {
        if let (coming, announced) = try Protectors.comingRoot(files, keybag, keys) {
            return try settledOnComing(coming, announced, files, keys)
        }
        let found = try Protectors.open(files, keys)
        let generation = found.file?.generation ?? 0
        guard !found.body.coming.isEmpty else {
            return Settled(protectors: found, generation: generation, state: .settled, formerAttempts: nil)
        }
        let (store, old, coming) = (found.body.store, found.body.protectors, found.body.coming)
        // A copy that is of neither key that opens is of the one that does not.
        var areOld = true
        for (_, file) in keybag.framed where file.verified(by: found.root) == nil { areOld = false }
        guard areOld else { throw Protectors.failure(files, keys) }
        let isDecided = keys.open(coming, of: store) != nil && keybag.areReadable && files.areReadable
        let body = ProtectorsBody(store: store, protectors: old, coming: isDecided ? [] : coming)
        return Settled(
            protectors: Protectors(root: found.takeRoot(), body: body, file: nil), generation: generation,
            state: isDecided ? .toBeWritten : .undecided, formerAttempts: nil)
    }

    private func settledOnComing(
        _ coming: NewRoot, _ announced: ProtectorsBody, _ files: AuthenticPair, _ keys: ProtectorKeys
    ) throws(KeybagError) -> Settled {
        // Written already, in one copy: that says more than what announced it.
        if let written = try files.newest(under: coming.key), let said = ProtectorsBody(parsing: written.body) {
            return Settled(
                protectors: Protectors(root: coming.key.copy(), body: said, file: written),
                generation: written.generation, state: .settled, formerAttempts: nil)
        }
        var attempts: AttemptsBody?
        if let former = keys.open(announced.protectors, of: announced.store) {
            attempts = try FoundAttempts(try pair(.attempts), former: nil, root: former).body
        }
        let body = ProtectorsBody(store: announced.store, protectors: announced.coming)
        return Settled(
            protectors: Protectors(root: coming.key.copy(), body: body, file: nil),
            generation: files.framed.map(\.file.generation).max() ?? 0, state: .toBeWritten, formerAttempts: attempts)
    }

    /// Has the files say what was settled; the protectors last, which alone know of it.
    private func settle(
        _ held: inout HeldProtectors, _ attempts: AttemptsBody, under root: borrowing RootKey
    ) -> [RepairFailure] {
        do throws(KeybagError) {
            let failures = try write(attempts, root: root)
            // Once they know of one key alone, a copy under the other is none.
            guard failures.isEmpty else { return failures }
            let generation = held.nextGeneration()
            let unwritten = try write(held.body, generation: generation, root: root)
            held.noteWritten()
            return unwritten
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
            try settle(on: body.fileEffacement)
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
        let bytes = AuthenticatedFile.encode(
            .keybag, version: body.leastVersion, generation: 1, body: body.encoded, root: protectors.root)
        try keybagFiles().pair.write(bytes)
    }
}
