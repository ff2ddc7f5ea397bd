package import KeychainPlatform

/// What newer kernels can tell about a peer and older ones cannot.
package enum KernelFeature: String, CaseIterable, Hashable, Sendable {
    /// SO_PEERPIDFD, Linux 6.5: the connector itself, not its number.
    case peerPidfd = "SO_PEERPIDFD"
    /// PIDFD_GET_INFO, Linux 6.13: ids from the pidfd.
    case pidfdInfo = "PIDFD_GET_INFO"
    /// pidfds with inodes of their own, Linux 6.9.
    case pidfs = "pidfs"

    /// Whether an identity can authenticate without it.
    ///
    /// The number in SO_PEERCRED may have been given to another process before
    /// we pinned it, so a peer without `peerPidfd` is never more than its user.
    /// The other two are conveniences: `/proc/PID/status`, read between two looks
    /// at a live pidfd, gives the same ids, and messages are matched by number
    /// and liveness, which no inode is needed for.
    package var isNeededToAuthenticate: Bool {
        switch self {
        case .peerPidfd: true
        case .pidfdInfo, .pidfs: false
        }
    }
}

/// The features that may be used. Passed in, so that a test can take each away
/// and see what is left of an identity.
package struct KernelFeatures: Hashable, Sendable {
    package let present: Set<KernelFeature>

    package init(_ present: Set<KernelFeature>) { self.present = present }

    package static let all = KernelFeatures(Set(KernelFeature.allCases))
    /// Debian 12's own kernel.
    package static let linux61 = KernelFeatures([])

    package func without(_ feature: KernelFeature) -> KernelFeatures { KernelFeatures(present.subtracting([feature])) }

    func contains(_ feature: KernelFeature) -> Bool { present.contains(feature) }

    /// What the running kernel has, tried on a pair of sockets of our own.
    package static func probed() throws(SystemCallError) -> KernelFeatures {
        let (socket, other) = try PacketSocket.pair()
        var found: Set<KernelFeature> = []
        var handle = try ProcessHandle.peer(of: socket)
        if handle != nil { found.insert(.peerPidfd) }
        if handle == nil { handle = try ProcessHandle.open(ProcessEnvironment.processID) }
        if try handle?.credentials() != nil { found.insert(.pidfdInfo) }
        if handle?.isOnPidfs == true { found.insert(.pidfs) }
        withExtendedLifetime(other) {}
        return KernelFeatures(found)
    }
}
