internal import Glibc
package import KeychainPlatform
internal import Synchronization

/// A folder of one test, gone with it.
package final class WorkFolder: Sendable {
    package let path: String

    package init(in parent: String = WorkFolder.parent, mode: UInt32 = 0o700) throws {
        var template = Array("\(parent)/lk-peer-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) }
        try Self.check(unsafe made != nil, "no folder can be made in \(parent)")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try Self.check(unsafe chmod(path, mode) == 0, "chmod \(path)")
    }

    deinit { Self.remove(path) }

    package static let parent: String = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"

    package static func remove(_ path: String) { _ = try? Puppet.run("/bin/rm", ["-rf", "--", path]) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    package func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws -> String {
        let target = file(name)
        let fd = unsafe Glibc.open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try Self.check(fd >= 0, "cannot write \(target)")
        defer { close(fd) }
        let bytes = Array(text.utf8)
        let put = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fd, $0.baseAddress, $0.count) }
        try Self.check(put == bytes.count, "cannot write \(target)")
        try Self.check(fchmod(fd, mode) == 0, "chmod \(target)")
        return target
    }

    package func read(_ name: String) throws -> String {
        let file = try Descriptor.look(at: FilePath(self.file(name)), .reading)
        return String(decoding: try file.readStart(atMost: 64 * 1024), as: UTF8.self)
    }

    package func makeFolder(_ name: String, mode: UInt32 = 0o755) throws -> String {
        let target = file(name)
        try Self.check(unsafe mkdir(target, 0o700) == 0, "mkdir \(target)")
        try Self.check(unsafe chmod(target, mode) == 0, "chmod \(target)")
        return target
    }

    private static func check(_ condition: Bool, _ failure: String) throws {
        guard condition else { throw PuppetFailure("\(failure): errno \(errno)") }
    }

    package func open() throws -> Descriptor { try Descriptor.look(at: FilePath(path), .folder) }
}

/// The puppet, built once by the C compiler of the machine.
package struct Workshop: Sendable {
    package let program: String
    package let library: String
    private let folder: WorkFolder

    package static let shared = Result { try Workshop() }

    private init() throws {
        // As /tmp is, wherever TMPDIR is: what lies in it is no executable of root's alone.
        folder = try WorkFolder(mode: 0o1777)
        let source = try folder.write("puppet.c", PuppetSource.text)
        program = folder.file("puppet")
        library = folder.file("puppet.so")
        try Self.compile([source, "-o", program])
        try Self.compile([source, "-DPRELOAD", "-shared", "-fPIC", "-o", library])
        Self.removeAtExit(folder.path)
    }

    private static func compile(_ arguments: [String]) throws {
        let status = try Puppet.run("/usr/bin/cc", ["-O1", "-Wall", "-Werror"] + arguments)
        guard status == 0 else { throw PuppetFailure("cc failed: a C compiler is needed to mount the attacks") }
    }

    /// The deinit of a static never runs.
    private static func removeAtExit(_ path: String) {
        pathToRemove.withLock { $0 = path }
        _ = atexit { WorkFolder.remove(pathToRemove.withLock { $0 }) }
    }
}

private let pathToRemove = Mutex("")
