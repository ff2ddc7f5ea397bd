@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension PrivateDirectory {
    /// Cuts a file down to a length; on the disk before this returns.
    package func truncate(_ name: String, to length: Int) throws(SystemCallError) {
        let file = try openFile(name, creating: false)
        guard ftruncate(file.raw, off_t(length)) == 0 else { throw SystemCallError("ftruncate \(name)", errno: errno) }
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync \(name)", errno: errno) }
    }
}
