package import KeychainPlatform

/// Where a helper reads and writes: the process's own streams, or a test's.
package protocol HelperConsole {
    /// Standard input up to a blank line or its end; nil where it is longer than `limit`.
    func readLines(atMost limit: Int) throws(SystemCallError) -> SecretBytes?
    /// Standard input up to its end; nil where it is longer than `limit`.
    func readAll(atMost limit: Int) throws(SystemCallError) -> SecretBytes?
    func write(_ secret: borrowing SecretBytes) throws(SystemCallError)
    /// A line on standard error.
    func note(_ line: String)
}

extension HelperConsole {
    func write(_ text: String) throws(SystemCallError) { try write(SecretBytes(copying: Array(text.utf8))) }
}

/// The streams of this process.
package struct HelperStreams: HelperConsole {
    package init() {}

    package func readLines(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try StandardStream.input.readSecretLines(atMost: limit)
    }

    package func readAll(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try StandardStream.input.readSecret(atMost: limit)
    }

    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        try StandardStream.output.write(secret)
    }

    package func note(_ line: String) { StandardError.write("\(line)\n") }
}
