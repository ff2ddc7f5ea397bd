internal import KeychainPlatform

/// The files of a keybag as others see them: names, and bytes nobody judges.
package enum EnclaveFiles {
    /// Everything that opening the keybag takes.
    package static let names = [
        AuthenticatedFile.Kind.protectors.fileName, AuthenticatedFile.Kind.keybag.fileName,
        SoftwareSecret.fileName,
    ].flatMap { name in (0..<FilePair.count).map { "\(name).\($0)" } }

    /// Everything that may lie in the folder. What is not among ``names`` is in no
    /// backup: what effaces for good must not lie in copies, and attempts count here.
    package static let allNames =
        names + [lockName, EffacementFile.fileName]
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

    /// Whether a copy at least of everything is among the names.
    package static func suffice(_ found: [String]) -> Bool {
        stride(from: 0, to: names.count, by: FilePair.count).allSatisfy { start in
            names[start..<start + FilePair.count].contains { found.contains($0) }
        }
    }
}
