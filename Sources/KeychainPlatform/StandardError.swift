internal import Glibc

/// Where a program says to a person what its return values cannot.
package enum StandardError {
    /// Writes `text` and a newline; what cannot be written is lost.
    package static func write(line text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
