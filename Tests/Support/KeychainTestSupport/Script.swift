internal import KeychainPlatform

package enum Script {
    /// Makes an executable shell script. Another process writes it: what a test has
    /// open for writing is also open, for a moment, in each child that another test
    /// starts, and cannot be executed then (execve(2), ETXTBSY).
    package static func write(_ text: String, to path: String) throws {
        let run = try ToolRun.run(
            "/bin/sh", ["-c", "cat > \"$1\" && chmod 700 \"$1\"", "sh", path], environment: ["PATH=/usr/bin:/bin"],
            input: SecretBytes(copying: Array("#!/bin/sh\n\(text)\n".utf8)), output: .upTo(1))
        guard run.status == 0 else { throw SystemCallError.failed("cat") }
    }
}
