package import KeychainPlatform

/// The folder in which the kernel shows processes, with what it says of our own.
///
/// Make it once, after the daemon has entered the namespaces it stays in: every
/// peer is compared with what is found here. Tests name a folder of fixtures.
package final class ProcRoot: Sendable {
    /// How much of the control-group hierarchy our own paths start from.
    package enum Hierarchy: Sendable {
        /// We are in the first cgroup namespace: "/" is the machine's root, so
        /// that only root can make "/system.slice".
        case whole
        /// We are in another one, whose "/" anybody may have chosen: its paths
        /// prove nothing.
        case part
    }

    let folder: Descriptor
    let ownNamespaces: Namespaces
    /// Where we are ourselves; nil where that is not told.
    let ownControlGroup: ControlGroup?
    let hierarchy: Hierarchy

    package convenience init(at path: FilePath, hierarchy: Hierarchy) throws(PeerRefusal) {
        let folder = try refusing { () throws(SystemCallError) in try Descriptor.look(at: path, .folder) }
        try self.init(folder, hierarchy)
    }

    private init(_ folder: Descriptor, _ hierarchy: Hierarchy) throws(PeerRefusal) {
        self.folder = folder
        self.hierarchy = hierarchy
        ownControlGroup = Self.controlGroup(of: FilePath("self"), in: folder)
        ownNamespaces = try refusing { () throws(SystemCallError) in try Namespaces(of: FilePath("self"), in: folder) }
    }

    private static func controlGroup(of process: FilePath, in folder: Descriptor) -> ControlGroup? {
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: process.appending("cgroup"), in: folder, .reading)
            return ControlGroup(file: try file.readOnce(atMost: 16 * 1024))
        } catch { return nil }
    }

    /// `/proc` itself; refused where something else is mounted there.
    package static func system() throws(PeerRefusal) -> ProcRoot {
        let (folder, magic, cgroup) = try refusing { () throws(SystemCallError) in
            let folder = try Descriptor.look(at: FilePath("/proc"), .folder)
            let cgroup = try FileStatus(at: FilePath("self/ns/cgroup"), in: folder, followingLink: true)
            return (folder, try folder.fileSystemMagic(), cgroup)
        }
        guard magic == procMagic else { throw .falseProc }
        return try ProcRoot(folder, cgroup.identity.inode == firstControlGroupNamespace ? .whole : .part)
    }

    /// linux/magic.h, PROC_SUPER_MAGIC.
    private static let procMagic: UInt32 = 0x9FA0
    /// linux/nsfs.h, CGROUP_NS_INIT_INO: the same on every machine since Linux 4.6.
    private static let firstControlGroupNamespace: UInt64 = 0xEFFF_FFFB
}

/// The namespaces that decide what a process sees of files, users and processes.
struct Namespaces: Hashable, Sendable {
    let user: FileIdentity
    let mount: FileIdentity
    let process: FileIdentity

    init(user: FileIdentity, mount: FileIdentity, process: FileIdentity) {
        (self.user, self.mount, self.process) = (user, mount, process)
    }

    /// Of the process whose folder is `process`, a path in `proc`.
    init(of process: FilePath, in proc: Descriptor) throws(SystemCallError) {
        let folder = process.appending("ns")
        user = try FileStatus(at: folder.appending("user"), in: proc, followingLink: true).identity
        mount = try FileStatus(at: folder.appending("mnt"), in: proc, followingLink: true).identity
        self.process = try FileStatus(at: folder.appending("pid"), in: proc, followingLink: true).identity
    }
}
