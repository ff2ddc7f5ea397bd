internal import Glibc

/// What kind of file system a folder lies on, by /proc/self/mountinfo (proc(5)).
package enum MountTable {
    /// The type ("ext4", "nfs4", "fuse.sshfs") of the innermost mount that holds
    /// `path`, or nil where the table does not tell.
    package static func fileSystemType(of path: String) throws(SystemCallError) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { throw SystemCallError("realpath", errno: errno) }
        defer { unsafe free(resolved) }
        let root = try PrivateFile.readAll("/proc/self/mountinfo", atMost: 4 << 20)
        return type(of: unsafe String(cString: resolved), in: String(decoding: root, as: UTF8.self))
    }

    /// The same over the text of a table.
    package static func type(of path: String, in table: String) -> String? { mount(of: path, in: table)?.type }

    /// What this machine's kernel answers for without another's help, where its disks are its own.
    private static let ownTypes: Set<String> = [
        "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "tmpfs", "xfs",
    ]

    /// Whether an open file is on one of this machine's own file systems, in our own namespace of mounts.
    /// Asks no file system: one that somebody else serves may never answer.
    static func isOfThisMachine(_ file: Descriptor) throws(SystemCallError) -> Bool {
        // proc(5), /proc/PID/fdinfo: "mnt_id"; proc_pid_mountinfo(5): the first field.
        let information = try PrivateFile.readAll("/proc/self/fdinfo/\(file.raw)", atMost: 4096)
        let line = String(decoding: information, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
        guard let mount = line?.split(whereSeparator: \.isWhitespace).last else { return false }
        let table = try PrivateFile.readAll("/proc/self/mountinfo", atMost: 4 << 20)
        return mounts(in: String(decoding: table, as: UTF8.self)).contains { $0.number == mount && ownTypes.contains($0.type) }
    }

    /// The device of that mount, as MAJOR:MINOR.
    package static func device(of path: String, in table: String) -> String? { mount(of: path, in: table)?.device }

    /// A line of the table (proc_pid_mountinfo(5)).
    private struct Mount {
        let number: Substring
        let device: String
        let point: String
        let type: String

        init?(_ line: Substring) {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { return nil }
            (number, device, point) = (fields[0], String(fields[2]), unescaped(fields[4]))
            type = String(fields[dash + 1])
        }

        func holds(_ path: String) -> Bool { point == "/" || path == point || path.hasPrefix(point + "/") }
    }

    private static func mounts(in table: String) -> [Mount] { table.split(separator: "\n").compactMap { Mount($0) } }

    private static func mount(of path: String, in table: String) -> Mount? {
        // A later line covers an earlier one at the same place.
        mounts(in: table).filter { $0.holds(path) }.reduce(nil) { best, next in
            next.point.utf8.count >= best?.point.utf8.count ?? 0 ? next : best
        }
    }

    /// Blanks and the like stand as \040 in the kernel's tables of mounts and swap areas.
    package static func unescaped(_ field: Substring) -> String {
        var out: [UInt8] = []
        var bytes = Array(field.utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "\\"), bytes.count >= 3,
                let code = UInt8(String(decoding: bytes.prefix(3), as: UTF8.self), radix: 8) {
                out.append(code)
                bytes = bytes.dropFirst(3)
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}

/// Files outside our own folders.
package enum PrivateFile {
    package static func readAll(_ path: String, atMost limit: Int) throws(SystemCallError) -> [UInt8] {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw SystemCallError("open \(path)", errno: errno) }
        return try KeychainPlatform.readAll(Descriptor(owning: raw), atMost: limit)
    }
}
