internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Hears of the calls of explained programs, one after the other, and lets each
/// go on when it has been looked at.
final class ExplainListener: Sendable {
    private static let folderPrefix = "latchkey-explain"
    private static let socketName = "calls.sock"
    /// More programs at once than anybody reads about.
    private static let mostPrograms = 64

    private let folder: TemporaryFolder
    private let socket: PacketSocket
    private let stop: EventSignal
    private let ended: EventSignal
    private let explain: @Sendable (CallRecord) -> Void

    /// For LATCHKEY_EXPLAIN.
    var path: String { "\(folder.path)/\(Self.socketName)" }

    private init(
        _ folder: TemporaryFolder, _ socket: PacketSocket, _ explain: @escaping @Sendable (CallRecord) -> Void
    ) throws(SystemCallError) {
        self.folder = folder
        self.socket = socket
        self.explain = explain
        stop = try EventSignal()
        ended = try EventSignal()
    }

    /// - Parameter explain: called on a thread of this listener, one call at a time.
    static func start(_ explain: @escaping @Sendable (CallRecord) -> Void) throws(CommandFailure) -> ExplainListener {
        let parent = ProcessEnvironment.variable("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        TemporaryFolder.sweep(parent, prefix: folderPrefix)
        let folder: TemporaryFolder
        do throws(DirectoryRefusal) { folder = try TemporaryFolder.make(in: parent, prefix: folderPrefix) } catch {
            throw failure("\(error)")
        }
        do throws(SystemCallError) {
            let socket = try PacketSocket.listen(at: socketName, in: folder.directory.descriptor)
            try socket.setNonBlocking(true)
            let listener = try ExplainListener(folder, socket, explain)
            try BackgroundThread.start { listener.run() }
            return listener
        } catch {
            throw failure("\(error)")
        }
    }

    private static func failure(_ cause: String) -> CommandFailure {
        CommandFailure(
            .unavailable, "calls cannot be listened to (\(cause))",
            "Set TMPDIR to a folder with a short path that you may write.")
    }

    /// Hears what has been said already, and ends.
    func end() {
        stop.signal()
        do throws(SystemCallError) {
            _ = try waitForAny(of: [ended.descriptor], until: Deadline(after: .seconds(10), on: SystemClock()))
            try folder.remove()
        } catch {
            // The next `explain` sweeps the folder.
        }
    }

    // MARK: On the thread

    private func run() {
        defer { ended.signal() }
        var programs: [MessageChannel] = []
        while true {
            // Programs before the end: what they said is heard out.
            let watched = programs.map(\.socket.descriptor) + [socket.descriptor, stop.descriptor]
            let ready: Int?
            do throws(SystemCallError) {
                ready = try waitForAny(of: watched, until: Deadline(after: .seconds(3600), on: SystemClock()))
            } catch { return }
            guard let ready else { continue }
            if ready == programs.count + 1 { return }
            if ready == programs.count {
                if let program = accept(programs.count) { programs.append(program) }
            } else if !hear(programs[ready]) {
                programs.remove(at: ready)
            }
        }
    }

    private func accept(_ count: Int) -> MessageChannel? {
        do throws(SystemCallError) {
            guard let program = try socket.accept(), count < Self.mostPrograms,
                try program.peerCredentials().uid == ProcessEnvironment.effectiveUserID
            else { return nil }
            return try MessageChannel(program)
        } catch {
            return nil
        }
    }

    /// False where the program has gone, or says what no program of ours says.
    private func hear(_ program: MessageChannel) -> Bool {
        let deadline = Deadline(after: .seconds(5), on: SystemClock())
        do throws(FrameError) {
            guard let frame = try program.receive(until: deadline) else { return false }
            let record: CallRecord
            do throws(WireFault) { record = try CallRecord(encoded: frame.header) } catch { return false }
            explain(record)
            try program.send([], until: deadline)
            return true
        } catch {
            return false
        }
    }
}
