/// Both copies of an authenticated file, taken apart but not yet believed.
struct AuthenticPair: Sendable {
    let pair: FilePair
    let kind: AuthenticatedFile.Kind
    let copies: [FilePair.Copy]
    /// The copies that have the frame of such a file, with their place.
    let framed: [(index: Int, file: AuthenticatedFile.Unverified)]

    init(_ kind: AuthenticatedFile.Kind, in pair: FilePair) throws(KeybagError) {
        self.kind = kind
        self.pair = pair
        copies = try pair.read()
        var framed: [(Int, AuthenticatedFile.Unverified)] = []
        for (index, copy) in copies.enumerated() {
            guard case .bytes(let bytes) = copy, let file = AuthenticatedFile.parse(kind, bytes) else { continue }
            framed.append((index, file))
        }
        self.framed = framed
    }

    var isAbsent: Bool { copies.isAbsent }

    /// Whether the disk gives what it has of each copy.
    var areReadable: Bool { copies.allSatisfy { if case .unreadable = $0 { false } else { true } } }

    func areBoth(authenticUnder root: borrowing RootKey) -> Bool {
        var good = 0
        for (_, file) in framed where file.verified(by: root) != nil { good += 1 }
        return good == FilePair.count
    }

    /// Whether each copy is `file`: neither may be newer.
    func areBoth(_ file: AuthenticatedFile.Verified) -> Bool {
        copies.allSatisfy { if case .bytes(file.bytes) = $0 { true } else { false } }
    }

    /// The version of a copy that says that it was written by a newer program.
    var claimedNewerVersion: UInt32? { framed.first { $0.file.claimsNewer }?.file.version }

    /// The newest copy that is authentic under `root`, nil where none is. Of one whose version
    /// alone changed since it was written, what was written.
    ///
    /// - Throws: ``KeybagError/newer(version:)`` for an authentic copy of a newer
    ///   program, however good the other one is.
    func newest(under root: borrowing RootKey) throws(KeybagError) -> AuthenticatedFile.Verified? {
        var newest: AuthenticatedFile.Verified?
        for (_, file) in framed {
            let asItIs = file.verified(by: root)
            if asItIs != nil, file.claimsNewer { throw .newer(version: file.version) }
            guard let verified = asItIs ?? file.corrected(by: root) else { continue }
            if verified.generation > newest?.generation ?? 0 { newest = verified }
        }
        return newest
    }

    /// What has to be written again so that both copies are `good`. A copy that
    /// the disk cannot read is left alone.
    func repairs(to good: AuthenticatedFile.Verified) -> [Repair] {
        copies.enumerated().compactMap { index, copy in
            switch copy {
            case .unreadable: nil
            case .bytes(let bytes) where bytes == good.bytes: nil
            case .missing, .bytes: Repair(pair: pair, index: index, bytes: good.bytes)
            }
        }
    }
}
