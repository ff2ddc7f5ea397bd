@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension PrivateDirectory {
    /// The whole of a regular file, straight into memory that is wiped; nil
    /// where there is none.
    ///
    /// - Throws: EFBIG for more than `limit` bytes, EINVAL for anything but a
    ///   regular file, ELOOP for a symbolic link.
    package func readSecret(_ name: String, atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        let raw = unsafe name.withCString {
            unsafe lk_openat(descriptor.raw, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        }
        if raw == -ENOENT { return nil }
        let file = Descriptor(owning: try checked("open \(name)", raw))
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw SystemCallError("fstat \(name)", errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCallError("open \(name)", errno: EINVAL) }
        var secret = SecretBytes(count: limit + 1)
        let count = try unsafe secret.withUnsafeMutableBytes { buffer throws(SystemCallError) in
            try unsafe Self.fill(buffer, from: file)
        }
        guard count <= limit else { throw SystemCallError("read \(name)", errno: EFBIG) }
        secret.truncate(to: count)
        return secret
    }

    /// Reads until the end of the file or of the buffer; how many bytes came.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from file: Descriptor
    ) throws(SystemCallError) -> Int {
        var done = 0
        while done < buffer.count {
            let got = unsafe Glibc.read(file.raw, buffer.baseAddress! + done, buffer.count - done)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw SystemCallError("read", errno: errno) }
            if got == 0 { break }
            done += got
        }
        return done
    }
}

extension SystemCallError {
    /// The disk could not read or write.
    package var isInputOutput: Bool { errno == EIO }

    /// Whoever wanted to connect went away before it was accepted.
    package var isAbortedConnection: Bool { errno == ECONNABORTED }

    /// A read failed because of what stands there (a folder, a link, a device,
    /// something far too large), not because of this process or the moment.
    package var isNotAFileOfOurs: Bool { [EFBIG, ELOOP, EISDIR, EINVAL, ENXIO].contains(errno) }
}
