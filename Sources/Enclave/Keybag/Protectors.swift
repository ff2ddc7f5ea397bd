internal import KeychainCrypto
internal import KeychainPlatform

/// The opened file `protectors`: the root key and what it was opened with.
struct Protectors: ~Copyable {
    let root: RootKey
    let body: ProtectorsBody
    let file: AuthenticatedFile.Verified
    /// The secret that opened the root key.
    let secret: SoftwareSecret

    /// Opens the root key with the secrets there are.
    ///
    /// Each copy is judged under the root key that it itself wraps; the newest
    /// authentic one wins.
    static func open(_ files: AuthenticPair, _ secrets: SoftwareSecretFile) throws(KeybagError) -> Protectors {
        var best: Protectors?
        for (_, file) in files.framed where !file.claimsNewer {
            guard let opened = open(file, secrets.secrets) else { continue }
            // An authentic file of a newer program is refused, whatever the other says.
            _ = try files.newest(under: opened.root)
            best = newer(consume best, opened)
        }
        guard let best else { throw failure(files, secrets) }
        return best
    }

    private static func newer(_ first: consuming Protectors?, _ second: consuming Protectors) -> Protectors {
        guard let first else { return second }
        return first.file.generation >= second.file.generation ? first : second
    }

    private static func open(
        _ file: AuthenticatedFile.Unverified, _ secrets: [SoftwareSecret]
    ) -> Protectors? {
        guard let body = ProtectorsBody(parsing: file.uncheckedBody) else { return nil }
        for protector in body.protectors where protector.kind == .softwareFile {
            for secret in secrets where secret.identifier == protector.identifier {
                guard let root = secret.open(protector, of: body.store) else { continue }
                guard let verified = file.verified(by: root) else { continue }
                return Protectors(root: root, body: body, file: verified, secret: secret)
            }
        }
        return nil
    }

    private static func failure(_ files: AuthenticPair, _ secrets: SoftwareSecretFile) -> KeybagError {
        if let version = files.claimedNewerVersion ?? secrets.newerVersion { return .newer(version: version) }
        if files.isAbsent { return .unreadable(.protectorsMissing) }
        if files.framed.isEmpty { return .unreadable(.protectorsDamaged) }
        return .unreadable(secrets.secrets.isEmpty ? .secretDamaged : .noProtectorOpens)
    }
}

extension Protectors {
    consuming func takeRoot() -> RootKey { root }

    /// A new root key for a new store, wrapped by the software protector: the
    /// bytes of the file.
    static func encodeNew(for store: StoreID, secret: SoftwareSecret) -> [UInt8] {
        let root = RootKey.random()
        let binding = WrapBinding.rootKey(store: store, protector: .softwareFile, secret.identifier)
        let protector = ProtectorsBody.Protector(
            kind: .softwareFile, identifier: secret.identifier,
            wrappedRoot: root.wrapped(by: secret.key, bound: binding))
        let body = ProtectorsBody(store: store, protectors: [protector])
        return AuthenticatedFile.encode(.protectors, generation: 1, body: body.encoded, root: root)
    }
}

extension SoftwareSecret {
    /// The root key, or nil where this secret is not what wrapped it.
    fileprivate func open(_ protector: ProtectorsBody.Protector, of store: StoreID) -> RootKey? {
        let binding = WrapBinding.rootKey(store: store, protector: protector.kind, protector.identifier)
        do throws(CryptoError) {
            return RootKey(try key.open(protector.wrappedRoot, bound: binding))
        } catch {
            return nil
        }
    }
}
