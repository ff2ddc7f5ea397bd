internal import KeychainPlatform

/// `/proc/PID` of the process that somebody is asked for.
struct CallerFolder {
    let record: ProcessRecord
    private let process: Int32
    /// nil where the kernel shows nothing of a process that hides (proc(5), "hidepid").
    private let folder: Descriptor?
    private let processes: Descriptor

    /// - Parameter held: its `stat`, open, from whoever looked at it before it hid and
    ///   knows it for our user's.
    /// - Throws: where it has ended, or is another user's.
    init(of process: Int32, in places: PromptPlaces, held: Descriptor? = nil) throws(NobodyToAsk) {
        let opened = Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath(places.processes), .folder)
        }
        guard let opened else { throw NobodyToAsk("no process can be looked at") }
        processes = opened
        self.process = process
        let looked = Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("\(process)"), in: opened, .folder)
        }
        if let held, looked.map({ Self.read("status", in: $0) == nil }) ?? true {
            let told = Self.looking { () throws(SystemCallError) in try held.readOnce(atMost: 4 * 1024) }
            guard let known = told.flatMap(ProcessRecord.init) else {
                throw NobodyToAsk("the program that asked has ended")
            }
            (folder, record) = (nil, known)
            return
        }
        guard let looked else { throw NobodyToAsk("the program that asked has ended") }
        folder = looked
        guard let users = Self.read("status", in: looked).flatMap(ProcessUsers.parse),
            let record = Self.read("stat", in: looked).flatMap(ProcessRecord.init)
        else { throw NobodyToAsk("the program that asked cannot be looked at") }
        let own = ProcessEnvironment.effectiveUserID
        guard users.real == own, users.effective == own else {
            throw NobodyToAsk("the program that asked runs as another user")
        }
        self.record = record
    }

    /// The path of the program that a process of our user runs; nil where that cannot be
    /// seen, or cannot be shown.
    static func program(of process: Int32, in places: PromptPlaces) -> String? {
        looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("\(places.processes)/\(process)"), .folder).linkTarget(FilePath("exe"))
        }?.printable
    }

    /// Variables as they were when the program started; nil where it hides them.
    var environment: [[UInt8]]? {
        folder.flatMap { Self.read("environ", in: $0, atMost: 256 * 1024) }?.split(separator: 0).map(Array.init)
    }

    /// Whether the session that the process belongs to sees the files that we see,
    /// and has this terminal. Its leader had it first, and cannot be left without
    /// losing it; the process itself may hide, or stand in a sandbox.
    ///
    /// Of a leader that is the process itself and hides (`latchkey`, where a terminal runs
    /// nothing else: `ssh -t`, `docker exec -it`) or is root's (a shell with setpriv or su in
    /// it) the kernel tells no mount namespace. Then it counts that it is in no process
    /// namespace of its own, as a container's is. A program that hides in a sandbox which has
    /// terminals and no process namespace of its own can have the prompt shown on another of
    /// this user's terminals (THREAT_MODEL Q6); whose terminal it is is looked at in any case
    /// (``CallerTerminal``).
    func leaderSharesTerminal() -> Bool {
        let looked = Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("\(record.session)"), in: processes, .folder)
        }
        guard let leader = looked, isOurs(leader),
            let leading = Self.read("stat", in: leader).flatMap(ProcessRecord.init)
        else { return false }
        return leading.session == record.session && leading.terminal == record.terminal
    }

    private func isOurs(_ leader: Descriptor) -> Bool {
        let own = Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("self"), in: processes, .folder)
        }
        guard let own, let ours = Self.mounts(of: own) else { return false }
        if let theirs = Self.mounts(of: leader) { return ours == theirs }
        guard let status = Self.read("status", in: leader), let users = ProcessUsers.parse(status),
            record.session == process || users.real == 0
        else { return false }
        guard let depth = Self.read("status", in: own).flatMap(ProcessNamespaces.depth) else { return false }
        return ProcessNamespaces.depth(status) == depth
    }

    private static func mounts(of folder: Descriptor) -> FileIdentity? {
        looking { () throws(SystemCallError) in
            try FileStatus(at: FilePath("ns/mnt"), in: folder, followingLink: true).identity
        }
    }

    private static func read(_ name: String, in folder: Descriptor, atMost limit: Int = 16 * 1024) -> [UInt8]? {
        looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath(name), in: folder, .reading).readStart(atMost: limit)
        }
    }

    /// Nil where there is nothing to see: what cannot be looked at is not used.
    private static func looking<T>(_ look: () throws(SystemCallError) -> T) -> T? {
        do throws(SystemCallError) { return try look() } catch { return nil }
    }
}
