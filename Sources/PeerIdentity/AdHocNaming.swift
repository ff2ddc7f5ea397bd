internal import KeychainPlatform

/// How programs that nothing vouches for are told apart. The daemon supplies the
/// two functions, because neither property lists nor digests belong here.
package struct AdHocNaming: Sendable {
    /// CFBundleIdentifier of the bytes of an Info.plist, or nil. The bytes are
    /// the caller's: anything may be in them.
    package typealias BundleIdentifierReader = @Sendable ([UInt8]) -> String?

    private let readBundleIdentifier: BundleIdentifierReader
    private let digest: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameter digest: a collision-resistant digest of 16 bytes or more.
    package init(
        readBundleIdentifier: @escaping BundleIdentifierReader, digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.readBundleIdentifier = readBundleIdentifier
        self.digest = digest
    }

    /// The last rung of a program; nil where nothing tells it from others.
    ///
    /// A process that sees other files than we do chose what its executable is
    /// called. Its name is digested together with what contains it, so that it
    /// meets no program outside and in no other sandbox. Where nothing says what
    /// contains it, it would meet every other program of which nothing does.
    func rung(for evidence: PeerEvidence, of userID: UInt32, within container: IdentityRung?) -> IdentityRung? {
        let executable = evidence.executable
        if evidence.isForeign {
            guard let container else { return nil }
            return .path(digest: hex(Array(container.groupName.utf8) + [0] + executable.path.bytes))
        }
        // Also of a file that was replaced while it runs, as every upgrade does.
        if executable.isInPlace || executable.wasInPlace,
            let identifier = bundleIdentifier(of: executable.path, owner: userID)
        {
            return .bundle(identifier)
        }
        return .path(digest: hex(executable.path.bytes))
    }

    private func bundleIdentifier(of executable: FilePath, owner: UInt32) -> String? {
        for folder in Self.bundleFolders(of: executable) {
            guard let file = SmallFile.read(folder.appending("Info.plist")),
                file.status.userID == 0 || file.status.userID == owner, file.status.mode & 0o002 == 0,
                let identifier = readBundleIdentifier(file.bytes), ReverseDomainName.isValid(identifier)
            else { continue }
            return identifier
        }
        return nil
    }

    /// Where the Info.plist of an executable is: in X.app/Contents for one in
    /// X.app/Contents/Linux, and else beside it (X.app/Info.plist included).
    private static func bundleFolders(of executable: FilePath) -> [FilePath] {
        guard let folder = executable.folder else { return [] }
        if folder.name.elementsEqual("Linux".utf8), let contents = folder.folder,
            contents.name.elementsEqual("Contents".utf8),
            let bundle = contents.folder, bundle.name.reversed().starts(with: ".app".utf8.reversed())
        {
            return [contents, folder]
        }
        return [folder]
    }

    private func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let value = digest(bytes)
        precondition(value.count >= 16, "a digest of 16 bytes or more")
        return String(
            decoding: value.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
