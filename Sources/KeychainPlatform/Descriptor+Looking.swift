@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// How a file that belongs to somebody else is opened to be looked at.
package enum LookMode: Sendable {
    /// To be read. Never waits for the other end of a pipe.
    case reading
    /// To be read, and not where the last component is a symbolic link.
    case readingNoLink
    /// Only to be asked what it is (O_PATH): needs no right to read.
    case place
    /// A folder, as the start of further paths (O_PATH).
    case folder

    var flags: Int32 {
        switch self {
        case .reading: O_RDONLY | O_NONBLOCK | O_NOCTTY
        case .readingNoLink: O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
        case .place: Self.pathOnly
        case .folder: Self.pathOnly | O_DIRECTORY
        }
    }

    /// O_PATH: asm-generic/fcntl.h; Glibc's module hides it behind _GNU_SOURCE.
    private static let pathOnly: Int32 = 0o10000000
}

extension Descriptor {
    /// Opens `path`; a relative one starts at `folder`.
    package static func look(
        at path: FilePath, in folder: Descriptor? = nil, _ mode: LookMode
    ) throws(SystemCallError) -> Descriptor {
        let raw = unsafe path.withCString { unsafe lk_openat(folder?.raw ?? AT_FDCWD, $0, mode.flags, 0) }
        return Descriptor(owning: try checked("openat", raw))
    }

    /// Where the symbolic link `name` in this folder points.
    package func linkTarget(_ name: FilePath) throws(SystemCallError) -> FilePath {
        // One more than any target has, so that a full buffer shows a longer one.
        let limit = Int(PATH_MAX) + 1
        let bytes = try unsafe collect("readlinkat", atMost: limit) { start in
            unsafe name.withCString { unsafe readlinkat(raw, $0, start, limit) }
        }
        guard bytes.count < limit else { throw SystemCallError("readlinkat", errno: ENAMETOOLONG) }
        return FilePath(bytes: bytes)
    }

    /// The first `limit` bytes at the most, from the start.
    package func readStart(atMost limit: Int) throws(SystemCallError) -> [UInt8] { try read(atMost: limit, from: 0) }

    /// `limit` bytes at the most, from the byte `first` of a file; fewer where it ends before.
    package func read(atMost limit: Int, from first: Int64) throws(SystemCallError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        var done = 0
        while done < limit {
            let start = done
            let got = unsafe buffer.withUnsafeMutableBytes { space in
                unsafe pread(raw, space.baseAddress! + start, limit - start, off_t(first) + off_t(start))
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw SystemCallError("pread", errno: errno) }
            if got == 0 { break }
            done += got
        }
        buffer.removeLast(limit - done)
        return buffer
    }

    /// What one read from the start brings, `limit` bytes at the most: the whole
    /// of a file that the kernel writes when it is read (`/proc/PID/status`).
    package func readOnce(atMost limit: Int) throws(SystemCallError) -> [UInt8] {
        try unsafe collect("pread", atMost: limit) { unsafe pread(raw, $0, limit, 0) }
    }

    /// What one call puts into a buffer of `limit` bytes; retries EINTR.
    private func collect(
        _ name: String, atMost limit: Int, _ call: (UnsafeMutableRawPointer) -> Int
    ) throws(SystemCallError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { space in
            var count = 0
            repeat { count = unsafe call(space.baseAddress!) } while count < 0 && errno == EINTR
            failure = count < 0 ? errno : 0
            return unsafe Array(space[..<max(count, 0)])
        }
        guard failure == 0 else { throw SystemCallError(name, errno: failure) }
        return bytes
    }

    /// Whether there is a first byte. False also where it cannot be read.
    package var hasFirstByte: Bool {
        var byte: UInt8 = 0
        while true {
            let got = unsafe pread(raw, &byte, 1, 0)
            if got < 0 && errno == EINTR { continue }
            return got == 1
        }
    }

    /// The `f_type` of statfs(2): which file system this is on.
    package func fileSystemMagic() throws(SystemCallError) -> UInt32 {
        UInt32(truncatingIfNeeded: try checked("fstatfs", lk_filesystem_magic(raw)))
    }
}
