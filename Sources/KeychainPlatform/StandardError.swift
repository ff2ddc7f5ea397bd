internal import Glibc

/// The one place where a daemon of ours says why it could not go on.
package enum StandardError {
    /// Writes to descriptor 2; whether anybody reads it is not our concern.
    package static func write(_ line: String) {
        let bytes = Array(line.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
