internal import Synchronization

/// Holds a folder by the lock on a file in it, which says who has the folder.
///
/// A file that was removed, or that another one has taken the place of, is held by its
/// process and found by nobody; ``putBack()`` mends that.
package final class FolderLock: Sendable {
    private struct State {
        var lock: FileLock
        /// What the file is to say; nil: what it says is not ours.
        var content: [UInt8]?
    }

    private let directory: PrivateDirectory
    private let name: String
    private let state: Mutex<State>

    private init(_ lock: FileLock, _ name: String, _ directory: PrivateDirectory) {
        self.directory = directory
        self.name = name
        state = Mutex(State(lock: lock))
    }

    /// The lock on a file, which is made where it is not there; nil where another process
    /// has it, or another opening in this one.
    package static func take(
        _ name: String, in directory: PrivateDirectory
    ) throws(SystemCallError) -> FolderLock? {
        try FileLock.take(directory.openFile(name, creating: true)).map { FolderLock($0, name, directory) }
    }

    /// Whether others find the file that is held.
    package var isInPlace: Bool {
        let held = state.withLock { $0.lock.descriptor }
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false).identity
                == FileStatus(of: held).identity
        } catch { return false }
    }

    /// Whether the file that is held says what was written into it: a copy of a folder that is
    /// copied over this one says where somebody else was.
    package var isUnchanged: Bool {
        let (lock, content) = state.withLock { ($0.lock, $0.content) }
        guard let content else { return true }
        do throws(SystemCallError) {
            return try lock.descriptor.readStart(atMost: content.count + 1) == content
        } catch { return false }
    }

    /// Holds the file that others find, and has it say what was written.
    ///
    /// - Returns: false where another process has it.
    package func putBack() throws(SystemCallError) -> Bool {
        let (held, content) = state.withLock { ($0.lock, $0.content) }
        if isInPlace {
            if !isUnchanged, let content { try held.write(content) }
            return true
        }
        guard let found = try FileLock.take(directory.openFile(name, creating: true)) else { return false }
        if let content { try found.write(content) }
        state.withLock { $0.lock = found }
        return true
    }

    /// Replaces what the file says.
    package func write(_ content: [UInt8]) throws(SystemCallError) {
        let lock = state.withLock { state in
            state.content = content
            return state.lock
        }
        try lock.write(content)
    }

    package func release() { state.withLock { $0.lock.release() } }
}
