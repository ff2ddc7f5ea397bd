@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// A lock whose file is there only as long as somebody has it: nothing of it is left, but
/// where its owner was killed, and then the next one takes the file away.
package final class NamedLock: Sendable {
    private let lock: FileLock
    private let path: FilePath

    private init(_ lock: FileLock, at path: FilePath) { (self.lock, self.path) = (lock, path) }

    deinit {
        // Before it is given up: whoever waits for it sees then that its file is another's.
        do throws(SystemCallError) { _ = try FileRemoval.remove(path) } catch {}  // the next one's to remove
        lock.release()
    }

    /// The lock, once whoever has it gives it up; nil where somebody keeps it beyond `deadline`.
    ///
    /// - Parameter path: in a folder that is there.
    package static func take(_ path: FilePath, until deadline: Deadline) throws(SystemCallError) -> NamedLock? {
        repeat {
            let raw = unsafe path.withCString {
                unsafe lk_open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            }
            let file = Descriptor(owning: try checked("open a lock", raw))
            guard let lock = try FileLock.take(file, until: deadline) else { return nil }
            if try isStill(file, at: path) { return NamedLock(lock, at: path) }
            // Its last owner took the file away while we waited.
        } while !deadline.hasPassed
        return nil
    }

    private static func isStill(_ file: Descriptor, at path: FilePath) throws(SystemCallError) -> Bool {
        let own = try FileStatus(of: file).identity
        do throws(SystemCallError) { return try FileStatus(at: path, followingLink: false).identity == own } catch {
            if error.isNoSuchFile { return false }
            throw error
        }
    }
}
