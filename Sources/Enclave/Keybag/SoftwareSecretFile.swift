internal import KeychainCrypto
internal import KeychainPlatform

/// Both copies of the software protector's secret.
struct SoftwareSecretFile: Sendable {
    /// One copy as it lies on disk.
    private enum Copy: Sendable {
        case missing
        case unreadable
        case parsed(SoftwareSecret.Parsed)
    }

    private let pair: FilePair
    private let copies: [Copy]

    init(in directory: PrivateDirectory) throws(KeybagError) {
        pair = FilePair(directory: directory, name: SoftwareSecret.fileName, sizeLimit: SoftwareSecret.fileCount)
        var copies: [Copy] = []
        for index in 0..<FilePair.count { copies.append(try Self.read(pair, index)) }
        self.copies = copies
    }

    private static func read(_ pair: FilePair, _ index: Int) throws(KeybagError) -> Copy {
        do throws(SystemCallError) {
            guard let file = try pair.directory.readSecret(pair.fileName(index), atMost: pair.sizeLimit)
            else { return .missing }
            return .parsed(SoftwareSecret.parse(file))
        } catch {
            if error.isInputOutput { return .unreadable }
            guard error.isNotAFileOfOurs else { throw .system(error) }
            return .parsed(.damaged)
        }
    }

    var isAbsent: Bool { copies.allSatisfy { if case .missing = $0 { true } else { false } } }

    /// The secrets that are whole, each once for each copy it stands in.
    var secrets: [SoftwareSecret] {
        copies.compactMap { if case .parsed(.secret(let secret)) = $0 { secret } else { nil } }
    }

    /// The version of a copy that a newer program wrote.
    var newerVersion: UInt32? {
        for case .parsed(.newer(let version)) in copies { return version }
        return nil
    }

    /// The one secret for a protector that is to be made: the one that is there
    /// from a making that was cut short, else a new one, written and durable.
    func secretForNewProtector() throws(KeybagError) -> SoftwareSecret {
        if let version = newerVersion { throw .newer(version: version) }
        if let found = secrets.first { return found }
        guard isAbsent else { throw .unreadable(.secretDamaged) }
        let made = SoftwareSecret.random()
        for index in 0..<FilePair.count { try write(made, copy: index) }
        return made
    }

    /// Writes the secret that opened over each copy that does not hold it.
    func repair(with good: SoftwareSecret) -> [RepairFailure] {
        var failures: [RepairFailure] = []
        for index in 0..<FilePair.count where needsRepair(index, good) {
            do throws(KeybagError) {
                try write(good, copy: index)
            } catch {
                failures.append(RepairFailure(fileName: pair.fileName(index), error: error))
            }
        }
        return failures
    }

    func holds(_ secret: SoftwareSecret, copy index: Int) -> Bool {
        guard case .parsed(.secret(let found)) = copies[index] else { return false }
        return found.identifier == secret.identifier && found.hasSameKey(as: secret)
    }

    func copiesHolding(_ secret: SoftwareSecret) -> Int {
        secrets.count { $0.identifier == secret.identifier && $0.hasSameKey(as: secret) }
    }

    /// Overwrites both copies where they are, then removes them; the other also where one
    /// cannot be.
    static func efface(in directory: PrivateDirectory) throws(KeybagError) {
        let pair = FilePair(directory: directory, name: SoftwareSecret.fileName, sizeLimit: SoftwareSecret.fileCount)
        var failure: SystemCallError?
        for index in 0..<FilePair.count {
            do throws(SystemCallError) { try efface(pair.fileName(index), in: directory) } catch { failure = error }
        }
        if let failure { throw .system(failure) }
        do throws(SystemCallError) { try directory.synchronize() } catch { throw .system(error) }
    }

    private static func efface(_ name: String, in directory: PrivateDirectory) throws(SystemCallError) {
        guard try directory.holds(name) else { return }
        // What is no file of ours cannot be overwritten, and holds no secret of ours.
        do throws(SystemCallError) {
            try directory.overwrite(name, with: [UInt8](repeating: 0, count: SoftwareSecret.fileCount), at: 0)
        } catch { guard error.isNotAFileOfOurs else { throw error } }
        _ = try directory.remove(name)
    }

    private func needsRepair(_ index: Int, _ good: SoftwareSecret) -> Bool {
        switch copies[index] {
        case .missing, .parsed(.damaged): true
        case .unreadable, .parsed(.newer): false
        case .parsed(.secret(let found)): !(found.identifier == good.identifier && found.hasSameKey(as: good))
        }
    }

    private func write(_ secret: SoftwareSecret, copy index: Int) throws(KeybagError) {
        try secret.withFileBytes { bytes throws(KeybagError) in try pair.write(bytes, copy: index) }
    }
}

extension SoftwareSecret {
    fileprivate func hasSameKey(as other: SoftwareSecret) -> Bool { key.secret.isEqual(to: other.key.secret) }
}
