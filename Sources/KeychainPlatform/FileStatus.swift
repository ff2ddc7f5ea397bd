internal import Glibc

/// Which file something is, whatever it is called: device and inode.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What stat(2) says about a file: enough to judge who could replace it.
package struct FileStatus: Hashable, Sendable {
    package let identity: FileIdentity
    package let userID: UInt32
    package let groupID: UInt32
    /// Type and permission bits as in `st_mode`.
    package let mode: UInt32
    package let linkCount: UInt64
    package let byteCount: Int64
    /// Of a device: which (major and minor number as makedev(3) packs them); else 0.
    package let deviceNumber: UInt64
    /// When the content was changed last (of a link: when it was made), in nanoseconds since
    /// 1970-01-01T00:00:00Z.
    package let modifiedNanoseconds: Int64

    package var isCharacterDevice: Bool { mode & S_IFMT == S_IFCHR }
    package var isLink: Bool { mode & S_IFMT == S_IFLNK }
    package var isSocket: Bool { mode & S_IFMT == S_IFSOCK }
    package var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    package var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
    /// Whether root alone may write it. An access control list cannot grant
    /// more than the group bits show (acl(5): they are its mask).
    package var isWritableByRootOnly: Bool { userID == 0 && mode & 0o022 == 0 }

    private init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        userID = status.st_uid
        groupID = status.st_gid
        mode = status.st_mode
        linkCount = UInt64(status.st_nlink)
        byteCount = Int64(status.st_size)
        deviceNumber = UInt64(status.st_rdev)
        // What a broken file system says of other centuries is no time of ours.
        modifiedNanoseconds =
            Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ Int64(status.st_mtim.tv_nsec)
    }

    /// Of an open file.
    package init(of file: Descriptor) throws(SystemCallError) {
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw SystemCallError("fstat", errno: errno) }
        self.init(status)
    }

    /// Of the file `path`; a relative path starts at `folder`. `followingLink`
    /// decides about the last component alone, as in fstatat(2).
    package init(
        at path: FilePath, in folder: Descriptor? = nil, followingLink: Bool
    ) throws(SystemCallError) {
        var status = stat()
        let flags = followingLink ? 0 : AT_SYMLINK_NOFOLLOW
        let result = unsafe path.withCString { unsafe fstatat(folder?.raw ?? AT_FDCWD, $0, &status, flags) }
        guard result == 0 else { throw SystemCallError("fstatat", errno: errno) }
        self.init(status)
    }
}
