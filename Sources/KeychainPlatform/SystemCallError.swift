@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What the kernel refused: the call, by name, and its errno.
///
/// Carries no argument of the call, so it can be logged as it is.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    package let call: String
    package let errno: Int32

    package init(_ call: String, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    package var description: String {
        let text = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "errno \(errno)"
        return "\(call): \(text)"
    }

    /// The kernel gives no memory.
    package static let noMemory = SystemCallError("mmap", errno: ENOMEM)

    /// A program that we wanted to start is not there.
    package static let noProgram = SystemCallError("find the program", errno: ENOENT)
    /// A program said that it failed.
    package static func failed(_ program: String) -> SystemCallError { SystemCallError(program, errno: EIO) }

    package var isOutOfMemory: Bool { errno == ENOMEM }
    package var isWouldBlock: Bool { errno == EAGAIN }
    package var isBrokenConnection: Bool { errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN }
    package var isNoSuchFile: Bool { errno == ENOENT }
    /// Arguments and environment are longer than a program may have (execve(2)).
    package var isTooMuchForAProgram: Bool { errno == E2BIG }
    package var isRefusedConnection: Bool { errno == ECONNREFUSED || errno == ENOENT }
    /// A socket of another type listens there (connect(2)).
    package var isOtherSocketType: Bool { errno == EPROTOTYPE }
    package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }
    /// The kernel, or a filter, does not have the call.
    package var isMissingCall: Bool { errno == ENOSYS }
    package var isPermissionDenied: Bool { errno == EACCES || errno == EPERM }
    package var isAlreadyThere: Bool { errno == EEXIST }
    package var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }
    /// The kernel does not know this call or option (an older Linux).
    package var isUnknownToKernel: Bool {
        errno == ENOSYS || errno == ENOPROTOOPT || errno == EINVAL || errno == ENOTTY || errno == EOPNOTSUPP
    }
}

/// Turns the shim's "-errno on failure" into a value or a thrown error.
func checked<I: FixedWidthInteger>(_ call: String, _ result: I) throws(SystemCallError) -> I {
    guard result >= 0 else { throw SystemCallError(call, errno: -Int32(truncatingIfNeeded: result)) }
    return result
}
