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

    /// Why there is no file system with quotas here, or nil.
    static let quotaObstacle: String? = {
        if let obstacle { return obstacle }
        let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        guard known.contains("\tbtrfs") else { return "the kernel knows no Btrfs" }
        guard FileManager.default.fileExists(atPath: "/dev/loop-control") else { return "there is no loop device" }
        guard FileManager.default.isExecutableFile(atPath: "/usr/sbin/mkfs.btrfs") else { return "no btrfs-progs" }
        return nil
    }()

    /// Runs `body` on such a thread and waits for its end.
    static func run(tmpfs size: String, at folder: String, _ body: @escaping @Sendable () throws -> Void) throws {
        try run([["/usr/bin/mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "none", folder]], body)
    }

    /// A Btrfs of which the folder may have so much (a quota group), on an image and under a folder
    /// beside it.
    static func run(quota size: String, at folder: String, _ body: @escaping @Sendable () throws -> Void) throws {
        let (image, disk) = (folder + ".image", folder + ".disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let steps: [[String]] = [
            ["/usr/bin/truncate", "-s", "256M", image],
            ["/usr/sbin/mkfs.btrfs", "-q", image],
            ["/usr/bin/mount", "-o", "loop", image, disk],
            ["/usr/bin/btrfs", "quota", "enable", disk],
            ["/usr/bin/btrfs", "subvolume", "create", "\(disk)/home"],
            ["/usr/bin/btrfs", "qgroup", "limit", size, "\(disk)/home"],
            ["/usr/bin/chmod", "700", "\(disk)/home"],
            ["/usr/bin/mount", "--bind", "\(disk)/home", folder],
        ]
        try run(steps, body)
    }

    private static func run(_ steps: [[String]], _ body: @escaping @Sendable () throws -> Void) throws {
        let outcome = Mutex<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
        TestThread.start {
            do {
                try leaveMountNamespace()
                // No mount from here on reaches the others.
                for step in [["/usr/bin/mount", "--make-rprivate", "/"]] + steps {
                    let result = try Command(step[0], Array(step.dropFirst())).run()
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
