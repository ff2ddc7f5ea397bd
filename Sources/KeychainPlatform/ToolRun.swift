@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// What another program wrote and how it ended. Secrets go to it through its
/// standard input and come back through a pipe: nothing of them is an argument, a
/// variable or a file of ours.
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
        /// It did not end in time, and was ended.
        case tooLate

        /// For callers that tell none of these apart.
        package func systemCall(_ program: String) -> SystemCallError {
            switch self {
            case .system(let below): below
            case .tooMuchOutput: SystemCallError(program, errno: EFBIG)
            case .tooLate: SystemCallError(program, errno: ETIMEDOUT)
            }
        }
    }

    /// What becomes of its standard output.
    package enum Output: Sendable {
        /// Nobody reads it. The tool is in a session of its own and may leave a part
        /// of itself at work (a clipboard's owner).
        case ignored
        /// It is read, up to so many bytes; the tool keeps our session and terminal.
        case upTo(Int)
        /// The same of a tool that reads all of its input before it writes, so that
        /// the input may have any length.
        case afterInput(upTo: Int)
    }

    package enum Patience: Sendable {
        /// A person may have to type something, or a key to be derived.
        case untilItEnds
        case until(Deadline)
    }

    /// What a pipe takes before anybody reads it (POSIX, PIPE_BUF).
    package static let longestInput = 4096

    /// Runs the program at an absolute path.
    ///
    /// - Parameter input: what it reads from standard input; no argument and no
    ///   variable may be a secret.
    /// - Precondition: where output is read while the tool still reads (`upTo`), `input`
    ///   has at most ``longestInput`` bytes: both at once could wait for each other.
    package static func run(
        _ path: String, _ arguments: [String], environment: [String], input: borrowing SecretBytes, output: Output,
        patience: Patience = .untilItEnds
    ) throws(Failure) -> ToolRun {
        if case .upTo = output { precondition(input.count <= longestInput, "input and output would wait for each other") }
        do throws(SystemCallError) {
            let tool = try RunningTool(path, arguments, environment, output, patience)
            do throws(SystemCallError) { return try tool.finish(input) } catch {
                tool.end()
                throw error
            }
        } catch {
            switch error.errno {
            case EFBIG: throw .tooMuchOutput
            case ETIMEDOUT: throw .tooLate
            default: throw .system(error)
            }
        }
    }
}

/// A tool at work, and our ends of its streams.
private struct RunningTool {
    private let child: ChildProcess
    private let input: Pipe
    private let output: Descriptor
    private let limit: Int
    private let log: Descriptor
    private let patience: ToolRun.Patience

    /// Its end is what the tool waits for: nobody else may hold it then.
    private final class Pipe {
        var end: Descriptor?
        init(_ end: Descriptor) { self.end = end }
    }

    init(
        _ path: String, _ arguments: [String], _ environment: [String], _ output: ToolRun.Output,
        _ patience: ToolRun.Patience
    ) throws(SystemCallError) {
        let (sent, received) = (try PipeEnds(), try PipeEnds())
        let log = Descriptor(owning: try checked("memfd_create", unsafe lk_memfd("latchkey-tool-log")))
        var (target, limit, isApart) = (received.writing, 0, false)
        switch output {
        case .ignored:
            target = Descriptor(owning: try checked("open /dev/null", unsafe lk_open("/dev/null", O_WRONLY, 0)))
            isApart = true
        case .upTo(let most), .afterInput(let most): limit = most
        }
        let result = unsafe withCStrings([path] + arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe lk_spawn_tool(path, argv, envp, sent.reading.raw, target.raw, log.raw, isApart ? 1 : 0)
            }
        }
        child = ChildProcess(processID: try checked("start \(path)", result))
        input = Pipe(sent.writing)
        // Of an ignored output nobody has the other end: it is empty.
        self.output = received.reading
        self.limit = limit
        self.log = log
        self.patience = patience
    }

    func finish(_ secret: borrowing SecretBytes) throws(SystemCallError) -> ToolRun {
        try feed(secret)
        input.end = nil
        guard let content = try readSecret(output.raw, atMost: limit, beforeEach: ready) else {
            throw SystemCallError("read", errno: EFBIG)
        }
        try waitForEnd()
        return ToolRun(
            status: try checked("waitpid", lk_reap_status(child.processID)), output: content, complaints: complaints)
    }

    /// Whoever reads no more has a status that says why.
    private func feed(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        guard let pipe = input.end, secret.count > 0 else { return }
        // Else a tool that does not read would end us. Not where nothing is written: a
        // command that we become would inherit it, and what ends it is a broken pipe.
        Hardening.ignoreBrokenPipes()
        // Without a deadline write(2) itself waits.
        if case .until = patience { _ = fcntl(pipe.raw, F_SETFL, O_NONBLOCK) }
        var done = 0
        while done < secret.count {
            try waitUntilReady(pipe.raw, .send)
            let start = done
            let put = unsafe secret.withUnsafeBytes { bytes in
                unsafe Glibc.write(pipe.raw, bytes.baseAddress! + start, bytes.count - start)
            }
            guard put >= 0 || errno == EAGAIN || errno == EINTR else { return }
            done += max(0, put)
        }
    }

    private func ready() throws(SystemCallError) { try waitUntilReady(output.raw, .receive) }

    private func waitUntilReady(_ descriptor: Int32, _ direction: WaitDirection) throws(SystemCallError) {
        switch patience {
        // What comes next (read, write, waitpid) waits by itself.
        case .untilItEnds: return
        case .until(let deadline):
            guard try wait(for: descriptor, to: direction, until: deadline) == .ready else {
                throw SystemCallError("wait", errno: ETIMEDOUT)
            }
        }
    }

    private func waitForEnd() throws(SystemCallError) {
        let gone = Descriptor(owning: try checked("pidfd_open", lk_pidfd_open(child.processID)))
        try waitUntilReady(gone.raw, .receive)
    }

    /// Not once it was waited for: its number may be another's.
    func end() {
        _ = lk_kill(child.processID)
        _ = lk_reap(child.processID)
    }

    private var complaints: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = unsafe pread(log.raw, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, got)), as: UTF8.self)
    }
}
