@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A program that is spoken with through its standard input and output: pinentry.
///
/// It runs in a session of its own, in `/`, without a terminal and with no
/// descriptor of ours but those two pipes; what it complains about is dropped. It
/// never outlives its owner.
package struct ConversingTool: ~Copyable {
    /// Readable when it has said something, or has closed its side.
    package let output: Descriptor
    private let input: Descriptor
    private let child: Int32

    /// - Parameter path: absolute; judged by the caller (``TrustedPath``).
    package init(_ path: String, _ arguments: [String], environment: [String]) throws(SystemCallError) {
        // Else a tool that ended would end us.
        Hardening.ignoreBrokenPipes()
        let (sent, received) = (try PipeEnds(), try PipeEnds())
        let null = Descriptor(owning: try checked("open /dev/null", unsafe lk_open("/dev/null", O_WRONLY, 0)))
        _ = try checked("fcntl", lk_set_nonblocking(sent.writing.raw, 1))
        let result = unsafe withCStrings([path] + arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe lk_spawn_tool(path, argv, envp, sent.reading.raw, received.writing.raw, null.raw, 1)
            }
        }
        child = try checked("start \(path)", result)
        input = sent.writing
        output = received.reading
    }

    /// Says all of it; nothing of it may be a secret.
    ///
    /// - Throws: ETIMEDOUT where the tool does not read, EPIPE where it has ended.
    package func say(_ bytes: [UInt8], until deadline: Deadline) throws(SystemCallError) {
        var done = 0
        while done < bytes.count {
            let put = unsafe bytes[done...].withUnsafeBytes { unsafe Glibc.write(input.raw, $0.baseAddress, $0.count) }
            if put >= 0 {
                done += put
            } else if errno == EAGAIN {
                guard try wait(for: input.raw, to: .send, until: deadline) == .ready else {
                    throw SystemCallError("write", errno: ETIMEDOUT)
                }
            } else if errno != EINTR {
                throw SystemCallError("write", errno: errno)
            }
        }
    }

    /// What one read(2) brings, straight into memory that is wiped: how many bytes,
    /// 0 where the tool has closed its side. Waits until there is something.
    package func hear(into buffer: inout SecretBytes) throws(SystemCallError) -> Int {
        while true {
            let got = unsafe buffer.withUnsafeMutableBytes { unsafe read(output.raw, $0.baseAddress, $0.count) }
            if got >= 0 { return got }
            if errno != EINTR { throw SystemCallError("read", errno: errno) }
        }
    }

    /// Asks it to end, so that it can put a terminal in order; what is there of it
    /// and of what it started when the time is over is killed.
    package consuming func end(by deadline: Deadline) {
        _ = kill(-child, SIGTERM)
        // Where this fails the tool is killed all the same.
        do throws(SystemCallError) { _ = try ProcessHandle.waitForEnd(of: child, until: deadline) } catch {}
    }

    deinit {
        // The group is the child's own (setsid(2)), and keeps its number until we reap.
        _ = kill(-child, SIGKILL)
        _ = lk_reap(child)
    }
}
