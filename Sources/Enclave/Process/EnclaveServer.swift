internal import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol

/// The enclave's one loop: accepts the daemon's connections and answers one
/// message a turn, so that no connection keeps another waiting.
///
/// Whatever a peer sends or does not send, it ends its own connection at worst.
/// Not Sendable: made, run and dropped on one thread.
package final class EnclaveServer {
    /// How many and how long.
    package struct Limits: Sendable {
        package var connections = 64
        /// Of persons, all together and of one process.
        package var persons = 32
        package var personsOfOneProcess = 4
        /// Between an answer to a person and what they say next: longer than a question
        /// waits for its answer.
        package var personSilence: Duration = .seconds(90)
        /// How long a lock waits for the daemon to have told its programs.
        package var announcing: Duration = .seconds(3)
        /// How long the answer to a person waits for the daemon to have let go of what
        /// was closed.
        package var lettingGo: Duration = .seconds(4)
        /// From connecting to the first complete message.
        package var firstMessage: Duration = .seconds(5)
        /// Without any connection.
        package var idle: Duration = .seconds(600)
        /// How late an unused keychain may be locked after the machine slept.
        package var idleLook: Duration = .seconds(60)
        /// How long a question about the fingerprint reader waits for it to be looked at;
        /// fprintd is started within a second.
        package var readerLook: Duration = .seconds(2)
        /// How long a finger that opens the keychain is waited for.
        package var fingerWait: Duration = PersonProtocol.fingerWait
        /// Between attempts to hear logind.
        package var loginsPause: Duration = .seconds(60)
        /// How long it has run at least when it leaves because what starts its programs has
        /// ended: one that never lives does not end it over and over.
        package var spawnerTrial: Duration = .seconds(60)
        /// How often an enclave without connections looks for its socket.
        package var socketCheck: Duration = .seconds(2)

        package init() {}
    }

    /// Why the loop ended.
    package enum Ending: Hashable, Sendable {
        case idle
        case toldToLeave
        /// Somebody removed the socket: nobody can come any more.
        case socketGone
        /// Its own folder was moved or removed before anything in it was opened.
        case folderGone
        /// What starts its programs has ended, and it has nothing that the next one has not.
        case spawnerGone
        case stopped
    }

    var socket: EnclaveSocket
    /// As they were at the start; nil: it has gone, or there was none.
    var firstDoor: EnclaveDoor?
    let spareDoor: EnclaveDoor?
    let keeper: EnclaveKeeper
    let clock: any KeychainClock
    let limits: Limits
    let epoll: Epoll
    var admission: Admission
    var connections: [UInt64: EnclaveServerConnection] = [:]
    var persons: [UInt64: PersonConnection] = [:]
    private let rest: ServerRest
    /// When there may have been no call for long enough to rest.
    private(set) var restDue: Duration?
    let desk: PersonDesk
    let bus: BusDesk
    var look: ReaderLook?
    var finger: FingerTurn?
    /// Questions that a finger may answer once the reader is free, in order.
    var fingersToCome: [WaitingFinger] = []
    var logins: LoginTurn?
    /// Nobody is asked for logind before that.
    var loginsPausedUntil: Duration?
    /// And then for how long, where it is not there again.
    var loginsRetry: Duration
    /// The machine waits to sleep until the keychain has locked.
    var sleepsAfterLock = false
    /// What persons asked while the desk was busy, in order.
    var queue: [PersonDesk.Work] = []
    /// What comes to that once the reader was looked at.
    var waitingForReader: [PersonDesk.Work] = []
    /// A lock that the daemon has been told of.
    var announced: AnnouncedLock?
    /// Answers that wait until the daemon has let go of what was closed.
    var held: [HeldAnswer] = []
    /// Where the audit record ends, which is being written.
    var confirming: AuditConfirmation?
    /// Writes one, on a thread beside the loop.
    let writeHead: @Sendable (AuditConfirmation) -> Void
    var nextNumber = Watched.firstConnection
    /// What a hand-moved clock moves next; nil where time passes by itself.
    private(set) var moved: Descriptor?
    private let stop: EventSignal
    /// Readable once nothing starts programs for it any more.
    private let spawnerEnd: Descriptor?
    var hasSpawner = true
    let began: Duration
    var wasToldToLeave = false
    /// Since when there has been no connection.
    var idleSince: Duration
    /// Until when no connection is accepted, because the system has no descriptor for it.
    var pausedUntil: Duration?

    /// What an event is about, by its number in epoll.
    enum Watched {
        static let listener: UInt64 = 0
        static let clock: UInt64 = 1
        static let stop: UInt64 = 2
        static let personListener: UInt64 = 3
        static let desk: UInt64 = 4
        static let bus: UInt64 = 5
        static let disk: UInt64 = 6
        static let spawner: UInt64 = 7
        static let spareListener: UInt64 = 8
        static let sparePersonListener: UInt64 = 9
        static let firstConnection: UInt64 = 16
    }

    /// - Parameters:
    ///   - userID: whose processes are served.
    ///   - bus: the system bus; `keeper` has the reader's view.
    ///   - writeHead: performs a confirmation; tests have another disk.
    ///   - startThread: for what is slow about a person's request.
    ///   - spawnerEnd: readable once nothing starts its programs any more.
    ///   - rest: when it lets go of what it can do without.
    ///   - stop: ends the loop when signalled.
    init(
        _ socket: EnclaveSocket, _ keeper: EnclaveKeeper, bus: any SystemBusDoor = NoSystemBus(),
        spawnerEnd: Descriptor? = nil, userID: UInt32, clock: any KeychainClock, limits: Limits,
        writeHead: @escaping @Sendable (AuditConfirmation) -> Void = { $0.perform() },
        startThread: @escaping PersonDesk.Start = { body throws(SystemCallError) in try BackgroundThread.start(body) },
        rest: ServerRest = ServerRest(), stop: EventSignal
    ) throws(SystemCallError) {
        self.writeHead = writeHead
        self.rest = rest
        self.spawnerEnd = spawnerEnd
        began = clock.monotonic
        self.socket = socket
        firstDoor = socket.door
        spareDoor = socket.spare
        self.keeper = keeper
        self.clock = clock
        self.limits = limits
        loginsRetry = limits.loginsPause
        self.stop = stop
        epoll = try Epoll()
        desk = try PersonDesk(startThread: startThread)
        self.bus = try BusDesk(bus, clock: clock)
        admission = Admission(userID: userID, limit: limits.connections)
        idleSince = clock.monotonic
        try epoll.add(stop.descriptor, as: Watched.stop, oneShot: false)
        try epoll.add(desk.signal.descriptor, as: Watched.desk, oneShot: false)
        try epoll.add(self.bus.signal.descriptor, as: Watched.bus, oneShot: false)
        if let spawnerEnd { try epoll.add(spawnerEnd, as: Watched.spawner, oneShot: false) }
        try watchClock()
        try watchDoors()
    }

    /// Serves until nobody needs it any more; nothing is being written when this returns.
    package func run() throws(SystemCallError) -> Ending {
        defer { finishConfirming() }
        while true {
            try resumeListening()
            endSilentConnections()
            goOnAfterDeadlines()
            lockWhereUnused()
            makeDoWithReader()
            endFingerWhereAnswered()
            forgetKeptWhereDue()
            goOnWithFingerWaits()
            followLoginsWhereWanted()
            letSleepOnceLocked()
            if let ending = endingWithoutConnections ?? endingWithoutSpawner { return ending }
            restDue = rest.rest(at: clock.monotonic)
            guard let number = try epoll.wait(atMost: timeToNextDeadline) else { continue }
            // It may have slept in between: what comes now is too late to be a use.
            lockWhereUnused()
            switch number {
            case Watched.listener: acceptAll(at: firstDoor)
            case Watched.spareListener: acceptAll(at: spareDoor)
            case Watched.clock: try watchClock()
            case Watched.stop: return .stopped
            case Watched.personListener: acceptPerson(at: firstDoor)
            case Watched.sparePersonListener: acceptPerson(at: spareDoor)
            case Watched.desk: finishAtDesk()
            case Watched.bus: hearBus()
            case Watched.disk: finishConfirming()
            case Watched.spawner: loseSpawner()
            default:
                _ = rest.noteCall()
                persons[number] == nil ? serve(number) : servePerson(number)
            }
            if wasToldToLeave { return .toldToLeave }
        }
    }

    private func loseSpawner() {
        hasSpawner = false
        if let spawnerEnd { epoll.remove(spawnerEnd) }
    }

    /// Takes a new descriptor from a hand-moved clock for the next move.
    private func watchClock() throws(SystemCallError) {
        if let moved { epoll.remove(moved) }
        moved = clock.moved
        if let moved { try epoll.add(moved, as: Watched.clock, oneShot: false) }
    }
}
