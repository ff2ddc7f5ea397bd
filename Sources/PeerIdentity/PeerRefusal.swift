package import KeychainModel
package import KeychainPlatform

/// Why a connection is closed before it asked for anything. A closed list;
/// nothing here is a degree of trust, only its absence.
package enum PeerRefusal: Error, Hashable, Sendable {
    /// The peer's process has no number here: it lives in a pid namespace that
    /// we cannot look into.
    case foreignProcessNamespace
    /// It ended before it was identified.
    case gone
    /// It is another program than the one that was looked at (exec).
    case replacedItself
    /// Its user changed between connect and the look at it.
    case credentialsChanged
    /// It spoke before it was asked.
    case spokeFirst
    /// It closed the connection in place of an answer.
    case closedEarly
    /// Its answer did not come in time.
    case tooLate
    /// The answer came from another process than the one that connected.
    case foreignSender
    /// The answer did not repeat the nonce.
    case wrongNonce
    /// The answer carried no descriptor, so anything that writes to the socket
    /// could have sent it.
    case noDescriptor
    case tooManyDescriptors
    /// The answer was no message of the protocol.
    case malformed
    /// `/proc` is not the kernel's.
    case falseProc
    case system(SystemCallError)

    /// What failed and what to do about it, without anything the peer chose.
    package var explanation: String {
        switch self {
        case .foreignProcessNamespace: "it runs in a pid namespace that the daemon cannot see; run one daemon inside it"
        case .gone: "the process ended before it was identified; try again"
        case .replacedItself:
            "the process executed another program while it was connected; connect again from the new one"
        case .credentialsChanged: "the process changed its user after it connected; connect afterwards"
        case .spokeFirst: "data came before the daemon's question; the client is not one of ours"
        case .closedEarly: "the connection was closed before the hello was answered; try again"
        case .tooLate: "the hello was not answered in time; try again"
        case .foreignSender: "the hello was answered by another process than the one that connected"
        case .wrongNonce: "the hello did not repeat the daemon's nonce; the client is not one of ours"
        case .noDescriptor: "the hello carried no descriptor; the client is not one of ours"
        case .tooManyDescriptors: "the hello carried more than one descriptor; the client is not one of ours"
        case .malformed: "the hello was no message of the protocol; the client is of another version"
        case .falseProc: "/proc is not the kernel's; mount it and restart the daemon"
        case .system(let error): "\(error)"
        }
    }

    /// The reason as the client gets it.
    package var reason: Reason {
        // No descriptor to look with says nothing about the caller.
        if case .system(let error) = self, error.isOutOfDescriptors { return .busy }
        return .identityRefused(why: explanation)
    }
}

extension PeerRefusal: CustomStringConvertible {
    package var description: String { explanation }
}

/// Turns what the kernel refused into the refusal of a peer.
func refusing<T>(_ body: () throws(SystemCallError) -> T) throws(PeerRefusal) -> T {
    do throws(SystemCallError) {
        return try body()
    } catch {
        throw .system(error)
    }
}
