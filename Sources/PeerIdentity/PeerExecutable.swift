package import KeychainPlatform

/// The program a peer runs, as evidence.
package struct PeerExecutable: Hashable, Sendable {
    /// The file that was executed, even where its name now leads to another.
    package let file: FileIdentity
    /// What the kernel calls it; without " (deleted)" where that is the kernel's note.
    package let path: FilePath
    /// Whether the path leads here, today, to the file that was executed.
    package let isInPlace: Bool
    /// Whether the file lay at the path until it was removed or replaced there.
    package let wasInPlace: Bool
    /// Whether only root can put another file there, or could when it was replaced.
    package let isRootsAlone: Bool

    /// - Parameters:
    ///   - mount: The mount that the file was executed on; nil where the kernel does not tell.
    ///   - sees: What a path of the process means here.
    init(file: FileStatus, path: FilePath, mount: UInt64?, sees: ForeignNamespaces) {
        self.file = file.identity
        let isInPlace = !sees.user && Self.leads(path, to: file.identity)
        let former = isInPlace ? nil : path.withoutDeletionNote(linkCount: file.linkCount)
        self.isInPlace = isInPlace
        wasInPlace = former.map { !sees.hidesFiles && Self.lay(at: $0, on: mount) } ?? false
        let isBelieved = wasInPlace || file.linkCount == 0 && (mount == nil || sees.hidesFiles)
        self.path = isBelieved ? former ?? path : path
        // A name in root's folders that is gone was taken away by root: the file was root's to
        // put there, as one is that still lies there.
        isRootsAlone =
            (isInPlace || wasInPlace) && file.isRegularFile && file.isWritableByRootOnly
            && Self.onlyRootReaches(self.path)
    }

    /// Whether a removed file's name is to be believed: what the kernel writes is how the file
    /// was reached, and who has mounts of their own can have any name there, also for a
    /// process that sees our files (by /proc/PID/root). On the mount of ours at which the name's
    /// folder lies, names are ours.
    private static func lay(at path: FilePath, on mount: UInt64?) -> Bool {
        guard let mount, let folder = path.folder else { return false }
        do throws(SystemCallError) { return try MountIdentity.of(folder) == mount } catch { return false }
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
    /// The name that a removed or replaced file had: d_path() of the kernel notes behind it that
    /// it is gone. nil where there is no such note, or it is the name of a file: then there
    /// is one of that name, or the file has another link and was never removed.
    fileprivate func withoutDeletionNote(linkCount: UInt64) -> FilePath? {
        guard isAbsolute, endsInDeletionNote else { return nil }
        if linkCount > 0 {
            do throws(SystemCallError) {
                _ = try FileStatus(at: self, followingLink: false)
                return nil
            } catch {
                guard error.isNoSuchFile else { return nil }
            }
        }
        return FilePath(bytes: Array(bytes.dropLast(Self.deletionNote.count)))
    }

    private static let deletionNote = Array(" (deleted)".utf8)

    var endsInDeletionNote: Bool {
        bytes.count > Self.deletionNote.count
            && bytes.suffix(Self.deletionNote.count).elementsEqual(Self.deletionNote)
    }
}
