import Foundation
import KeychainTestSupport
import Synchronization

/// A thread that sees a small file system of its own at a folder, and nobody
/// else does; what it starts sees it too. It goes with them.
enum PrivateMounts {
    private typealias Unshare = @convention(c) (Int32) -> Int32

    /// Why there is none here, or nil.
    static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root may mount" }
        let trial = try? Command("/usr/bin/unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).run()
        return trial?.status == 0 ? nil : "mounting is not permitted here: \(trial?.text ?? "")"
    }()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `body` on such a thread and waits for its end.
    static func run(tmpfs size: String, at folder: String, _ body: @escaping @Sendable () throws -> Void) throws {
        let outcome = Mutex<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
        TestThread.start {
            do {
                try leaveMountNamespace()
                // No mount from here on reaches the others.
                for arguments in [
                    ["--make-rprivate", "/"],
                    ["-t", "tmpfs", "-o", "size=\(size),mode=700", "none", folder],
                ] {
                    let result = try Command("/usr/bin/mount", arguments).run()
                    guard result.status == 0 else { throw Failure(description: result.text) }
                }
                try body()
            } catch {
                outcome.withLock { $0 = error }
            }
            done.signal()
        }
        done.wait()
        if let error = outcome.withLock({ $0 }) { throw error }
    }

    /// unshare(2) is hidden behind a feature macro that Swift's Glibc module does not set.
    private static func leaveMountNamespace() throws {
        guard let symbol = unsafe dlsym(nil, "unshare") else { throw Failure(description: "no unshare(2)") }
        let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
        // CLONE_NEWNS, sched.h
        guard unshare(0x0002_0000) == 0 else { throw Failure(description: "unshare: errno \(errno)") }
    }
}
