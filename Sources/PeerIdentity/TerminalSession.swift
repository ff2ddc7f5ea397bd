internal import KeychainPlatform

/// The terminal session that a process belongs to: one login, one tab, one
/// connection of SSH (credentials(7), "Sessions"). A process leaves it only for a
/// new one, and nobody enters it from outside.
package struct TerminalSession: Hashable, Sendable {
    /// The session's number, which is its leader's.
    let session: Int32
    /// When the leader started: the number may be given away after it.
    let leaderStart: UInt64
    /// The controlling terminal as makedev(3) packs it.
    let terminal: UInt64
}

extension PeerProcess {
    /// The session now; nil without a controlling terminal, where its leader has
    /// ended, and where the kernel shows neither of them to us.
    package func terminalSession() -> TerminalSession? {
        do throws(PeerRefusal) {
            guard let record = record(), record.session > 0, record.terminal != 0 else { return nil }
            let isLeader = record.session == processID
            let leader = isLeader ? record : try ProcessFolder(of: record.session, in: proc).record()
            // Opened by number: alive now means that it was the peer's.
            guard handle.isAlive, leader.session == record.session, leader.terminal == record.terminal else {
                return nil
            }
            return TerminalSession(
                session: record.session, leaderStart: leader.startTime, terminal: record.terminal)
        } catch {
            // What cannot be looked at is no session that anything could be tied to.
            return nil
        }
    }
}
