internal import KeychainCrypto
internal import KeychainPlatform

/// The opened file `protectors`: the root key and what the file says.
struct Protectors: ~Copyable {
    let root: RootKey
    let body: ProtectorsBody
    /// The copy that says so; nil where a replacement of the root key has to be finished.
    let file: AuthenticatedFile.Verified?

    /// Opens the root key with what there is.
    ///
    /// Each copy is judged under the root key that it itself wraps; the newest
    /// authentic one wins. (A key that only comes is looked for by
    /// ``comingRoot(_:_:_:)``.)
    static func open(_ files: AuthenticPair, _ keys: ProtectorKeys) throws(KeybagError) -> Protectors {
        var best: Protectors?
        for (_, file) in files.framed {
            guard let opened = open(file, keys) else { continue }
            // An authentic file of a newer program is refused, whatever the other says.
            _ = try files.newest(under: opened.root)
            best = newer(consume best, opened)
        }
        guard let best else { throw failure(files, keys) }
        return best
    }

    private static func newer(_ first: consuming Protectors?, _ second: consuming Protectors) -> Protectors {
        guard let first else { return second }
        return first.file?.generation ?? 0 >= second.file?.generation ?? 0 ? first : second
    }

    private static func open(_ file: AuthenticatedFile.Unverified, _ keys: ProtectorKeys) -> Protectors? {
        guard let body = ProtectorsBody(parsing: file.uncheckedBody),
            let root = keys.open(body.protectors, of: body.store)
        else { return nil }
        // What a newer program wrote says something else to it; a version that changed since is damage.
        let asItIs = file.claimsNewer ? nil : file.verified(by: root)
        guard let verified = asItIs ?? file.corrected(by: root) else { return nil }
        return Protectors(root: root, body: body, file: verified)
    }

    /// The root key that was to come, where a copy speaks of one that opens and a copy of
    /// the keybag is authentic under it.
    ///
    /// That copy is authentic under the key from before, which may not open any more: what
    /// makes this key the root key is a keybag that is authentic under it, and nothing else.
    static func comingRoot(
        _ files: AuthenticPair, _ keybag: AuthenticPair, _ keys: ProtectorKeys
    ) throws(KeybagError) -> (root: NewRoot, announced: ProtectorsBody)? {
        for (_, file) in files.framed where !file.claimsNewer {
            guard let body = ProtectorsBody(parsing: file.uncheckedBody), !body.coming.isEmpty,
                let root = keys.open(body.coming, of: body.store), try keybag.newest(under: root) != nil
            else { continue }
            return (NewRoot(root), body)
        }
        return nil
    }

    static func failure(_ files: AuthenticPair, _ keys: ProtectorKeys) -> KeybagError {
        if let version = files.claimedNewerVersion ?? keys.secrets.newerVersion { return .newer(version: version) }
        if files.isAbsent { return .unreadable(.protectorsMissing) }
        if files.framed.isEmpty { return .unreadable(.protectorsDamaged) }
        if !keys.refusals.isEmpty { return .noProtectorOpens(keys.refusals.joined(separator: "; ")) }
        let hasSoftware = files.framed.contains {
            ProtectorsBody(parsing: $0.file.uncheckedBody)?.contains(.softwareFile) == true
        }
        return .unreadable(hasSoftware && keys.secrets.secrets.isEmpty ? .secretDamaged : .noProtectorOpens)
    }
}

extension Protectors {
    consuming func takeRoot() -> RootKey { root }

    /// A new root key for a new store, wrapped by the software protector: the
    /// bytes of the file.
    static func encodeNew(for store: StoreID, secret: SoftwareSecret) -> [UInt8] {
        let root = RootKey.random()
        let protector = root.protected(by: .softwareFile, named: secret.identifier, under: secret.key, of: store)
        let body = ProtectorsBody(store: store, protectors: [protector])
        return AuthenticatedFile.encode(.protectors, generation: 1, body: body.encoded, root: root)
    }
}

/// What the file `protectors` says, as a running enclave has it.
struct HeldProtectors: Sendable {
    var body: ProtectorsBody
    /// The last that a try to write it had: no other has the same.
    private(set) var generation: UInt64
    /// Of the newest copy that was written: an opening finds that or a newer one.
    private(set) var written: UInt64
    /// What the software protector's file holds, where there is one.
    var software: SoftwareSecret?

    init(_ body: ProtectorsBody, generation: UInt64) {
        self.body = body
        self.generation = generation
        written = generation
    }

    /// For the next try.
    mutating func nextGeneration() -> UInt64 {
        generation += 1
        return generation
    }

    /// A copy with the last generation was written.
    mutating func noteWritten() { written = generation }
}
