internal import KeychainPlatform

/// `/proc/PID` of one process, held open.
///
/// The kernel ties the open folder to the process, not to its number: what is
/// read through it is of that process or fails. That the process is the peer is
/// proved outside, by a pidfd that is still alive after the folder was opened.
struct ProcessFolder {
    private let folder: Descriptor
    private let processID: Int32

    init(of processID: Int32, in proc: ProcRoot) throws(PeerRefusal) {
        self.processID = processID
        let path = FilePath("\(processID)")
        let opened = try Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: path, in: proc.folder, .folder)
        }
        guard let opened else { throw .gone }
        folder = opened
    }

    /// Runs one look at the process; nil where we may not look.
    ///
    /// - Throws: ``PeerRefusal/gone`` where there is no such process any more.
    static func looking<T>(_ look: () throws(SystemCallError) -> T) throws(PeerRefusal) -> T? {
        do throws(SystemCallError) {
            return try look()
        } catch {
            if error.isDenied { return nil }
            if error.isNoSuchFile || error.isNoSuchProcess { throw .gone }
            throw .system(error)
        }
    }

    /// The memory map, kept to notice an exec: the open file belongs to the
    /// address space, and is empty once nobody uses that any more.
    func openMaps() throws(PeerRefusal) -> Descriptor? {
        try Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("maps"), in: folder, .reading)
        }
    }

    /// The record, kept: it is told also once the process hides, where the kernel then
    /// shows its folder no more (proc(5), "hidepid").
    func openRecord() throws(PeerRefusal) -> Descriptor? {
        try Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath("stat"), in: folder, .reading)
        }
    }

    func namespaces() throws(PeerRefusal) -> Namespaces? {
        try Self.looking { () throws(SystemCallError) in try Namespaces(of: FilePath("."), in: folder) }
    }

    /// The executable: what it is, what it is called here, and by which mount it was reached, where its
    /// name leads nowhere any more.
    func executable() throws(PeerRefusal) -> (file: FileStatus, path: FilePath, mount: UInt64?)? {
        try Self.looking { () throws(SystemCallError) in
            let file = try Descriptor.look(at: FilePath("exe"), in: folder, .place)
            let path = try folder.linkTarget(FilePath("exe"))
            return (try FileStatus(of: file), path, path.endsInDeletionNote ? Self.mount(of: file) : nil)
        }
    }

    private static func mount(of file: Descriptor) -> UInt64? {
        do throws(SystemCallError) { return try MountIdentity.of(file) } catch { return nil }
    }

    /// The whole of a small file that the kernel writes when it is read.
    private func read(_ name: String, atMost limit: Int) throws(PeerRefusal) -> [UInt8]? {
        try Self.looking { () throws(SystemCallError) in
            try Descriptor.look(at: FilePath(name), in: folder, .reading).readOnce(atMost: limit)
        }
    }

    func status() throws(PeerRefusal) -> ProcessStatus {
        guard let text = try read("status", atMost: 8 * 1024), let status = ProcessStatus(text) else { throw .gone }
        return status
    }

    func record() throws(PeerRefusal) -> ProcessRecord {
        guard let text = try read("stat", atMost: 4 * 1024), let record = ProcessRecord(text) else { throw .gone }
        return record
    }

    func controlGroup() throws(PeerRefusal) -> ControlGroup? {
        try read("cgroup", atMost: 16 * 1024).flatMap(ControlGroup.init(file:))
    }

    /// `/.flatpak-info` as the process sees it, or nil where there is none.
    ///
    /// The process may have chosen every byte of it, and what kind of file it is.
    func flatpakInfo() -> FlatpakInfo? {
        SmallFile.read(FilePath("root/.flatpak-info"), in: folder).flatMap { FlatpakInfo($0.bytes) }
    }
}

extension SystemCallError {
    var isDenied: Bool { errno == 13 || errno == 1 }  // EACCES, EPERM
    var isNoSuchProcess: Bool { errno == 3 }  // ESRCH
}
