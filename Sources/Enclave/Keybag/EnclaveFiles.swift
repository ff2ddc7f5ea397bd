package import KeychainPlatform

/// The files of a keybag as others see them: names, and bytes nobody judges.
package enum EnclaveFiles {
    /// Everything that opening the keybag takes.
    package static let names = [
        AuthenticatedFile.Kind.protectors.fileName, AuthenticatedFile.Kind.keybag.fileName,
        SoftwareSecret.fileName,
    ].flatMap { name in (0..<FilePair.count).map { "\(name).\($0)" } }

    /// Everything that may lie in the folder. What is not among ``names`` is in no
    /// backup: what effaces for good must not lie in copies, and attempts and the audit record
    /// count here.
    package static let allNames =
        names + [lockName, EffacementFile.fileName, AuditHead.fileName]
        + (0..<FilePair.count).map { "\(AuthenticatedFile.Kind.attempts.fileName).\($0)" }

    package static let folderName = EnclaveDirectory.name
    /// Held by whoever has the keybag open.
    package static let lockName = EnclaveDirectory.lockName

    /// Whether a copy of the keybag lies in a data folder.
    ///
    /// - Throws: where the folder cannot be read: nobody knows then.
    package static func holdKeybag(in data: PrivateDirectory) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            let found = try FileStatus(at: FilePath(folderName), in: data.descriptor, followingLink: true)
            guard found.isDirectory else { return false }
        } catch {
            guard error.isNoSuchFile else { throw error }
            return false
        }
        let folder = try Descriptor.look(at: FilePath(folderName), in: data.descriptor, .folder)
        return try FolderContent.names(in: folder).contains {
            $0.hasPrefix(AuthenticatedFile.Kind.keybag.fileName + ".")
        }
    }

    /// Whether a copy at least of everything is there that opening takes; the software
    /// protector's secret where a copy of the protectors speaks of it, or none can be read.
    package static func suffice(_ files: [File]) -> Bool {
        let protectors = copies(of: AuthenticatedFile.Kind.protectors.fileName, in: files)
        let bodies = bodies(of: protectors)
        let needsSecret = bodies.isEmpty || bodies.contains { $0.contains(.softwareFile) }
        return !protectors.isEmpty && !copies(of: AuthenticatedFile.Kind.keybag.fileName, in: files).isEmpty
            && (!needsSecret || !copies(of: SoftwareSecret.fileName, in: files).isEmpty)
    }

    /// Whether a copy of the keybag is authentic by what lies beside it; nil where that takes
    /// what is not among the files (a TPM, a security key, a recovery code) and they have the
    /// frames of such files at least.
    package static func areAuthentic(_ files: [File]) -> Bool? {
        let protectors = copies(of: AuthenticatedFile.Kind.protectors.fileName, in: files)
        let keybags = copies(of: AuthenticatedFile.Kind.keybag.fileName, in: files)
            .compactMap { AuthenticatedFile.parse(.keybag, $0) }
        let bodies = bodies(of: protectors)
        guard !bodies.isEmpty, !keybags.isEmpty else { return false }
        for content in copies(of: SoftwareSecret.fileName, in: files) {
            guard case .secret(let secret) = SoftwareSecret.parse(SecretBytes(copying: content)) else { continue }
            for body in bodies {
                for protector in body.protectors + body.coming
                where protector.kind == .softwareFile && protector.identifier == secret.identifier {
                    guard let root = RootKey(protector, of: body.store, under: secret.key) else { continue }
                    for keybag in keybags where keybag.verified(by: root) != nil { return true }
                }
            }
        }
        return bodies.contains { $0.contains(.softwareFile) } ? false : nil
    }

    package typealias File = (name: String, content: [UInt8])

    private static func copies(of name: String, in files: [File]) -> [[UInt8]] {
        files.filter { file in (0..<FilePair.count).contains { file.name == "\(name).\($0)" } }.map(\.content)
    }

    private static func bodies(of protectors: [[UInt8]]) -> [ProtectorsBody] {
        protectors.compactMap { bytes in
            AuthenticatedFile.parse(.protectors, bytes).flatMap { ProtectorsBody(parsing: $0.uncheckedBody) }
        }
    }
}
