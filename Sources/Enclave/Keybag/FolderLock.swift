internal import KeychainPlatform
internal import Synchronization

/// The lock on an enclave's folder, which another one can take the place of: a lock that
/// was removed is held by its process, and found by nobody.
final class FolderLock: Sendable {
    private struct State {
        var lock: FileLock
        /// What the file says.
        var content: [UInt8] = []
    }

    private let state: Mutex<State>

    init(_ lock: FileLock) { state = Mutex(State(lock: lock)) }

    /// Whether the file of that name is the one that is held.
    func isInPlace(in directory: PrivateDirectory, named name: String) -> Bool {
        let held = state.withLock { $0.lock.descriptor }
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false).identity
                == FileStatus(of: held).identity
        } catch { return false }
    }

    /// Holds another file from now on, which says what the one before said.
    func replace(by lock: FileLock) throws(KeybagError) {
        let content = state.withLock { $0.content }
        do throws(SystemCallError) { try lock.write(content) } catch { throw .system(error) }
        state.withLock { $0.lock = lock }
    }

    /// Replaces what the file says.
    func write(_ content: [UInt8]) throws(KeybagError) {
        let lock = state.withLock { state in
            state.content = content
            return state.lock
        }
        do throws(SystemCallError) { try lock.write(content) } catch { throw .system(error) }
    }

    func release() { state.withLock { $0.lock.release() } }
}
