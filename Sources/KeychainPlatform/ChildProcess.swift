@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A program of ours that runs as a direct child, apart from our terminal, or as a child
/// of our ``ProgramSpawner``.
package struct ChildProcess: Sendable {
    package let processID: Int32
    /// The spawner's child, which it reaps; nil: it is ours.
    private let handle: Descriptor?

    init(processID: Int32, ofSpawner handle: Descriptor? = nil) {
        self.processID = processID
        self.handle = handle
    }

    /// Session of its own, cwd /, standard descriptors on /dev/null, `third` and
    /// `fourth` as descriptors 3 and 4, all others closed.
    package static func start(
        _ path: String, arguments: [String], environment: [String], third: Descriptor, fourth: Descriptor
    ) throws(SystemCallError) -> ChildProcess {
        let result = unsafe withCStrings([path] + arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe lk_spawn_child(path, argv, envp, third.raw, fourth.raw)
            }
        }
        return ChildProcess(processID: try checked("start \(path)", result))
    }

    /// Readable once it has ended.
    package func gone() throws(SystemCallError) -> Descriptor {
        if let handle { return handle }
        return Descriptor(owning: try checked("pidfd_open", lk_pidfd_open(processID)))
    }

    /// Not reaped yet, so that the number of a child of ours is still its own.
    private func signal(_ number: Int32) {
        _ = handle.map { lk_signal_process($0.raw, number) } ?? kill(processID, number)
    }

    /// Of a child of ours that has ended, or that ends here: the kernel forgets it.
    ///
    /// - Returns: its status as a shell shows it; -1 where there is none.
    @discardableResult
    package func bury() -> Int32 {
        signal(SIGKILL)
        return lk_reap_status(processID)
    }

    /// Asks it to end. Nothing happens where it has.
    ///
    /// - Precondition: its end was not waited for yet.
    package func askToEnd() { signal(SIGTERM) }

    /// Waits for its end, then its status as a shell shows it (0 of a spawner's); where
    /// the time is over it is killed.
    @discardableResult
    package func status(until deadline: Deadline) throws(SystemCallError) -> Int32 {
        // Held: as a temporary it would be closed before the wait, which then ends at once.
        let gone = try gone()
        let outcome = try withExtendedLifetime(gone) { () throws(SystemCallError) in
            try wait(for: gone.raw, to: .receive, until: deadline)
        }
        if outcome == .timedOut { signal(SIGKILL) }
        return handle == nil ? try checked("waitpid", lk_reap_status(processID)) : 0
    }

    /// As ``status(until:)``; once `called` is readable it is asked to end, which it has
    /// `grace` for.
    @discardableResult
    package func status(
        until deadline: Deadline, orCalledOffBy called: Descriptor, grace: Duration
    ) throws(SystemCallError) -> Int32 {
        if try waitForAny(of: [gone(), called], until: deadline) == 1 {
            signal(SIGTERM)
            return try status(until: Deadline(after: grace, on: deadline.clock))
        }
        return try status(until: deadline)
    }

    /// Waits for its end; where the time is over it is killed.
    package func end(within allowed: Duration, on clock: any KeychainClock) throws(SystemCallError) {
        try status(until: Deadline(after: allowed, on: clock))
    }
}

/// A person's command in the foreground.
package enum ForegroundCommand {
    /// Runs a program, looked for in PATH, in our process group and terminal;
    /// signals sent to us are handed on. The status as a shell shows it.
    ///
    /// On return those signals are blocked, so that tidying up is not cut short.
    ///
    /// - Parameter input: its standard input; nil: ours.
    package static func run(
        _ arguments: [String], environment: [String], input: Descriptor? = nil
    ) throws(SystemCallError) -> Int32 {
        var outcome: Int32 = 0
        let result = unsafe withCStrings(arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe lk_run_command(argv, envp, input?.raw ?? -1, &outcome)
            }
        }
        _ = try checked("start", result)
        return outcome
    }
}

/// Lends a NULL-terminated array of C strings.
func withCStrings<R>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}

/// The two ends of a pipe, both close-on-exec.
package struct PipeEnds: Sendable {
    package let reading: Descriptor
    package let writing: Descriptor

    package init() throws(SystemCallError) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe withUnsafeMutableBytes(of: &ends) { raw in
            unsafe lk_pipe(raw.baseAddress!.assumingMemoryBound(to: Int32.self))
        }
        _ = try checked("pipe2", result)
        reading = Descriptor(owning: ends.0)
        writing = Descriptor(owning: ends.1)
    }
}
