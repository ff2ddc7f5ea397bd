@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A file that comes into being whole: written in a private folder (0700) beside
/// its own place, made durable, then renamed.
///
/// Whoever writes it by name (SQLite, which may look for a journal beside it) does
/// so where nobody else can put anything. A folder that others can write is
/// refused, unless it is sticky (/tmp): there nobody can rename what is ours.
package final class OutputFile: Sendable {
    package let path: String
    private let folder: Descriptor
    private let name: String
    private let workshop: TemporaryFolder

    /// Folders in which files come into being, and what they are called there.
    private static let workshops = ".latchkey-unfinished"
    private static let content = "content"

    /// Why there is no such file.
    package enum Refusal: Error, Sendable {
        /// Others can rename what is ours in that folder.
        case writableByOthers(folder: String)
        case system(SystemCallError)
    }

    /// Removes what a process that was killed left of earlier files.
    ///
    /// - Throws: ``Refusal``: ENOENT, EACCES and the like for the folder, EINVAL
    ///   for a path that names no file.
    package init(_ path: String) throws(Refusal) {
        let parts = FilePath(path)
        guard let parent = parts.folder, let name = String(validating: parts.name, as: UTF8.self), !name.isEmpty else {
            throw .system(SystemCallError("open", errno: EINVAL))
        }
        self.path = path
        self.name = name
        let folderPath = String(decoding: parent.bytes, as: UTF8.self)
        do throws(SystemCallError) {
            let raw = unsafe folderPath.withCString { unsafe lk_open($0, O_DIRECTORY | O_RDONLY, 0) }
            folder = Descriptor(owning: try checked("open", raw))
        } catch { throw .system(error) }
        guard try Self.isOurs(folder) else { throw .writableByOthers(folder: folderPath) }
        TemporaryFolder.sweep(folderPath, prefix: Self.workshops)
        workshop = try Self.workshop(in: folderPath)
    }

    private static func workshop(in folder: String) throws(Refusal) -> TemporaryFolder {
        do throws(DirectoryRefusal) {
            let made = try TemporaryFolder.make(in: folder, prefix: workshops)
            do throws(SystemCallError) {
                _ = try made.directory.openFile(content, creating: true)
            } catch { throw .system(path: made.path, error) }
            return made
        } catch {
            if case .system(_, let below) = error { throw .system(below) }
            throw .system(SystemCallError("mkdtemp", errno: EACCES))
        }
    }

    private static func isOurs(_ folder: Descriptor) throws(Refusal) -> Bool {
        let status: FileStatus
        do throws(SystemCallError) { status = try FileStatus(of: folder) } catch { throw .system(error) }
        let belongsToUs = status.userID == 0 || status.userID == geteuid()
        return belongsToUs && (status.mode & 0o022 == 0 || status.mode & S_ISVTX != 0)
    }

    /// Where to write until ``publish(replacing:)``.
    package var temporaryPath: String { workshop.path + "/" + Self.content }

    /// Whether something has the name already.
    package var isTaken: Bool {
        var status = stat()
        return unsafe fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Adds to the end of what was written.
    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        let (folder, content) = (workshop.directory.descriptor, Self.content)
        let raw = unsafe content.withCString {
            unsafe lk_openat(folder.raw, $0, O_WRONLY | O_APPEND | O_NOFOLLOW, 0)
        }
        try Descriptor(owning: try checked("open", raw)).write(secret)
    }

    /// Makes the content durable and gives it its name.
    ///
    /// - Throws: EEXIST where the name is taken and nothing may be replaced.
    package func publish(replacing: Bool) throws(SystemCallError) {
        let (folder, name, source, content) = (folder, name, workshop.directory.descriptor, Self.content)
        let raw = unsafe content.withCString { unsafe lk_openat(source.raw, $0, O_RDONLY | O_NOFOLLOW, 0) }
        let file = Descriptor(owning: try checked("open", raw))
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
        if replacing {
            guard unsafe renameat(source.raw, content, folder.raw, name) == 0 else {
                throw SystemCallError("rename", errno: errno)
            }
        } else {
            _ = try checked("rename", unsafe lk_rename_new(source.raw, content, folder.raw, name))
        }
        guard fsync(folder.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
    }

    /// Takes away what lies beside the file; what was published stays.
    package func discard() {
        // What cannot be removed now goes with the next file here.
        do throws(SystemCallError) { try workshop.remove() } catch { return }
    }
}
