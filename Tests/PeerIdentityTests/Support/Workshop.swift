import Glibc
import KeychainPlatform
import Synchronization
import Testing

/// A folder of one test, gone with it.
final class TemporaryFolder: Sendable {
    let path: String

    init(in parent: String = TemporaryFolder.parent, mode: UInt32 = 0o700) throws {
        var template = Array("\(parent)/lk-peer-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) }
        try #require(unsafe made != nil, "no folder can be made in \(parent)")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(unsafe chmod(path, mode) == 0)
    }

    deinit { Self.remove(path) }

    static let parent: String = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"

    static func remove(_ path: String) { _ = try? Puppet.run("/bin/rm", ["-rf", "--", path]) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws -> String {
        let target = file(name)
        let fd = unsafe Glibc.open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(fd >= 0, "cannot write \(target)")
        defer { close(fd) }
        let bytes = Array(text.utf8)
        let put = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fd, $0.baseAddress, $0.count) }
        try #require(put == bytes.count)
        try #require(fchmod(fd, mode) == 0)
        return target
    }

    func read(_ name: String) throws -> String {
        let file = try Descriptor.look(at: FilePath(self.file(name)), .reading)
        return String(decoding: try file.readStart(atMost: 64 * 1024), as: UTF8.self)
    }

    func makeFolder(_ name: String, mode: UInt32 = 0o755) throws -> String {
        let target = file(name)
        try #require(unsafe mkdir(target, 0o700) == 0)
        try #require(unsafe chmod(target, mode) == 0)
        return target
    }

    func open() throws -> Descriptor { try Descriptor.look(at: FilePath(path), .folder) }
}

/// The puppet, built once by the C compiler of the machine.
struct Workshop: Sendable {
    let program: String
    let library: String
    private let folder: TemporaryFolder

    static let shared = Result { try Workshop() }

    private init() throws {
        folder = try TemporaryFolder(mode: 0o755)
        let source = try folder.write("puppet.c", PuppetSource.text)
        program = folder.file("puppet")
        library = folder.file("puppet.so")
        try Self.compile([source, "-o", program])
        try Self.compile([source, "-DPRELOAD", "-shared", "-fPIC", "-o", library])
        Self.removeAtExit(folder.path)
    }

    private static func compile(_ arguments: [String]) throws {
        let status = try Puppet.run("/usr/bin/cc", ["-O1", "-Wall", "-Werror"] + arguments)
        try #require(status == 0, "cc failed: a C compiler is needed to mount the attacks")
    }

    /// The deinit of a static never runs.
    private static func removeAtExit(_ path: String) {
        pathToRemove.withLock { $0 = path }
        _ = atexit { TemporaryFolder.remove(pathToRemove.withLock { $0 }) }
    }
}

private let pathToRemove = Mutex("")
