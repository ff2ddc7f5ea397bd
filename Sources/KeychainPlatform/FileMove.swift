@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Gives single files another name, by their paths.
package enum FileMove {
    /// Moves a file, or a symbolic link itself, never over another one; false where there
    /// was none to move.
    ///
    /// - Throws: EEXIST where the new name is taken.
    package static func move(_ path: String, to target: String) throws(SystemCallError) -> Bool {
        let result = unsafe lk_rename_new(AT_FDCWD, path, AT_FDCWD, target)
        if result == -ENOENT || result == -ENOTDIR { return false }
        _ = try checked("rename", result)
        return true
    }
}
