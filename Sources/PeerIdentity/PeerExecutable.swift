package import KeychainPlatform

/// The program a peer runs, as evidence.
package struct PeerExecutable: Hashable, Sendable {
    /// The file that was executed, even where its name now leads to another.
    package let file: FileIdentity
    /// What the kernel calls it; without " (deleted)" where that is the kernel's note.
    package let path: FilePath
    /// Whether the path leads here, today, to the file that was executed.
    package let isInPlace: Bool
    /// Whether only root can put another file there.
    package let isRootsAlone: Bool

    /// - Parameter isLocal: whether the process sees the same files as we do;
    ///   only then does its path mean anything here.
    init(file: FileStatus, path: FilePath, isLocal: Bool) {
        self.file = file.identity
        let isInPlace = isLocal && Self.leads(path, to: file.identity)
        self.isInPlace = isInPlace
        self.path = isInPlace ? path : path.withoutDeletionNote(linkCount: file.linkCount)
        isRootsAlone =
            isInPlace && file.isRegularFile && file.isWritableByRootOnly && Self.onlyRootReaches(path)
    }

    private static func leads(_ path: FilePath, to file: FileIdentity) -> Bool {
        guard path.isAbsolute else { return false }
        do throws(SystemCallError) {
            return try FileStatus(at: path, followingLink: false).identity == file
        } catch {
            return false  // a path that leads nowhere does not lead to the file
        }
    }

    /// Whether every folder on the way is root's and closed to others: whoever
    /// may write one of them may exchange what lies below.
    private static func onlyRootReaches(_ path: FilePath) -> Bool {
        var folder = path.folder
        while let current = folder {
            do throws(SystemCallError) {
                let status = try FileStatus(at: current, followingLink: false)
                guard status.isDirectory, status.isWritableByRootOnly else { return false }
            } catch {
                return false
            }
            folder = current.folder
        }
        return true
    }
}

extension FilePath {
    /// d_path() of the kernel notes a removed file behind its name; a file that
    /// is really called so has a link.
    fileprivate func withoutDeletionNote(linkCount: UInt64) -> FilePath {
        let note = Array(" (deleted)".utf8)
        guard linkCount == 0, bytes.count > note.count, bytes.suffix(note.count).elementsEqual(note) else {
            return self
        }
        return FilePath(bytes: Array(bytes.dropLast(note.count)))
    }
}
