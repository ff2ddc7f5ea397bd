@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What lies in a folder.
package enum FolderContent {
    /// The names in a folder; none where it cannot be read.
    package static func names(at path: String) -> [String] {
        readableNames(at: path) ?? []
    }

    /// The names in a folder; nil where it cannot be read.
    package static func readableNames(at path: String) -> [String]? {
        let raw = unsafe lk_open(path, O_RDONLY | O_DIRECTORY, 0)
        return raw >= 0 ? names(owning: raw) : nil
    }

    /// The names in a folder as the kernel has them: bytes, of which not all need be text.
    ///
    /// - Throws: where they cannot be read: nobody knows then what lies there.
    package static func rawNames(at path: String) throws(SystemCallError) -> [[UInt8]] {
        try rawList(owning: try checked("open", unsafe lk_open(path, O_RDONLY | O_DIRECTORY, 0)))
    }

    private static func names(owning raw: Int32) -> [String] {
        do throws(SystemCallError) { return try list(owning: raw) } catch { return [] }
    }

    private static func list(owning raw: Int32) throws(SystemCallError) -> [String] {
        try rawList(owning: raw).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func rawList(owning raw: Int32) throws(SystemCallError) -> [[UInt8]] {
        guard let stream = unsafe fdopendir(raw) else {
            let error = SystemCallError("fdopendir", errno: errno)
            close(raw)
            throw error
        }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            // Its end and a failure differ in errno alone (readdir(3)).
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemCallError("readdir", errno: errno) }
                return names
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
    }

    /// The names in an open folder.
    ///
    /// - Throws: where they cannot be read: nobody knows then what lies there.
    package static func names(in folder: Descriptor) throws(SystemCallError) -> [String] {
        let raw = unsafe lk_openat(folder.raw, ".", O_RDONLY | O_DIRECTORY, 0)
        return try list(owning: try checked("open", raw))
    }

    /// Removes everything in an open folder but `spared`; never follows a
    /// symbolic link. What is gone already is no failure.
    package static func remove(in folder: Descriptor, sparing spared: String? = nil) throws(SystemCallError) {
        let raw = unsafe lk_openat(folder.raw, ".", O_RDONLY | O_DIRECTORY, 0)
        if raw == -ENOENT { return }
        for name in names(owning: try checked("open", raw)) where name != spared {
            try remove(name, in: folder)
        }
    }

    private static func remove(_ name: String, in folder: Descriptor) throws(SystemCallError) {
        if unsafe unlinkat(folder.raw, name, 0) == 0 || errno == ENOENT { return }
        guard errno == EISDIR || errno == EPERM else { throw SystemCallError("unlink", errno: errno) }
        let raw = unsafe lk_openat(folder.raw, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if raw == -ENOENT { return }
        try remove(in: Descriptor(owning: try checked("open", raw)))
        if unsafe unlinkat(folder.raw, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
        throw SystemCallError("rmdir", errno: errno)
    }
}
