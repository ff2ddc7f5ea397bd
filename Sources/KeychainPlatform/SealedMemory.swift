@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A memfd for messages above one datagram: filled once, sealed against every
/// change, then passed (memfd_create(2), F_ADD_SEALS).
package enum SealedMemory {
    package static func make(
        _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Descriptor {
        let file = Descriptor(owning: try checked("memfd_create", unsafe lk_memfd("latchkey-message")))
        try unsafe write(head, to: file)
        try unsafe write(tail, to: file)
        _ = try checked("fcntl F_ADD_SEALS", lk_memfd_seal(file.raw))
        return file
    }

    private static func write(_ part: UnsafeRawBufferPointer, to file: Descriptor) throws(SystemCallError) {
        var done = 0
        while done < part.count {
            let put = unsafe Glibc.write(file.raw, part.baseAddress! + done, part.count - done)
            if put < 0 {
                if errno == EINTR { continue }
                throw SystemCallError("write", errno: errno)
            }
            done += put
        }
    }

    /// Refuses a received memfd that its sender could still change or that has
    /// another size.
    package static func check(_ file: Descriptor, byteCount: Int) throws(SystemCallError) {
        guard try checked("fcntl F_GET_SEALS", lk_memfd_is_sealed(file.raw)) == 1 else {
            throw SystemCallError("fcntl F_GET_SEALS", errno: EPERM)
        }
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw SystemCallError("fstat", errno: errno) }
        guard Int(status.st_size) == byteCount else { throw SystemCallError("fstat", errno: EMSGSIZE) }
    }

    /// A part of a memfd that was checked.
    ///
    /// - Throws: ENOMEM where there is no memory for so much.
    package static func read(_ file: Descriptor, _ range: Range<Int>) throws(SystemCallError) -> SecretBytes {
        var bytes = try SecretBytes(allocating: range.count)
        let got = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe readFully(file.raw, buffer, from: range.lowerBound)
        }
        guard got == range.count else { throw SystemCallError("pread", errno: EIO) }
        return bytes
    }

    private static func readFully(_ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer, from start: Int) -> Int {
        var done = 0
        while done < buffer.count {
            let got = unsafe pread(fd, buffer.baseAddress! + done, buffer.count - done, off_t(start + done))
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { break }
            done += got
        }
        return done
    }
}
