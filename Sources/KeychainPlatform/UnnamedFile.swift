@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A file (mode 0600) that has no name until it is whole: a process that ends
/// before leaves nothing behind. Where the file system has no such files
/// (open(2), O_TMPFILE) it is an ``OutputFile``.
package final class UnnamedFile: Sendable {
    private enum Backing: Sendable {
        case unnamed(Descriptor)
        case named(OutputFile)
    }

    private let folder: Descriptor
    private let name: String
    private let backing: Backing

    /// asm-generic/fcntl.h; Glibc's module hides it behind _GNU_SOURCE.
    private static let unnamed: Int32 = 0o20000000 | O_DIRECTORY

    /// - Parameter isForEverybody: mode 0644, for what is no secret.
    /// - Throws: ENOENT, EACCES and the like for the folder, EINVAL for a path
    ///   that names no file.
    package init(_ path: String, isForEverybody: Bool = false) throws(SystemCallError) {
        let parts = FilePath(path)
        guard let parent = parts.folder, let name = String(validating: parts.name, as: UTF8.self), !name.isEmpty else {
            throw SystemCallError("open", errno: EINVAL)
        }
        self.name = name
        let raw = unsafe String(decoding: parent.bytes, as: UTF8.self).withCString {
            unsafe lk_open($0, O_DIRECTORY | O_RDONLY, 0)
        }
        folder = Descriptor(owning: try checked("open", raw))
        let file = unsafe lk_openat(folder.raw, ".", Self.unnamed | O_WRONLY, 0o600)
        if [-EOPNOTSUPP, -EISDIR, -EINVAL].contains(file) {
            backing = .named(try Self.named(path))
        } else {
            let opened = Descriptor(owning: try checked("create", file))
            // Whatever the umask.
            if isForEverybody, fchmod(opened.raw, 0o644) != 0 { throw SystemCallError("fchmod", errno: errno) }
            backing = .unnamed(opened)
        }
    }

    private static func named(_ path: String) throws(SystemCallError) -> OutputFile {
        do throws(OutputFile.Refusal) { return try OutputFile(path) } catch {
            switch error {
            case .system(let below): throw below
            case .writableByOthers: throw SystemCallError("open a folder that others can write", errno: EACCES)
            }
        }
    }

    /// Adds to the end of what was written.
    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        switch backing {
        case .named(let file): try file.write(secret)
        case .unnamed(let file): try file.write(secret)
        }
    }

    /// Makes the content durable and gives it its name.
    ///
    /// - Throws: EEXIST where the name is taken and nothing may be replaced.
    package func publish(replacing: Bool) throws(SystemCallError) {
        switch backing {
        case .named(let file): try file.publish(replacing: replacing)
        case .unnamed(let file):
            guard fsync(file.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
            if replacing { try replace(with: file) } else { try link(file, as: name) }
            guard fsync(folder.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
        }
    }

    /// Writes so many bytes to such a file in a folder, as durably as anything else, and lets it
    /// go: what a write would meet there. Says nothing where the file system has none.
    package static func tryWriting(byteCount: Int, in folder: String) throws(SystemCallError) {
        let file = try UnnamedFile(folder + "/trial")
        defer { file.discard() }
        guard case .unnamed(let raw) = file.backing else { return }
        try writeAll(raw, [UInt8](repeating: 0, count: byteCount))
        guard fsync(raw.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
    }

    /// Forgets it, where it has no name yet.
    package func discard() {
        if case .named(let file) = backing { file.discard() }
    }

    private func replace(with file: Descriptor) throws(SystemCallError) {
        let letters = Random.bytes(6).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let (folder, other, name) = (folder, ".\(name.prefix(64)).\(letters)", name)
        try link(file, as: other)
        guard unsafe renameat(folder.raw, other, folder.raw, name) == 0 else {
            let failure = SystemCallError("rename", errno: errno)
            _ = unsafe unlinkat(folder.raw, other, 0)
            throw failure
        }
    }

    /// open(2), O_TMPFILE: by its name in /proc, since the other way needs a right.
    private func link(_ file: Descriptor, as name: String) throws(SystemCallError) {
        guard unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file.raw)", folder.raw, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw SystemCallError("link", errno: errno)
        }
    }
}
