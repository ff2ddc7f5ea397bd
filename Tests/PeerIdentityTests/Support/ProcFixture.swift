import Glibc
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// A `/proc` of one process in which single files say what a test wants, and
/// everything else is the kernel's.
struct ProcFixture {
    private let folder: WorkFolder
    private let processID: Int32

    init(of puppet: Puppet) throws {
        folder = try WorkFolder()
        processID = puppet.processID
        _ = try folder.makeFolder("self")
        _ = try folder.makeFolder("\(processID)")
        try link("self/ns", to: "/proc/self/ns")
        let real = try Descriptor.look(at: FilePath("/proc/\(processID)"), .folder)
        try link("\(processID)/exe", to: try #require(real.linkTarget(FilePath("exe")).printable))
        for name in ["maps", "ns", "root", "stat", "status", "cgroup"] {
            try link("\(processID)/\(name)", to: "/proc/\(processID)/\(name)")
        }
    }

    private func link(_ name: String, to target: String) throws {
        try #require(unsafe symlink(target, folder.file(name)) == 0)
    }

    func replace(_ name: String, with text: String) throws {
        try #require(unsafe unlink(folder.file("\(processID)/\(name)")) == 0)
        try folder.write("\(processID)/\(name)", text)
    }

    /// Another process, of which nothing is to be seen but this.
    func add(_ process: Int32, stat: String) throws {
        _ = try folder.makeFolder("\(process)")
        try folder.write("\(process)/stat", stat)
    }

    func root(_ hierarchy: ProcRoot.Hierarchy = .whole) throws -> ProcRoot {
        try ProcRoot(at: FilePath(folder.path), hierarchy: hierarchy)
    }
}
