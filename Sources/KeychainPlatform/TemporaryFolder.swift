@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A folder of ours that lives as long as the process that made it: mode 0700,
/// with a lock in it that says whether somebody still uses it.
///
/// Made and swept without a race: whoever makes one takes the lock and then
/// looks whether the folder is still there, whoever sweeps takes the lock first
/// and unlinks the lock file last.
package final class TemporaryFolder: Sendable {
    private static let lockName = "temp.lock"
    private static let randomLetters = 6

    package let directory: PrivateDirectory
    private let lock: FileLock

    package var path: String { directory.path }

    private init(_ directory: PrivateDirectory, _ lock: FileLock) {
        self.directory = directory
        self.lock = lock
    }

    /// A new folder `prefix-XXXXXX` in `parent`.
    package static func make(in parent: String, prefix: String) throws(DirectoryRefusal) -> TemporaryFolder {
        // A sweeper can remove a folder that is one moment old.
        for _ in 0..<64 {
            guard let path = try makeDirectory(in: parent, prefix: prefix) else { continue }
            do throws(DirectoryRefusal) {
                if let folder = try settle(path) { return folder }
            } catch {
                guard case .system(_, let below) = error, below.isNoSuchFile else { throw error }
            }
        }
        throw .system(path: parent, SystemCallError("mkdtemp", errno: EBUSY))
    }

    private static func settle(_ path: String) throws(DirectoryRefusal) -> TemporaryFolder? {
        let directory = try PrivateDirectory(path, creating: false)
        do throws(SystemCallError) {
            return try take(directory).map { TemporaryFolder(directory, $0) }
        } catch {
            throw .system(path: path, error)
        }
    }

    /// nil where it was swept before it was whole.
    private static func makeDirectory(in parent: String, prefix: String) throws(DirectoryRefusal) -> String? {
        var template = Array("\(parent)/\(prefix)-\(String(repeating: "X", count: randomLetters))".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw .system(path: parent, SystemCallError("mkdtemp", errno: errno))
        }
        // mkdtemp(3) takes away what the umask says, also of the owner.
        guard unsafe chmod(template, S_IRWXU) == 0 else {
            let failure = SystemCallError("chmod", errno: errno)
            if failure.isNoSuchFile { return nil }
            _ = unsafe rmdir(template)
            throw .system(path: parent, failure)
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder's lock, or nil where somebody has it or has just swept it.
    private static func take(_ directory: PrivateDirectory) throws(SystemCallError) -> FileLock? {
        guard let lock = try FileLock.take(try directory.openFile(lockName, creating: true)) else { return nil }
        var status = stat()
        guard unsafe fstat(lock.descriptor.raw, &status) == 0 else { throw SystemCallError("fstat", errno: errno) }
        return status.st_nlink > 0 ? lock : nil
    }

    /// Removes the folder and everything in it.
    package func remove() throws(SystemCallError) { try Self.remove(directory) }

    private static func remove(_ directory: PrivateDirectory) throws(SystemCallError) {
        try FolderContent.remove(in: directory.descriptor, sparing: lockName)
        try directory.remove(lockName)
        if unsafe rmdir(directory.path) == 0 || errno == ENOENT { return }
        throw SystemCallError("rmdir", errno: errno)
    }

    /// Removes the folders in `parent` that were made under `prefix` by this
    /// user and that nobody uses any more; the number of those.
    @discardableResult
    package static func sweep(_ parent: String, prefix: String) -> Int {
        FolderContent.names(at: parent).count { name in
            isOurs(name, prefix) && sweepOne("\(parent)/\(name)")
        }
    }

    private static func isOurs(_ name: String, _ prefix: String) -> Bool {
        name.hasPrefix("\(prefix)-") && name.utf8.count == prefix.utf8.count + 1 + randomLetters
    }

    private static func sweepOne(_ path: String) -> Bool {
        do throws(DirectoryRefusal) {
            let directory = try PrivateDirectory(path, creating: false)
            do throws(SystemCallError) {
                guard let lock = try take(directory) else { return false }
                defer { withExtendedLifetime(lock) {} }
                try remove(directory)
                return true
            } catch {
                // Somebody else swept it, or will.
                return false
            }
        } catch {
            // Not one of ours.
            return false
        }
    }
}
