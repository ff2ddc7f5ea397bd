@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Runs somebody else's program with secrets in its pipes, apart from our
/// terminal: nothing of them is an argument, a variable or a file of ours.
package struct PipedProgram {
    /// An absolute path and arguments.
    private let command: [String]
    private let environment: [String]
    private let deadline: Deadline

    /// Redirections are a shell's work; what it runs is never part of its script.
    private static let shell = ["-c", "exec \"$@\" <&3 >&4 3<&- 4>&-", "sh"]

    /// - Parameter deadline: then it is killed.
    package init(_ command: [String], environment: [String], until deadline: Deadline) {
        self.command = command
        self.environment = environment
        self.deadline = deadline
    }

    /// Gives it its standard input; the status as a shell shows it. A program that
    /// leaves its input unread tells why by its status.
    package func write(_ input: borrowing SecretBytes) throws(SystemCallError) -> Int32 {
        Hardening.ignoreBrokenPipes()
        return try fed(input).status(until: deadline)
    }

    /// What it writes, up to its end; nil where that is more than `limit` bytes.
    package func read(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        let (child, reading) = try listenedTo()
        var output = SecretBytes(count: limit + 1)
        var count = 0
        while count <= limit, try wait(for: reading.raw, to: .receive, until: deadline) == .ready {
            let start = count
            let got = unsafe output.withUnsafeMutableBytes { space in
                unsafe Glibc.read(reading.raw, space.baseAddress! + start, space.count - start)
            }
            guard got > 0 else { break }
            count += got
        }
        guard try child.status(until: deadline) == 0 || count > limit else { return nil }
        guard count <= limit else { return nil }
        output.truncate(to: count)
        return output
    }

    // MARK: Ends

    /// On return its input has ended.
    private func fed(_ input: borrowing SecretBytes) throws(SystemCallError) -> ChildProcess {
        let pipe = try PipeEnds()
        let child = try start(pipe.reading, try Self.null())
        try feed(input, to: pipe.writing)
        return child
    }

    private func feed(_ input: borrowing SecretBytes, to pipe: Descriptor) throws(SystemCallError) {
        _ = fcntl(pipe.raw, F_SETFL, O_NONBLOCK)
        var done = 0
        while done < input.count, try wait(for: pipe.raw, to: .send, until: deadline) == .ready {
            let start = done
            let put = unsafe input.withUnsafeBytes { bytes in
                unsafe Glibc.write(pipe.raw, bytes.baseAddress! + start, bytes.count - start)
            }
            // Whoever reads no more has a status that says why.
            guard put >= 0 || errno == EAGAIN || errno == EINTR else { return }
            done += max(0, put)
        }
    }

    /// On return nobody but the program can write what is read.
    private func listenedTo() throws(SystemCallError) -> (ChildProcess, Descriptor) {
        let pipe = try PipeEnds()
        return (try start(try Self.null(), pipe.writing), pipe.reading)
    }

    private func start(_ input: Descriptor, _ output: Descriptor) throws(SystemCallError) -> ChildProcess {
        try ChildProcess.start(
            "/bin/sh", arguments: Self.shell + command, environment: environment, third: input, fourth: output)
    }

    private static func null() throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try checked("open /dev/null", unsafe lk_open("/dev/null", O_RDWR, 0)))
    }
}

extension Descriptor {
    /// The one that whoever started this program left open at a number.
    package static func inherited(_ raw: Int32) -> Descriptor? {
        fcntl(raw, F_SETFD, FD_CLOEXEC) == 0 ? Descriptor(owning: raw) : nil
    }

    /// All of it, however long the other side takes.
    package func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        try unsafe secret.withUnsafeBytes { bytes throws(SystemCallError) in
            var done = 0
            while done < bytes.count {
                let put = unsafe Glibc.write(raw, bytes.baseAddress! + done, bytes.count - done)
                if put < 0, errno != EINTR { throw SystemCallError("write", errno: errno) }
                done += max(0, put)
            }
        }
    }

    /// Everything up to the end, or nil where that is more than `limit` bytes.
    package func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        var secret = SecretBytes(count: limit + 1)
        var count = 0
        while count <= limit {
            let start = count
            let got = unsafe secret.withUnsafeMutableBytes { space in
                unsafe Glibc.read(raw, space.baseAddress! + start, space.count - start)
            }
            if got < 0, errno != EINTR { throw SystemCallError("read", errno: errno) }
            if got == 0 { break }
            count += max(0, got)
        }
        guard count <= limit else { return nil }
        secret.truncate(to: count)
        return secret
    }
}
