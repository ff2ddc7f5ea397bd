@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension Descriptor {
    /// The one that whoever started this program left open at a number.
    package static func inherited(_ raw: Int32) -> Descriptor? {
        fcntl(raw, F_SETFD, FD_CLOEXEC) == 0 ? Descriptor(owning: raw) : nil
    }

    /// All of it into what this leads to: whoever holds the other end, or has made the file system
    /// of it, is not waited for. Who keeps the kernel's lock of the object itself is (THREAT_MODEL, B14).
    ///
    /// - Throws: EINVAL for anything but an anonymous pipe, a socket of one, a memory file and a file on
    ///   this machine's own disks; EAGAIN where it takes nothing now.
    package func writeNow(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        let result = unsafe secret.withUnsafeBytes { unsafe lk_write_now(raw, $0.baseAddress, $0.count) }
        guard result == -EINVAL, try MountTable.isOfThisMachine(self), try FileStatus(of: self).isRegularFile else {
            _ = try checked("write", result)
            return
        }
        try write(secret)
    }

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
