@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A file that comes into being whole: written under a temporary name beside
/// its own (mode 0600), made durable, then renamed.
package final class OutputFile: Sendable {
    package let path: String
    /// Where to write until ``publish(replacing:)``.
    package let temporaryPath: String
    private let folder: Descriptor
    private let name: String
    private let temporaryName: String

    /// - Throws: ENOENT, EACCES and the like for the folder, EINVAL for a path
    ///   that names no file.
    package init(_ path: String) throws(SystemCallError) {
        let parts = FilePath(path)
        guard let parent = parts.folder, let name = String(validating: parts.name, as: UTF8.self), !name.isEmpty else {
            throw SystemCallError("open", errno: EINVAL)
        }
        self.path = path
        self.name = name
        let letters = Random.bytes(6).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        temporaryName = ".\(name.prefix(64)).\(letters)"
        let folderPath = String(decoding: parent.bytes, as: UTF8.self)
        temporaryPath = folderPath + "/" + temporaryName
        folder = Descriptor(
            owning: try checked("open", unsafe folderPath.withCString { unsafe lk_open($0, O_DIRECTORY | O_RDONLY, 0) })
        )
        let (folder, temporaryName) = (folder, temporaryName)
        let raw = unsafe temporaryName.withCString {
            unsafe lk_openat(folder.raw, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        }
        _ = Descriptor(owning: try checked("create", raw))
    }

    /// Whether something has the name already.
    package var isTaken: Bool {
        var status = stat()
        return unsafe fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Adds to the end of what was written.
    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        let (folder, temporaryName) = (folder, temporaryName)
        let raw = unsafe temporaryName.withCString {
            unsafe lk_openat(folder.raw, $0, O_WRONLY | O_APPEND | O_NOFOLLOW, 0)
        }
        try append(secret, to: Descriptor(owning: try checked("open", raw)))
    }

    /// Makes the content durable and gives it its name.
    ///
    /// - Throws: EEXIST where the name is taken and nothing may be replaced.
    package func publish(replacing: Bool) throws(SystemCallError) {
        let (folder, temporaryName, name) = (folder, temporaryName, name)
        let raw = unsafe temporaryName.withCString { unsafe lk_openat(folder.raw, $0, O_RDONLY | O_NOFOLLOW, 0) }
        let file = Descriptor(owning: try checked("open", raw))
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
        if replacing {
            guard unsafe renameat(folder.raw, temporaryName, folder.raw, name) == 0 else {
                throw SystemCallError("rename", errno: errno)
            }
        } else {
            _ = try checked("rename", unsafe lk_rename_new(folder.raw, temporaryName, folder.raw, name))
        }
        guard fsync(folder.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
    }

    /// Takes the temporary file away, where it still is one.
    package func discard() { _ = unsafe unlinkat(folder.raw, temporaryName, 0) }
}
