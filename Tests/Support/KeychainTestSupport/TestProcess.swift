internal import CTestProcess
package import Foundation

/// A program that a test starts: used as Foundation's `Process`, but two that are started at
/// once have nothing of each other's.
///
/// Foundation hears of a program's end by a socket that closes, on one thread for all. A
/// program that another thread starts at that moment inherits the socket, and two tests wait
/// for each other's programs for ever: the whole run never ends. One that closes what it
/// inherited keeps that thread, and so everybody, until it ends. Here a program has its three
/// standard streams and no other descriptor, a process group of its own, and no signal
/// blocked or ignored, however the tests were started; its end is what waitid(2) says.
package final class TestProcess: @unchecked Sendable {
    // @unchecked: one test sets it up, from one thread at a time; its end is under the lock.

    /// Where a standard stream leads. nil is /dev/null: what a test leaves running must not
    /// hold the streams of the whole run, whose end others wait for.
    package protocol Stream: AnyObject {
        /// The descriptor that the program gets.
        func end(forReading: Bool) -> Int32
        /// The program has it.
        func isHandedOver(forReading: Bool)
    }

    /// Why it ended.
    package enum TerminationReason: Sendable { case exit, uncaughtSignal }

    private enum Progress {
        case planned
        case running(Int32)
        case ended(Int32, status: Int32, TerminationReason)
    }

    package var executableURL: URL?
    package var arguments: [String] = []
    /// nil: the test's own.
    package var environment: [String: String]?
    package var standardInput: (any Stream)?
    package var standardOutput: (any Stream)?
    package var standardError: (any Stream)?

    private let progress = NSCondition()
    // Under the condition's lock.
    private var state = Progress.planned

    package init() { _ = Self.childrenAreReaped }

    /// Where a shell had SIGCHLD ignored nobody would hear how a child ended.
    private static let childrenAreReaped: Void = { _ = Foundation.signal(SIGCHLD, SIG_DFL) }()

    // MARK: Running

    /// Returns once it runs; throws where it cannot.
    package func run() throws {
        guard let path = executableURL?.path, case .planned = state else { throw CocoaError(.fileNoSuchFile) }
        let nothing = FileHandle.nullDevice
        let streams = [standardInput ?? nothing, standardOutput ?? nothing, standardError ?? nothing]
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
        let ends = streams.indices.map { streams[$0].end(forReading: $0 == 0) }
        let (argv, envp) = (CStrings([path] + arguments), CStrings(variables))
        var number: Int32 = 0
        let failure = unsafe test_spawn(&number, path, argv.pointers, envp.pointers, ends[0], ends[1], ends[2])
        let process = number
        guard failure == 0 else {
            throw NSError(domain: NSPOSIXErrorDomain, code: Int(failure), userInfo: [NSFilePathErrorKey: path])
        }
        var handed: [any Stream] = []
        for (index, stream) in streams.enumerated() where !handed.contains(where: { $0 === stream }) {
            stream.isHandedOver(forReading: index == 0)
            handed.append(stream)
        }
        progress.withLock { state = .running(process) }
        TestThread.start { [self] in awaitEnd(of: process) }
    }

    private func awaitEnd(of process: pid_t) {
        var information = unsafe siginfo_t()
        // Not reaped yet: until it is, under the lock, the number is its own.
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        progress.withLock {
            var status: Int32 = 0
            var reaped: pid_t = -1
            repeat { reaped = unsafe waitpid(process, &status, 0) } while reaped == -1 && errno == EINTR
            precondition(reaped == process, "waitpid: errno \(errno)")
            // wait(2): the lower seven bits are the signal, the next byte is the status.
            let signal = status & 0x7F
            state =
                signal == 0
                ? .ended(process, status: status >> 8 & 0xFF, .exit)
                : .ended(process, status: signal, .uncaughtSignal)
            progress.broadcast()
        }
    }

    // MARK: Looking

    /// Its number; 0 before it runs.
    package var processIdentifier: Int32 {
        progress.withLock {
            switch state {
            case .planned: 0
            case .running(let process), .ended(let process, _, _): process
            }
        }
    }

    package var isRunning: Bool {
        progress.withLock { if case .running = state { true } else { false } }
    }

    /// The status it ended with, or the signal that ended it.
    package var terminationStatus: Int32 { end.status }

    package var terminationReason: TerminationReason { end.reason }

    private var end: (status: Int32, reason: TerminationReason) {
        progress.withLock {
            guard case .ended(_, let status, let reason) = state else { preconditionFailure("it has not ended") }
            return (status, reason)
        }
    }

    // MARK: Ending

    /// Returns once it has ended; at once where it never ran.
    ///
    /// One that does not end is killed after ten minutes, longer than any takes beside all
    /// other tests: a test fails then, and does not keep the run.
    package func waitUntilExit() {
        let patience = Date(timeIntervalSinceNow: 600)
        progress.withLock {
            while case .running(let process) = state {
                if !progress.wait(until: patience) { for whom in [-process, process] { kill(whom, SIGKILL) } }
            }
        }
    }

    /// Asks it to end (SIGTERM).
    package func terminate() { signal(SIGTERM) }

    /// As from a terminal (SIGINT).
    package func interrupt() { signal(SIGINT) }

    /// Returns once it has ended.
    package func killNow() {
        signal(SIGKILL)
        waitUntilExit()
    }

    /// Nothing happens where it has ended.
    package func signal(_ number: Int32) {
        progress.withLock { if case .running(let process) = state { kill(process, number) } }
    }
}

extension FileHandle: TestProcess.Stream {
    package func end(forReading: Bool) -> Int32 {
        self === FileHandle.nullDevice ? NullDevice.descriptor : fileDescriptor
    }

    package func isHandedOver(forReading: Bool) {}
}

extension Pipe: TestProcess.Stream {
    package func end(forReading: Bool) -> Int32 {
        (forReading ? fileHandleForReading : fileHandleForWriting).fileDescriptor
    }

    /// As Foundation does: whoever reads the other end sees when the program closes its own.
    package func isHandedOver(forReading: Bool) {
        try? (forReading ? fileHandleForReading : fileHandleForWriting).close()
    }
}

/// Foundation's own null device has no descriptor.
private enum NullDevice {
    static let descriptor = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
}

/// An array of C strings for the time of a call.
@safe private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) { unsafe pointers = strings.map { unsafe strdup($0) } + [nil] }

    deinit { unsafe pointers.forEach { unsafe free($0) } }
}
