@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What another program wrote and how it ended. Its output never touches a disk.
package struct ToolRun: ~Copyable {
    /// As a shell shows it: 128 + N where signal N ended it.
    package let status: Int32
    package let output: SecretBytes
    /// What it wrote to standard error, its first 4 KiB.
    package let complaints: String

    package enum Failure: Error, Hashable, Sendable {
        case system(SystemCallError)
        /// It wrote more than it may, and was ended.
        case tooMuchOutput
    }

    /// What a pipe takes before anybody reads it (POSIX, PIPE_BUF).
    package static let longestInput = 4096

    /// Runs the program at an absolute path. No argument and no variable may be a
    /// secret: `input` is what it reads from standard input.
    ///
    /// - Precondition: `input` has at most ``longestInput`` bytes.
    package static func run(
        _ path: String, _ arguments: [String], environment: [String], input: borrowing SecretBytes,
        outputLimit: Int
    ) throws(Failure) -> ToolRun {
        precondition(input.count <= longestInput)
        do throws(SystemCallError) {
            var tool = try Running(path, arguments, environment)
            try tool.feed(input)
            return try tool.finish(outputLimit)
        } catch {
            if error.errno == EFBIG { throw .tooMuchOutput }
            throw .system(error)
        }
    }
}

/// A tool at work, and our ends of its streams.
private struct Running: ~Copyable {
    private let process: Int32
    private var input: Descriptor?
    private let output: Descriptor
    private let log: Descriptor

    init(_ path: String, _ arguments: [String], _ environment: [String]) throws(SystemCallError) {
        let (sent, received) = (try PipeEnds(), try PipeEnds())
        let log = Descriptor(owning: try checked("memfd_create", unsafe lk_memfd("latchkey-tool-log")))
        let child = unsafe withCStrings([path] + arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe lk_spawn_tool(path, argv, envp, sent.reading.raw, received.writing.raw, log.raw)
            }
        }
        process = try checked("start \(path)", child)
        input = sent.writing
        output = received.reading
        self.log = log
    }

    /// One that ended before it read what it was told says so by its status.
    mutating func feed(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        // Else a tool that does not read would end us.
        Hardening.ignoreBrokenPipes()
        if let input {
            unsafe secret.withUnsafeBytes { bytes in
                if bytes.count > 0 { _ = unsafe Glibc.write(input.raw, bytes.baseAddress, bytes.count) }
            }
        }
        input = nil
    }

    consuming func finish(_ limit: Int) throws(SystemCallError) -> ToolRun {
        let output: SecretBytes?
        do throws(SystemCallError) { output = try readSecret(self.output.raw, atMost: limit) } catch {
            end()
            throw error
        }
        guard let output else {
            end()
            throw SystemCallError("read", errno: EFBIG)
        }
        let status = try checked("waitpid", lk_tool_status(process))
        return ToolRun(status: status, output: output, complaints: complaints)
    }

    private func end() {
        _ = lk_kill(process)
        _ = lk_reap(process)
    }

    private var complaints: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = unsafe pread(log.raw, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, got)), as: UTF8.self)
    }
}
