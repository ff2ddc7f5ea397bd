internal import Glibc

/// Why a client does not talk to what listens on a socket.
package enum ServerRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// Somebody else listens there.
    case foreignUser(uid: UInt32)
    case system(SystemCallError)

    package var description: String {
        switch self {
        case .foreignUser(let uid): "user \(uid) listens on the keychain's socket; only your own daemon may"
        case .system(let error): "\(error)"
        }
    }
}

/// Whom a client believes to be the keychain.
///
/// A client hands its secrets to whatever listens. Whoever can put a socket
/// where we look (a squatted folder in /tmp, a variable that redirects us) would
/// get them, so the kernel is asked who called listen(2) before a byte is sent.
/// Programs of the same user are not kept out by this: nothing could.
package enum ServerTrust: Sendable {
    /// A socket of the user's own daemon.
    case ownDaemon
    /// The socket in the root-owned folder ``systemDirectory``: root's, or the
    /// system user `latchkey`'s.
    case systemDaemon

    package static let systemDirectory = "/run/latchkey"
    static let systemUserName = "latchkey"

    /// Asks who listens, as SO_PEERCRED recorded it at listen(2).
    package func check(_ socket: PacketSocket) throws(ServerRefusal) {
        let listener: SenderCredentials
        do throws(SystemCallError) {
            listener = try socket.peerCredentials()
        } catch {
            throw .system(error)
        }
        guard believes(userID: listener.uid) else { throw .foreignUser(uid: listener.uid) }
    }

    func believes(userID: UInt32) -> Bool {
        switch self {
        case .ownDaemon: userID == geteuid()
        case .systemDaemon: userID == 0 || userID == UserDatabase.machine[.name(Self.systemUserName)]?.userID
        }
    }
}
