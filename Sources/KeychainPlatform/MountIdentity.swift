@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Which mount a file was reached by: a number of the kernel's, of which each mount of each
/// namespace has its own (statx(2), `stx_mnt_id`).
package enum MountIdentity {
    /// - Throws: ENOSYS before Linux 5.8.
    package static func of(_ path: FilePath) throws(SystemCallError) -> UInt64 {
        UInt64(try checked("statx", unsafe path.withCString { unsafe lk_mount_id(AT_FDCWD, $0) }))
    }

    package static func of(_ file: Descriptor) throws(SystemCallError) -> UInt64 {
        UInt64(try checked("statx", unsafe lk_mount_id(file.raw, "")))
    }
}
