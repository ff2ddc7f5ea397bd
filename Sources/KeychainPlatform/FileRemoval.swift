internal import Glibc

/// Takes single files and empty folders away, by their paths.
package enum FileRemoval {
    /// Removes a file or a symbolic link, never what a link leads to; false where
    /// there was none.
    package static func remove(_ path: FilePath) throws(SystemCallError) -> Bool {
        if unsafe path.withCString({ unsafe unlink($0) }) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw SystemCallError("unlink", errno: errno) }
        return false
    }

    /// Removes a folder if nothing is in it.
    package static func removeIfEmpty(_ path: FilePath) throws(SystemCallError) {
        if unsafe path.withCString({ unsafe rmdir($0) }) == 0 { return }
        guard [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else { throw SystemCallError("rmdir", errno: errno) }
    }
}
