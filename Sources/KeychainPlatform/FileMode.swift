@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Permission bits of files that are ours.
package enum FileMode {
    /// Takes away what a regular file or folder allows others. Follows no symbolic
    /// link.
    package static func close(_ path: FilePath, isFolder: Bool) throws(SystemCallError) {
        let flags = O_RDONLY | O_NOFOLLOW | (isFolder ? O_DIRECTORY : O_NONBLOCK)
        let raw = unsafe path.withCString { unsafe lk_open($0, flags, 0) }
        let file = Descriptor(owning: try checked("open", raw))
        let status = try FileStatus(of: file)
        guard status.isDirectory || status.isRegularFile else { throw SystemCallError("fchmod", errno: EINVAL) }
        guard fchmod(file.raw, isFolder ? 0o700 : 0o600) == 0 else { throw SystemCallError("fchmod", errno: errno) }
    }
}
