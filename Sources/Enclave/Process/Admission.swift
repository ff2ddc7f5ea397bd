internal import KeychainPlatform

/// Who may connect: one process of one user at a time, and not without limit.
struct Admission: Sendable {
    enum Verdict: Hashable, Sendable {
        case admitted
        case foreignUser
        /// From a pid namespace that we cannot see into.
        case unknownProcess
        /// Another process than the one that is being served.
        case otherProcess
        case tooMany
    }

    let userID: UInt32
    let limit: Int
    private(set) var count = 0
    private(set) var process: Int32?

    init(userID: UInt32, limit: Int) {
        self.userID = userID
        self.limit = limit
    }

    /// Counts the connection where it is admitted.
    mutating func admit(_ peer: SenderCredentials) -> Verdict {
        guard peer.uid == userID else { return .foreignUser }
        guard peer.pid > 0 else { return .unknownProcess }
        guard process == nil || process == peer.pid else { return .otherProcess }
        guard count < limit else { return .tooMany }
        process = peer.pid
        count += 1
        return .admitted
    }

    /// A connection has ended; with the last one anybody of the user may come.
    mutating func left() {
        count -= 1
        if count == 0 { process = nil }
    }
}
