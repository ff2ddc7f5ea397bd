internal import Glibc

/// Whether a program can be started without somebody else deciding what it is.
package enum TrustedPath {
    /// Why it cannot.
    package enum Refusal: Hashable, Sendable, CustomStringConvertible {
        /// There is no such file, or it is no program.
        case noProgram
        case foreignOwner(path: String, uid: UInt32)
        /// Who owns it has no number in this user namespace.
        case unmappedOwner(path: String)
        case open(path: String)

        package var description: String {
            switch self {
            case .noProgram: "there is no such program"
            case .foreignOwner(let path, let uid): "\(path) belongs to user \(uid)"
            case .unmappedOwner(let path): "\(path) belongs to nobody here (a user namespace that does not map root)"
            case .open(let path): "\(path) can be written by others"
            }
        }
    }

    /// A regular executable file; it and every folder above are owned by root
    /// or by us and writable by nobody else (a sticky folder such as /tmp counts
    /// as closed: others cannot replace what is ours in it).
    package static func isExecutableOfOurs(_ path: String) -> Bool { refusal(of: path) == nil }

    /// nil: it is one.
    package static func refusal(of path: String) -> Refusal? {
        var status = stat()
        guard path.hasPrefix("/"), unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            unsafe access(path, X_OK) == 0
        else { return .noProgram }
        if let refusal = refusal(path, status) { return refusal }
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let name = folder.isEmpty ? "/" : folder
            guard unsafe stat(name, &status) == 0 else { return .noProgram }
            if status.st_mode & S_ISVTX == 0, let refusal = refusal(name, status) { return refusal }
        }
        return nil
    }

    /// Why somebody else can take a folder of ours away and lay another in its place: one above
    /// it, or above what a link on the way leads to, is theirs, or open to others (a sticky folder
    /// is closed to those, and so is one that is open to our own group alone, which Debian's
    /// umask of 002 makes); nil: nobody can, as far as can be seen.
    package static func exposure(of path: String) -> Refusal? {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        let paths = [path] + (unsafe resolved.map { [unsafe String(cString: $0)] } ?? [])
        return paths.lazy.compactMap(exposureAbove).first
    }

    private static func exposureAbove(_ path: String) -> Refusal? {
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let name = folder.isEmpty ? "/" : folder
            var status = stat()
            guard unsafe stat(name, &status) == 0 else { return nil }
            // Who owns a sticky folder may still move what is in it.
            if status.st_mode & S_ISVTX != 0 { status.st_mode &= ~0o022 }
            if status.st_gid == getegid() { status.st_mode &= ~0o020 }
            if let refusal = refusal(name, status) { return refusal }
        }
        return nil
    }

    private static func refusal(_ path: String, _ status: stat) -> Refusal? {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            return owner(path, status.st_uid, namespace: UserNamespace.own)
        }
        return status.st_mode & 0o022 == 0 ? nil : .open(path: path)
    }

    static func owner(_ path: String, _ uid: UInt32, namespace: UserNamespace) -> Refusal {
        namespace.isUnmapped(uid) ? .unmappedOwner(path: path) : .foreignOwner(path: path, uid: uid)
    }
}

/// The root-owned socket of system mode.
package enum SystemSocket {
    package static func exists(in directory: String) -> Bool {
        var status = stat()
        // Nearly always it is not there, and every call of a program asks.
        guard unsafe directory.withCString({ unsafe lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == 0
        else { return false }
        return unsafe lstat("\(directory)/keychain.sock", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
