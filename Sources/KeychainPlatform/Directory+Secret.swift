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

    /// A folder lies where a file is to be.
    package var isFolderInTheWay: Bool { errno == EISDIR }

    /// A read failed because of what stands there (a folder, a link, a device,
    /// something far too large), not because of this process or the moment.
    package var isNotAFileOfOurs: Bool { [EFBIG, ELOOP, EISDIR, EINVAL, ENXIO].contains(errno) }
}

extension PrivateDirectory {
    /// Writes bytes into a file where it stands, making it where it is not there,
    /// and has them on the disk before it returns. Nothing else of the file changes.
    package func overwrite(_ name: String, with bytes: [UInt8], at offset: Int) throws(SystemCallError) {
        let raw = unsafe name.withCString {
            unsafe lk_openat(descriptor.raw, $0, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        let file = Descriptor(owning: try checked("open \(name)", raw))
        var done = 0
        while done < bytes.count {
            let wrote = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(file.raw, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
            }
            if wrote < 0 && errno == EINTR { continue }
            guard wrote > 0 else { throw SystemCallError("pwrite \(name)", errno: wrote == 0 ? EIO : errno) }
            done += wrote
        }
        guard fsync(file.raw) == 0 else { throw SystemCallError("fsync \(name)", errno: errno) }
        try synchronize()
    }
}
