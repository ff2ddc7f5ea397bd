@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension PrivateDirectory {
    /// The first bytes of a regular file, fewer where it is shorter; nil where
    /// there is none.
    package func readPrefix(_ name: String, byteCount: Int) throws(SystemCallError) -> [UInt8]? {
        let raw = unsafe name.withCString {
            unsafe lk_openat(descriptor.raw, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        }
        if raw == -ENOENT { return nil }
        let file = Descriptor(owning: try checked("open \(name)", raw))
        guard try FileStatus(of: file).isRegularFile else { throw SystemCallError("open \(name)", errno: EINVAL) }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file.raw, $0.baseAddress, $0.count, 0) }
        guard got >= 0 else { throw SystemCallError("read \(name)", errno: errno) }
        return Array(bytes.prefix(got))
    }

    /// Whether anything has this name here.
    package func holds(_ name: String) throws(SystemCallError) -> Bool {
        var status = stat()
        if unsafe fstatat(descriptor.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        if errno == ENOENT { return false }
        throw SystemCallError("stat \(name)", errno: errno)
    }

    /// Moves a file or folder, never over another one; true where there was one
    /// to move.
    ///
    /// - Throws: EEXIST where the new name is taken.
    @discardableResult
    package func move(
        _ name: String, to target: String, in other: PrivateDirectory? = nil
    ) throws(SystemCallError) -> Bool {
        let folder = other?.descriptor.raw ?? descriptor.raw
        let result = unsafe lk_rename_new(descriptor.raw, name, folder, target)
        if result == -ENOENT { return false }
        _ = try checked("rename \(name)", result)
        return true
    }

    /// Moves a file over whatever has the new name.
    package func moveReplacing(_ name: String, to target: String) throws(SystemCallError) {
        guard unsafe renameat(descriptor.raw, name, descriptor.raw, target) == 0 else {
            throw SystemCallError("rename \(name)", errno: errno)
        }
    }

    /// A second name for a file.
    ///
    /// - Throws: EEXIST where the name is taken; EPERM, EOPNOTSUPP where the file system has none.
    package func link(_ name: String, as other: String) throws(SystemCallError) {
        guard unsafe linkat(descriptor.raw, name, descriptor.raw, other, 0) == 0 else {
            throw SystemCallError("link \(name)", errno: errno)
        }
    }

    /// Makes a file's content durable.
    package func synchronize(_ name: String) throws(SystemCallError) {
        let file = try openFile(name, creating: false)
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync \(name)", errno: errno) }
    }
}

extension SystemCallError {
    /// The folder or file cannot be changed: mode, owner, read-only mount.
    package var isReadOnly: Bool { errno == EROFS || errno == EACCES || errno == EPERM }
}
