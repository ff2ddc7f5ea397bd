internal import KeychainPlatform

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
    package static func holdKeybag(inDataDirectory path: String) -> Bool {
        FolderContent.names(at: "\(path)/\(folderName)").contains {
            $0.hasPrefix(AuthenticatedFile.Kind.keybag.fileName + ".")
        }
    }

    /// Whether a copy at least of everything is there that opening takes; the software
    /// protector's secret where a copy of the protectors speaks of it, or none can be read.
    package static func suffice(_ files: [(name: String, content: [UInt8])]) -> Bool {
        func copies(of name: String) -> [[UInt8]] {
            files.filter { file in (0..<FilePair.count).contains { file.name == "\(name).\($0)" } }.map(\.content)
        }
        let protectors = copies(of: AuthenticatedFile.Kind.protectors.fileName)
        let bodies = protectors.compactMap { bytes in
            AuthenticatedFile.parse(.protectors, bytes).flatMap { ProtectorsBody(parsing: $0.uncheckedBody) }
        }
        let needsSecret = bodies.isEmpty || bodies.contains { $0.contains(.softwareFile) }
        return !protectors.isEmpty && !copies(of: AuthenticatedFile.Kind.keybag.fileName).isEmpty
            && (!needsSecret || !copies(of: SoftwareSecret.fileName).isEmpty)
    }
}
