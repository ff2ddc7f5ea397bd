@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Standard input, output and error of this process.
package enum StandardStream: Int32, Sendable {
    case input = 0
    case output = 1
    case error = 2

    /// Makes the use of a stream that was not given fail, and keeps its number
    /// from a file or socket of ours. The first thing a program does.
    package static func fillMissing() { lk_fill_standard_descriptors() }

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Characters in a line of the terminal; 80 where it does not say, or is none.
    package var columns: Int { terminalColumns(rawValue) }

    /// Whether it is a pipe, or a file with something left to read.
    package var isPiped: Bool {
        var status = stat()
        guard unsafe fstat(rawValue, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFIFO: return true
        case S_IFREG: return lseek(rawValue, 0, SEEK_CUR) < status.st_size
        default: return false
        }
    }

    /// Whether a pipe or a file holds something to read; of a pipe also what comes within
    /// the time, in milliseconds. Nothing is taken from it.
    package func holdsBytes(within milliseconds: Int32) -> Bool {
        guard isPiped else { return false }
        var status = stat()
        guard unsafe fstat(rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return isPiped }
        var wanted = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        // At its end a pipe is hung up without anything to read.
        return unsafe poll(&wanted, 1, milliseconds) > 0 && wanted.revents & Int16(POLLIN) != 0
    }

    package func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemCallError) in try unsafe write(bytes) }
    }

    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        try unsafe secret.withUnsafeBytes { bytes throws(SystemCallError) in try unsafe write(bytes) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        try unsafe writeAll(bytes, to: rawValue)
    }

    /// Everything up to the end, or nil where that is more than `limit` bytes.
    package func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try KeychainPlatform.readSecret(rawValue, atMost: limit)
    }
}
