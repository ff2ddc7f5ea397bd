@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension Descriptor {
    /// The one that whoever started this program left open at a number.
    package static func inherited(_ raw: Int32) -> Descriptor? {
        fcntl(raw, F_SETFD, FD_CLOEXEC) == 0 ? Descriptor(owning: raw) : nil
    }

    /// Whether a write would go through, or fail, without waiting: of a pipe, one of up to
    /// PIPE_BUF bytes (poll(2), "POLLOUT"; POSIX, write()).
    package var takesAtOnce: Bool { lk_wait(raw, WaitDirection.send.rawValue, -1, 0) > 0 }

    /// All of it, however long the other side takes.
    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        try unsafe secret.withUnsafeBytes { bytes throws(SystemCallError) in try unsafe writeAll(bytes, to: raw) }
    }

    /// Everything up to the end, or nil where that is more than `limit` bytes.
    package func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try KeychainPlatform.readSecret(raw, atMost: limit)
    }
}

/// write(2) until everything is written.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemCallError) {
    var done = 0
    while done < bytes.count {
        let put = unsafe Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if put < 0 {
            if errno == EINTR { continue }
            throw SystemCallError("write", errno: errno)
        }
        done += put
    }
}
