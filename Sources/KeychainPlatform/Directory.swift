@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Why a folder cannot be trusted with our files or our socket.
package enum DirectoryRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case notADirectory(path: String)
    case foreignOwner(path: String, uid: UInt32)
    case open(path: String, mode: UInt32)
    case system(path: String, SystemCallError)

    package var description: String {
        switch self {
        case .notADirectory(let path): "\(path) is no folder, or a symbolic link; name another"
        case .foreignOwner(let path, let uid): "\(path) belongs to user \(uid), not to you; name another"
        case .open(let path, let mode):
            "\(path) has mode \(String(mode, radix: 8)); only 0700 is safe: chmod 700 \(path)"
        case .system(let path, let error): "\(path): \(error)"
        }
    }
}

/// A folder of ours: a real directory, owned by us, mode 0700, held open so that
/// what was checked is what is used.
package final class PrivateDirectory: Sendable {
    package let path: String
    package let descriptor: Descriptor

    /// Opens the folder, making it (and its parents) first where `creating`.
    package init(_ path: String, creating: Bool) throws(DirectoryRefusal) {
        if creating { try Self.make(path) }
        let raw = unsafe path.withCString { unsafe lk_open($0, O_DIRECTORY | O_NOFOLLOW | O_RDONLY, 0) }
        if raw == -ENOTDIR || raw == -ELOOP { throw .notADirectory(path: path) }
        guard raw >= 0 else { throw .system(path: path, SystemCallError("open", errno: -raw)) }
        descriptor = Descriptor(owning: raw)
        self.path = path
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw .system(path: path, SystemCallError("fstat", errno: errno)) }
        guard status.st_uid == geteuid() else { throw .foreignOwner(path: path, uid: status.st_uid) }
        guard status.st_mode & 0o777 == 0o700 else { throw .open(path: path, mode: status.st_mode & 0o777) }
    }

    /// Makes a folder, and those above it, where they are not there (mode 0700).
    package static func make(_ path: String) throws(DirectoryRefusal) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw .system(path: path, SystemCallError("mkdir", errno: errno))
        }
        try make(String(path[..<slash]))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(path: path, SystemCallError("mkdir", errno: errno))
        }
    }

    /// The `f_type` of statfs(2): which file system this is.
    package func fileSystemMagic() throws(SystemCallError) -> UInt32 {
        UInt32(truncatingIfNeeded: try checked("fstatfs", lk_filesystem_magic(descriptor.raw)))
    }

    /// The whole file, or nil where there is none; refuses more than `limit` bytes.
    package func read(_ name: String, atMost limit: Int) throws(SystemCallError) -> [UInt8]? {
        guard let file = try openToRead(name) else { return nil }
        return try readAll(file, atMost: limit)
    }

    /// The whole file where somebody has a lock on it (``FileLock``); nil where nobody has, or
    /// there is none. What a lock file says is true as long as it is locked: a copy of it,
    /// in a copy of its folder, says the same, and is locked by nobody.
    package func readLocked(_ name: String, atMost limit: Int) throws(SystemCallError) -> [UInt8]? {
        guard let file = try openToRead(name) else { return nil }
        guard try checked("fcntl F_OFD_GETLK", lk_ofd_is_locked(file.raw)) == 1 else { return nil }
        return try readAll(file, atMost: limit)
    }

    /// - Throws: EISDIR, EINVAL for what is no file: a pipe in its place would be waited for
    ///   for ever.
    private func openToRead(_ name: String) throws(SystemCallError) -> Descriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        let raw = unsafe name.withCString { unsafe lk_openat(descriptor.raw, $0, flags, 0) }
        if raw == -ENOENT { return nil }
        let file = Descriptor(owning: try checked("open \(name)", raw))
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw SystemCallError("fstat \(name)", errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCallError("open \(name): no file", errno: EINVAL) }
        return file
    }

    /// Replaces a file so that after a crash either the old or the new one is
    /// there, whole: temporary file, fsync, rename, fsync of the folder.
    ///
    /// - Throws: EISDIR where a folder has the name, also where Landlock, which is asked first, says EACCES.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemCallError) {
        let temporary = ".\(name).new"
        _ = unsafe unlinkat(descriptor.raw, temporary, 0)
        let raw = unsafe temporary.withCString {
            unsafe lk_openat(descriptor.raw, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
        }
        let file = Descriptor(owning: try checked("create \(name)", raw))
        try writeAll(file, bytes)
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync \(name)", errno: errno) }
        guard unsafe renameat(descriptor.raw, temporary, descriptor.raw, name) == 0 else {
            let code = errno
            throw SystemCallError("rename \(name)", errno: holdsFolder(name) ? EISDIR : code)
        }
        try synchronize()
    }

    private func holdsFolder(_ name: String) -> Bool {
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(name), in: descriptor, followingLink: false).isDirectory
        } catch { return false }
    }

    /// Makes what was created, renamed or removed here durable.
    package func synchronize() throws(SystemCallError) {
        guard fsync(descriptor.raw) == 0 else { throw SystemCallError("fsync", errno: errno) }
    }

    /// Removes a file; true where there was one.
    @discardableResult
    package func remove(_ name: String) throws(SystemCallError) -> Bool {
        if unsafe unlinkat(descriptor.raw, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw SystemCallError("unlink \(name)", errno: errno)
    }

    /// Whether a name is there and is a socket of ours.
    package func holdsSocket(_ name: String) -> Bool {
        var status = stat()
        guard unsafe fstatat(descriptor.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFSOCK && status.st_uid == geteuid()
    }

    /// Whether the path still leads here: the folder was neither removed nor renamed.
    package var isInPlace: Bool {
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(path), followingLink: false).identity
                == FileStatus(of: descriptor).identity
        } catch {
            return false
        }
    }

    /// Where the folder was moved to, for all that this process sees; nil where it is in place,
    /// was removed, or lies out of sight.
    package var movedTo: String? {
        guard !isInPlace else { return nil }
        do throws(SystemCallError) {
            let place = try Descriptor.look(at: FilePath("/proc/self/fd"), .folder)
                .linkTarget(FilePath("\(descriptor.raw)"))
            let found = try FileStatus(at: place, followingLink: false)
            return try found.identity == FileStatus(of: descriptor).identity ? place.printable : nil
        } catch { return nil }
    }

    package func openFile(_ name: String, creating: Bool) throws(SystemCallError) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW | (creating ? O_CREAT : 0)
        let raw = unsafe name.withCString { unsafe lk_openat(descriptor.raw, $0, flags, 0o600) }
        return Descriptor(owning: try checked("open \(name)", raw))
    }
}

/// The whole of an open file; refuses more than `limit` bytes with EFBIG.
package func readAll(_ file: Descriptor, atMost limit: Int) throws(SystemCallError) -> [UInt8] {
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
        let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(file.raw, $0.baseAddress, $0.count) }
        if got < 0 {
            if errno == EINTR { continue }
            throw SystemCallError("read", errno: errno)
        }
        if got == 0 { return result }
        guard result.count + got <= limit else { throw SystemCallError("read", errno: EFBIG) }
        result.append(contentsOf: chunk[..<got])
    }
}

package func writeAll(_ file: Descriptor, _ bytes: [UInt8]) throws(SystemCallError) {
    var done = 0
    while done < bytes.count {
        let start = done
        let put = unsafe bytes.withUnsafeBytes { unsafe write(file.raw, $0.baseAddress! + start, $0.count - start) }
        if put < 0 {
            if errno == EINTR { continue }
            throw SystemCallError("write", errno: errno)
        }
        done += put
    }
}

extension Descriptor {
    /// Writes over the first bytes of a file, in one call.
    package func writeAtStart(_ bytes: [UInt8]) throws(SystemCallError) {
        let put = unsafe bytes.withUnsafeBytes { unsafe pwrite(raw, $0.baseAddress, $0.count, 0) }
        guard put == bytes.count else { throw SystemCallError("pwrite", errno: put < 0 ? errno : EIO) }
    }

    package func flush() throws(SystemCallError) {
        guard fdatasync(raw) == 0 else { throw SystemCallError("fdatasync", errno: errno) }
    }

    /// The first bytes of a file; fewer where it has no more.
    package func readAtStart(byteCount: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(raw, $0.baseAddress, $0.count, 0) }
        guard got >= 0 else { throw SystemCallError("pread", errno: errno) }
        bytes.removeLast(byteCount - got)
        return bytes
    }

    /// Leaves so many bytes of a file.
    package func cut(to byteCount: Int) throws(SystemCallError) {
        guard ftruncate(raw, off_t(byteCount)) == 0 else { throw SystemCallError("ftruncate", errno: errno) }
    }
}

/// An open-file-description lock (fcntl(2), F_OFD_SETLK): it goes with the last
/// descriptor, however its process ended.
package final class FileLock: Sendable {
    package let descriptor: Descriptor

    private init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Unlocked by name, not only closed: a child that was forked elsewhere and
    /// has not come to its exec yet holds a copy of the descriptor.
    deinit { _ = lk_ofd_unlock(descriptor.raw) }

    /// The lock, or nil where another process has it.
    package static func take(_ file: Descriptor) throws(SystemCallError) -> FileLock? {
        let result = lk_ofd_lock(file.raw, 1, 0)
        if result == -EAGAIN { return nil }
        _ = try checked("fcntl F_OFD_SETLK", result)
        return FileLock(file)
    }

    /// The lock, once whoever has it gives it up.
    package static func waitFor(_ file: Descriptor) throws(SystemCallError) -> FileLock {
        _ = try checked("fcntl F_OFD_SETLKW", lk_ofd_lock(file.raw, 1, 1))
        return FileLock(file)
    }

    /// The lock, or nil where whoever has it keeps it beyond `deadline`.
    ///
    /// The kernel's wait has no limit of its own, so a thread waits; where it
    /// waits in vain it goes with the process, which has nothing left to do.
    package static func take(_ file: Descriptor, until deadline: Deadline) throws(SystemCallError) -> FileLock? {
        if let free = try take(file) { return free }
        let taken = try EventSignal()
        _ = try checked("pthread_create", lk_ofd_lock_in_thread(file.raw, taken.descriptor.raw))
        guard try wait(for: taken.descriptor.raw, to: .receive, until: deadline) == .ready else { return nil }
        return FileLock(file)
    }

    /// Gives the lock up before its owner goes.
    package func release() { _ = lk_ofd_unlock(descriptor.raw) }

    /// Replaces what the locked file holds (a few bytes, for whoever reads it).
    package func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try descriptor.writeAtStart(bytes)
        // Cut afterwards: writing the same again is never seen as an empty file.
        try descriptor.cut(to: bytes.count)
    }
}

extension PrivateDirectory {
    /// Whether a folder is there, is ours and is closed to others.
    package static func isUsable(_ path: String) -> Bool {
        do throws(DirectoryRefusal) {
            _ = try PrivateDirectory(path, creating: false)
            return true
        } catch {
            return false
        }
    }
}

extension PrivateDirectory {
    /// Removes everything in the folder and the folder itself; symbolic links
    /// are removed, not followed.
    package func removeWithContents() throws(SystemCallError) {
        try FolderContent.remove(in: descriptor)
        guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw SystemCallError("rmdir", errno: errno) }
    }
}

/// Moves to the end of a file and says how long it is.
package func seekToEnd(_ file: Descriptor) throws(SystemCallError) -> Int {
    let end = lseek(file.raw, 0, SEEK_END)
    guard end >= 0 else { throw SystemCallError("lseek", errno: errno) }
    return Int(end)
}
