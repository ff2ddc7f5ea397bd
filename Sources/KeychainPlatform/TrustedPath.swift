internal import Glibc

/// Whether a program can be started without somebody else deciding what it is.
package enum TrustedPath {
    /// A regular executable file; it and every folder above are owned by root
    /// or by us and writable by nobody else (a sticky folder such as /tmp counts
    /// as closed: others cannot replace what is ours in it).
    package static func isExecutableOfOurs(_ path: String) -> Bool {
        var status = stat()
        guard path.hasPrefix("/"), unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            unsafe access(path, X_OK) == 0, isClosed(status)
        else { return false }
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            guard unsafe stat(folder.isEmpty ? "/" : folder, &status) == 0 else { return false }
            guard isClosed(status) || status.st_mode & S_ISVTX != 0 else { return false }
        }
        return true
    }

    private static func isClosed(_ status: stat) -> Bool {
        (status.st_uid == 0 || status.st_uid == geteuid()) && status.st_mode & 0o022 == 0
    }
}

/// The root-owned socket of system mode.
package enum SystemSocket {
    package static func exists(in directory: String) -> Bool {
        var status = stat()
        guard unsafe lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == 0 else {
            return false
        }
        return unsafe lstat("\(directory)/keychain.sock", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
