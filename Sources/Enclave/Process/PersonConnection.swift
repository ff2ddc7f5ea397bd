internal import KeychainPlatform
internal import KeychainProtocol

/// One connection of a person, as the loop has it.
final class PersonConnection {
    let channel: MessageChannel
    let peer: SenderCredentials
    /// When it came, or was answered last.
    var lastActive: Duration
    /// Nothing has come from it yet.
    var isSilent = true
    /// The request that waits for another state.
    var awaiting: UInt64?
    /// The request that waits for news of a question, and what is known of it.
    var awaitedNews: (request: UInt64, question: [UInt8], known: UInt64)?
    /// It waits for a finger that opens the keychain.
    var finger: FingerWait?
    /// One thing at a time: what comes meanwhile ends the connection.
    var isBusy = false
    /// It named a question that waits for an answer, as our prompt does.
    var hasQuestion = false
    /// It was shown a recovery code that it has not typed back yet.
    var hasPendingCode = false

    init(_ socket: PacketSocket, _ peer: SenderCredentials, at now: Duration) throws(SystemCallError) {
        channel = try MessageChannel(socket)
        self.peer = peer
        lastActive = now
    }

    /// When it has to be heard of; nil where that is not its turn.
    func due(_ limits: EnclaveServer.Limits) -> Duration? {
        if isSilent { return lastActive + limits.firstMessage }
        return awaiting == nil && awaitedNews == nil && finger?.request == nil && !isBusy && !hasPendingCode
            ? lastActive + limits.personSilence : nil
    }

    /// Which gives its place up first where there are too many: the lower; nil: never.
    fileprivate var worth: Int? {
        if isBusy { return nil }
        if hasPendingCode { return 3 }
        if hasQuestion || awaitedNews != nil || finger != nil { return 2 }
        return awaiting == nil ? 1 : 0
    }
}

/// Who comes, and whose place is taken for that.
enum PersonAdmission: Equatable {
    case free
    /// That connection ends.
    case inPlaceOf(UInt64)
    /// Nobody's place is free, or the program's own are all at work.
    case full

    /// A program has a share of its own, and makes room within it. Beyond that the
    /// program with most connections makes room, and of those that have equally many
    /// whoever has waited longest for nothing: so one that holds connections keeps no
    /// person out, however many processes it has.
    init(of process: Int32, among persons: [UInt64: PersonConnection], _ limits: EnclaveServer.Limits) {
        let own = persons.filter { $0.value.peer.pid == process }
        if own.count >= limits.personsOfOneProcess {
            self = Self.leaving(own)
        } else if persons.count >= limits.persons {
            let shares = Dictionary(grouping: persons.values) { $0.peer.pid }.mapValues(\.count)
            let most = persons.filter { $0.value.mayLeave }.compactMap { shares[$0.value.peer.pid] }.max()
            self = Self.leaving(persons.filter { shares[$0.value.peer.pid] == most })
        } else {
            self = .free
        }
    }

    private static func leaving(_ candidates: [UInt64: PersonConnection]) -> PersonAdmission {
        // Of those that were active at the same moment the one that came first.
        let first = candidates.filter { $0.value.mayLeave }.min { one, other in
            let (mine, theirs) = (one.value, other.value)
            return (mine.worth ?? .max, mine.lastActive, one.key) < (theirs.worth ?? .max, theirs.lastActive, other.key)
        }
        return first.map { .inPlaceOf($0.key) } ?? .full
    }
}

extension PersonConnection {
    fileprivate var mayLeave: Bool { worth != nil }
}
