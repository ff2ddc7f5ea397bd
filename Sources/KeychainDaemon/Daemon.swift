package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
package import KeychainService
package import Logging
internal import PeerIdentity
internal import Synchronization

/// The daemon: one epoll over the listener and all idle connections; a readable
/// one is lent to one of a bounded number of workers for one request
/// (architecture section 2, "Work").
package final class Daemon: Sendable {
    private enum Number {
        static let listener: UInt64 = 1
        static let stop: UInt64 = 2
    }

    private let configuration: DaemonConfiguration
    private let engine: KeychainEngine
    private let logger: Logger
    private let greeter: Greeter
    private let server: RequestServer
    private let table: ConnectionTable
    private let requests: WorkShares
    private let hellos: WorkShares
    private let reports: ProgressReports
    private let observers: Observers
    private let deviceObservers: DeviceObservers
    private let device: DeviceWatch
    private let desk: PromptDesk
    private let audit: AuditBook
    private let epoll: Epoll
    private let doorway: Mutex<Doorway>
    /// Of the data folder, for the store's lock.
    private let watch: RemovalWatch
    private let stopped: EventSignal
    /// Tells the housekeeper that there is a new deadline.
    private let attention: EventSignal
    /// A descriptor kept for the moment when there is no other.
    private let spare: Mutex<EventSignal?>
    private let isStopping = Atomic(false)
    /// No descriptor was left, not even to turn somebody away.
    private let isDeaf = Atomic(false)
    private let bytesInFlight = Atomic(0)
    /// Workers that have a connection on loan.
    private let busyWorkers = Atomic(0)
    private let lastDeparture: Mutex<Duration>

    /// Listens; nobody is served before ``run()``.
    ///
    /// - Throws: `errSecNotAvailable`, with what is wrong with the run directory.
    package init(
        _ configuration: DaemonConfiguration, engine: KeychainEngine, logger: Logger
    ) throws(KeychainError) {
        self.configuration = configuration
        self.engine = engine
        self.logger = logger
        reports = ProgressReports(configuration)
        audit = try AuditBook(
            engine, isKept: !configuration.insecureWithoutRecord, clock: configuration.clock, logger)
        server = RequestServer(engine, configuration, reports, audit)
        requests = WorkShares(configuration.limits.requestsOfOneProcess, of: configuration.limits.workers)
        hellos = WorkShares(configuration.limits.requestsOfOneProcess, of: configuration.limits.workers)
        table = ConnectionTable(configuration.limits)
        let board = DeviceBoard(clock: configuration.clock)
        deviceObservers = DeviceObservers(board, server)
        lastDeparture = Mutex(configuration.clock.monotonic)
        do throws(PeerRefusal) { greeter = try Greeter(configuration, audit) } catch {
            throw KeychainError(.notAvailable, reason: error.reason)
        }
        do throws(SystemCallError) {
            epoll = try Epoll()
            stopped = try EventSignal()
            attention = try EventSignal()
            watch = try RemovalWatch(configuration.locations.dataDirectory, writes: true)
            observers = try Observers(engine, server, until: stopped)
            desk = try PromptDesk(engine, server, asker: configuration.asker, until: stopped)
            let (rest, attention) = (configuration.rest, attention)
            rest.alsoLetGo { [weak engine] moment in
                engine?.letGoOfPages(ofReaders: moment == .resting) { ProgramMemory.letGoOfFreePages() }
            }
            device = try DeviceWatch(engine, board, audit, clock: configuration.clock, logger, until: stopped) {
                // What it had mapped is let go of as behind a call.
                if rest.noteCall() { attention.signal() }
            }
            spare = Mutex(try EventSignal())
            try epoll.add(stopped.descriptor, as: Number.stop, oneShot: false)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        let first = try Doorway.first(configuration)
        doorway = Mutex(first)
        try openDoor(first)
    }

    private func openDoor(_ door: Doorway) throws(KeychainError) {
        do throws(SystemCallError) {
            try epoll.add(door.listener.descriptor, as: Number.listener, oneShot: true)
            try engine.lock.write(
                Rendezvous(processID: ProcessEnvironment.processID, runDirectory: door.directory.path).encoded)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    // MARK: Running

    /// Serves until ``stop()``, a termination signal handed to it, the end of
    /// its parent (temporary keychains) or ten idle minutes. Blocks.
    package func run(until terminated: EventSignal) {
        logger.info("serving", metadata: ["features-missing": "\(missingFeatures)"])
        let workers = (0..<configuration.limits.workers).map { _ in WorkerThread { [self] in work() } }
        audit.start()
        // Before the first call: what is locked from then on is let go of.
        device.start()
        for worker in workers { worker.start() }
        keepHouse(until: terminated)
        isStopping.store(true, ordering: .releasing)
        stopped.signal()
        // First: whoever waits for a person hears it while they still listen.
        desk.stopAsking()
        for worker in workers { worker.waitUntilDone() }
        observers.waitUntilDone()
        deviceObservers.forgetAll()
        device.waitUntilDone()
        desk.waitUntilDone()
        audit.waitUntilDone()
        doorway.withLock { $0.close() }
        for connection in table.all {
            dismiss(connection)
            // An enclave that stays would keep what was agreed to, and a password.
            server.forget(connection)
        }
        logger.info("leaving")
    }

    /// Nobody is left to serve it: whoever has sent a request that nobody took, and would not
    /// know what became of it, hears that nothing was done, and asks the next daemon.
    private func dismiss(_ connection: ClientConnection) {
        connection.channel.socket.shutDownReceiving()
        guard case .serving = connection.stage, let number = connection.takeUnserved() else { return }
        do throws(Ending) { try server.dismiss(number, connection) } catch {
            // It does not read: it hears of our end alone.
            logger.debug("not dismissed", metadata: ["peer": "\(connection.logName)", "cause": "\(error.name)"])
        }
    }

    package func stop() { stopped.signal() }

    package var connectionCount: Int { table.count }
    /// Whether the enclave holds open what a person opened.
    var leavesEnclave: Bool { device.mustStay }
    /// Connections that wait for changes.
    package var observerCount: Int { observers.count }
    /// Calls that wait for a person.
    package var promptCount: Int { desk.count }
    /// Connections that follow the state of the keychain.
    package var deviceObserverCount: Int { deviceObservers.count }

    private var missingFeatures: String {
        KernelFeature.allCases.filter { !configuration.features.present.contains($0) }.map(\.rawValue)
            .joined(separator: ",")
    }

    private func work() {
        // One write wakes one waiter: each that leaves wakes the next.
        defer { stopped.signal() }
        while !isStopping.load(ordering: .acquiring) {
            do throws(SystemCallError) {
                switch try epoll.wait(atMost: nil) {
                case Number.listener: acceptOne()
                case Number.stop: return
                case let number?: serve(number)
                case nil: continue
                }
            } catch {
                logger.error("epoll failed", metadata: ["cause": "\(error)"])
                return
            }
        }
    }

    // MARK: Connections

    private func acceptOne() {
        let listener = doorway.withLock { $0.listener }
        do throws(SystemCallError) {
            let socket = try listener.accept()
            awaitNext(of: listener)
            if let socket { greet(socket) }
        } catch {
            // The peer has gone, or no descriptor is left: then the next in the
            // queue is turned away with the one kept for that, so that the
            // listener does not stay readable for ever.
            logger.warning("accept failed", metadata: ["cause": "\(error)"])
            if !error.isOutOfDescriptors || turnAway(listener) { awaitNext(of: listener) }
        }
    }

    /// The listener wakes one worker, which accepts one connection: else each that is woken
    /// wakes another, as long as that connection is there.
    private func awaitNext(of listener: PacketSocket) {
        do throws(SystemCallError) { try epoll.rearm(listener.descriptor, as: Number.listener) } catch {
            // Another door was opened meanwhile.
            logger.debug("not listened to any more", metadata: ["cause": "\(error)"])
        }
    }

    /// - Returns: false where nobody listens until there is a descriptor again.
    private func turnAway(_ listener: PacketSocket) -> Bool {
        let isSpared = spare.withLock { spare -> Bool in
            spare = nil
            do throws(SystemCallError) {
                if let socket = try listener.accept() { greeter.refuse(socket, GreetingFailure.busy.keychainError) }
                spare = try EventSignal()
            } catch { return false }
            return true
        }
        guard !isSpared else { return true }
        // Not even one: the housekeeper listens again once there is, instead of all
        // workers being woken without end.
        epoll.remove(listener.descriptor)
        isDeaf.store(true, ordering: .releasing)
        attention.signal()
        return false
    }

    private func listenAgain() {
        guard isDeaf.load(ordering: .acquiring) else { return }
        do throws(SystemCallError) {
            let fresh = try EventSignal()
            spare.withLock { $0 = fresh }
            let listener = doorway.withLock { $0.listener }
            try epoll.add(listener.descriptor, as: Number.listener, oneShot: true)
            isDeaf.store(false, ordering: .releasing)
        } catch {
            // It listens: another door was opened meanwhile.
            if error.isAlreadyThere { isDeaf.store(false, ordering: .releasing) }
        }
    }

    private func greet(_ socket: PacketSocket) {
        do throws(GreetingFailure) {
            let connection = try greeter.challenge(socket) { table.reserve(for: $0) }
            if table.insert(connection), reports.watch() { attention.signal() }
            try watch(connection)
        } catch {
            switch error {
            case .left: return
            case .unsent(_, let process):
                table.release(process)
                if socket.hasEndedInSilence { return }
            case .refused, .foreignUser, .busy: break
            }
            logger.notice("connection refused", metadata: ["cause": "\(error.keychainError.reason.explanation)"])
            audit.refused(nil, error.keychainError)
            greeter.refuse(socket, error.keychainError)
        }
    }

    private func watch(_ connection: ClientConnection) throws(GreetingFailure) {
        do throws(SystemCallError) {
            try epoll.add(connection.descriptor, as: connection.number, oneShot: true)
        } catch {
            table.remove(connection.number)
            throw .busy
        }
    }

    /// Serves what is there on one connection, then gives it back to the epoll;
    /// one whose process has its share of workers already waits first. Hellos have a share
    /// of their own: they are short, and who waits behind slow requests hears no word until then.
    private func serve(_ number: UInt64) {
        guard let connection = table[number] else { return }
        // Whoever met it has been told; what comes behind is for the next daemon, and stays unread.
        guard !engine.isSpent else { return stop() }
        busyWorkers.add(1, ordering: .relaxed)
        defer { busyWorkers.subtract(1, ordering: .relaxed) }
        let process = connection.peer.processID
        let shares = connection.isGreeting ? hellos : requests
        guard shares.begin(process, number, idle: idleWorkers) else { return }
        // Others may have left since they waited: whoever begins brings the next along.
        lookAtNext(idle: idleWorkers - 1)
        defer {
            shares.end(process)
            lookAtNext(idle: idleWorkers)
        }
        do throws(Ending) {
            var next = try serveOne(connection)
            while case .nextRequest = next, comesSoon(on: connection) { next = try serveOne(connection) }
            switch next {
            case .nextRequest: try rearm(connection)
            case .observing(let observer): try observe(observer)
            case .observingDevice(let observer): try observe(observer)
            case .asking(let call): try ask(call)
            }
        } catch {
            end(connection, error)
        }
    }

    private var idleWorkers: Int { configuration.limits.workers - busyWorkers.load(ordering: .relaxed) }

    /// Whether the next request is there at once, as where a program makes one after the
    /// other; only one worker looks for that, and only while nobody needs it.
    private func comesSoon(on connection: ClientConnection) -> Bool {
        configuration.clock.moved == nil && busyWorkers.load(ordering: .relaxed) == 1 && !somebodyWaits
            && !isStopping.load(ordering: .acquiring) && !engine.isSpent
            && connection.lingering.isReadable(connection.channel.socket)
    }

    private func rearm(_ connection: ClientConnection) throws(Ending) {
        do throws(SystemCallError) { try epoll.rearm(connection.descriptor, as: connection.number) } catch {
            throw .closed
        }
    }

    /// A connection that somebody else had, while it waited for a person or a change.
    private func takeBack(_ connection: ClientConnection, _ ending: Ending?) {
        // A malformed database is set aside by the next opening, one without its log opened
        // anew: we leave.
        defer { if engine.isSpent { stop() } }
        do throws(Ending) {
            if let ending { throw ending }
            try rearm(connection)
        } catch {
            end(connection, error)
        }
    }

    /// Watched for its end alone while a person is asked.
    private func ask(_ call: PromptedCall) throws(Ending) {
        do throws(SystemCallError) {
            try epoll.rearmForEnd(call.connection.descriptor, as: call.connection.number)
        } catch {
            throw .closed
        }
        desk.add(call) { [self] connection, ending in takeBack(connection, ending) }
        // Its end may have been seen between the two.
        if table[call.connection.number] == nil { desk.forget(call.connection) }
    }

    /// Watched for its end alone before the observers have it: they may answer, and
    /// give it back, at once.
    private func observe(_ observer: Observer) throws(Ending) {
        do throws(SystemCallError) {
            try epoll.rearmForEnd(observer.connection.descriptor, as: observer.connection.number)
        } catch {
            throw .closed
        }
        observers.add(observer) { [self] connection, ending in takeBack(connection, ending) }
        // Its end may have been seen between the two.
        if table[observer.connection.number] == nil { observers.forget(observer.connection) }
    }

    /// Likewise, while nothing changes about the lock.
    private func observe(_ observer: DeviceObserver) throws(Ending) {
        do throws(SystemCallError) {
            try epoll.rearmForEnd(observer.connection.descriptor, as: observer.connection.number)
        } catch {
            throw .closed
        }
        deviceObservers.add(observer) { [self] connection, ending in takeBack(connection, ending) }
        if table[observer.connection.number] == nil { deviceObservers.forget(observer.connection) }
    }

    /// Whether a connection waits for its process's share.
    private var somebodyWaits: Bool { requests.hasWaiting || hellos.hasWaiting }

    /// - Parameter idle: workers that have nothing to do once one has taken who is named.
    private func lookAtNext(idle: Int) {
        for shares in [hellos, requests] where shares.hasWaiting {
            for number in shares.next(idle: max(0, idle), isOpen: { table[$0] != nil }) {
                guard let next = table[number] else { continue }
                do throws(SystemCallError) { try epoll.rearm(next.descriptor, as: number) } catch { end(next, .closed) }
            }
        }
    }

    private func serveOne(_ connection: ClientConnection) throws(Ending) -> RequestServer.Next {
        if configuration.rest.noteCall() { attention.signal() }
        var admitted = 0
        defer { bytesInFlight.subtract(admitted, ordering: .relaxed) }
        let arrival: MessageChannel.Arrival?
        do throws(FrameError) {
            arrival = try connection.channel.receiveNow { size in
                let isAdmitted = admits(size, on: connection)
                if isAdmitted { admitted = size }
                return isAdmitted
            }
        } catch {
            throw .malformed
        }
        guard let arrival else { return .nextRequest }
        switch consume arrival {
        case .closed: throw .closed
        case .frame(let frame): return try take(frame, connection)
        }
    }

    /// Counts the bytes of a large message before memory is taken for it. A hello
    /// never is one.
    private func admits(_ size: Int, on connection: ClientConnection) -> Bool {
        guard case .serving = connection.stage else { return false }
        let before = bytesInFlight.add(size, ordering: .relaxed).oldValue
        let isTooMuch = before > 0 && before + size > configuration.limits.bytesInFlight
        if isTooMuch { bytesInFlight.subtract(size, ordering: .relaxed) }
        return !isTooMuch
    }

    private func take(
        _ frame: consuming Frame, _ connection: ClientConnection
    ) throws(Ending) -> RequestServer.Next {
        switch connection.stage {
        case .greeting(let exchange):
            do throws(PeerRefusal) {
                try greeter.judge(frame, of: connection, exchange)
                table.finishGreeting(connection.number)
            } catch {
                logger.notice(
                    "hello refused", metadata: ["peer": "\(connection.logName)", "cause": "\(error.explanation)"])
                audit.refused(connection, KeychainError(.notAvailable, reason: error.reason))
                greeter.refuse(
                    connection.channel, KeychainError(.notAvailable, reason: error.reason),
                    Deadline(after: .zero, on: configuration.clock))
                throw .notThePeer
            }
            return .nextRequest
        case .serving(let known):
            let rights =
                isDecidedAnew ? Authorization(greeter.rights(of: connection), recordedAs: known.party) : known
            // A malformed database is set aside by the next opening, one without its log opened
            // anew: we leave.
            defer { if engine.isSpent { stop() } }
            return try server.serve(frame, of: connection, rights) { attention.signal() }
        }
    }

    private var isDecidedAnew: Bool {
        if case .decided = configuration.rights { true } else { false }
    }

    private func end(_ connection: ClientConnection, _ ending: Ending) {
        epoll.remove(connection.descriptor)
        observers.forget(connection)
        deviceObservers.forget(connection)
        desk.forget(connection)
        server.forget(connection)
        // Before it is gone: who sees nobody connected sees when that began as well.
        lastDeparture.withLock { $0 = configuration.clock.monotonic }
        table.remove(connection.number)
        lookAtNext(idle: idleWorkers - 1)
        switch ending {
        case .closed: break
        case .malformed, .notThePeer, .programChanged, .unreachable:
            if let refusal = ending.refusal { audit.refused(connection, refusal) }
            logger.notice("connection ended", metadata: ["peer": "\(connection.logName)", "cause": "\(ending.name)"])
        }
    }

    // MARK: Housekeeping

    /// Watches what no message announces: deadlines of greetings, requests that
    /// take long, the idle time,
    /// the starter of a temporary keychain, the removal of the socket and of the lock.
    private func keepHouse(until terminated: EventSignal) {
        var unlockedSince: Duration?
        while !isStopping.load(ordering: .acquiring) {
            // One reading for what is due and for when to look again: a clock that
            // is moved in between ends the wait.
            let now = configuration.clock.monotonic
            closeOverdue(at: now)
            if isIdleTooLong(at: now) { return }
            let rest = configuration.rest.rest(at: now)
            let report = reports.send(at: now, among: mayKeepWaiting ? table.greeted : nil)
            listenAgain()
            var door = doorway.withLock { $0 }
            // Who looks for the store that lies there now does not want ours (a mount that was taken
            // away or put over it); whoever is connected still does.
            let isSupplanted = engine.isSupplanted
            if isSupplanted, table.count == 0 { return }
            if door.isGone, !isSupplanted {
                // Made anew it would stand in the way of a store that is yet to be made there.
                if configuration.locations.runsInData, engine.isAway {
                    if table.count == 0 { return }
                } else {
                    reopenDoor()
                    // What goes from here on is told by the new one's watch.
                    door = doorway.withLock { $0 }
                }
            }
            // Not at once: whoever removes the whole folder would find it there again.
            if engine.hasLock {
                unlockedSince = nil
            } else if let since = unlockedSince, now - since >= .seconds(1) {
                engine.putLockBack()
                // Another process may have it: a try closes the file, which wakes us.
                unlockedSince = now
            } else {
                unlockedSince = unlockedSince ?? now
            }
            let events =
                [terminated.descriptor, stopped.descriptor, door.watch.descriptor, watch.descriptor]
                + [attention.descriptor] + [configuration.parent, configuration.spawner?.end].compactMap { $0 }
            do throws(SystemCallError) {
                switch try waitForAny(of: events, until: nextDeadline(now, rest, report, hasLock: unlockedSince == nil))
                {
                case 0, 1: return
                case 2: door.watch.drain()
                case 3: watch.drain()
                case 4: attention.drain()
                // The parent is gone, or what starts our programs: the next daemon has one.
                case 5 where events.count > 5, 6 where events.count > 6: return
                default: continue
                }
            } catch {
                logger.error("waiting failed", metadata: ["cause": "\(error)"])
                return
            }
        }
    }

    /// - Parameters:
    ///   - rest: when there may have been no call for long enough to rest.
    ///   - report: when the next word about a request at work is due.
    ///   - hasLock: whether others find the store's lock.
    private func nextDeadline(_ now: Duration, _ rest: Duration?, _ report: Deadline?, hasLock: Bool) -> Deadline {
        let idleSince = table.count == 0 ? lastDeparture.withLock { $0 } : now
        let next = isDeaf.load(ordering: .acquiring) ? now : idleSince + configuration.limits.idleLife
        // One that has gone by now was watched too late.
        let isTold = hasLock && watch.isTelling && doorway.withLock { $0.watch.isTelling && !$0.isGone }
        let look = isTold ? max(next, now + .seconds(1)) : now + .seconds(1)
        let ordinary = Deadline(at: rest.map { min($0, look) } ?? look, on: configuration.clock)
        return [table.overdue(at: now).next, report].compactMap { $0 }
            .reduce(ordinary) { $1.moment < $0.moment ? $1 : $0 }
    }

    private func closeOverdue(at now: Duration) {
        for number in table.overdue(at: now).numbers {
            guard let connection = table[number] else { continue }
            // A worker may have it on loan this moment; it ends with the worker's
            // next look at the socket.
            connection.channel.socket.shutDown()
            end(connection, .unreachable(.timedOut))
        }
    }

    /// Whether so many workers are taken that a request may wait for one.
    private var mayKeepWaiting: Bool {
        let limits = configuration.limits
        return somebodyWaits
            || busyWorkers.load(ordering: .relaxed) >= min(limits.requestsOfOneProcess, limits.workers)
    }

    private func isIdleTooLong(at now: Duration) -> Bool {
        guard !configuration.isTemporary, table.count == 0 else { return false }
        let since = lastDeparture.withLock { $0 }
        return now - since >= configuration.limits.idleLife && !device.mustStay && !engine.isLastPlace
    }

    /// The socket or its folder was removed: make them anew, so that clients
    /// that start now meet this daemon and not a second one.
    private func reopenDoor() {
        do throws(KeychainError) {
            let fresh = try Doorway.again(configuration.locations)
            doorway.withLock { door in
                epoll.remove(door.listener.descriptor)
                door = fresh
            }
            try openDoor(fresh)
            // It listens: nothing to be put back into the epoll.
            isDeaf.store(false, ordering: .releasing)
            logger.notice("the socket was removed and is made anew")
            lookAfterEnclave()
        } catch {
            logger.error("the socket cannot be made anew", metadata: ["cause": "\(error)"])
        }
    }
}

extension Daemon {
    /// The folder that went may have been the enclave's as well: asked how it is, it looks
    /// whether a person still finds it.
    private func lookAfterEnclave() {
        do throws(KeychainError) { _ = try engine.deviceState() } catch {
            logger.warning("the enclave does not say how it is", metadata: ["cause": "\(error)"])
        }
    }
}

extension Ending {
    /// What the audit record says of it; nil: nobody posed as anybody.
    fileprivate var refusal: KeychainError? {
        switch self {
        case .notThePeer: KeychainError(.notAvailable, reason: .identityRefused(why: "another process spoke"))
        case .programChanged: KeychainError(.notAvailable, reason: .identityRefused(why: "the program has changed"))
        case .closed, .malformed, .unreachable: nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .closed: "closed"
        case .malformed: "malformed message"
        case .notThePeer: "message of another process"
        case .programChanged: "the program has changed"
        case .unreachable(let error): "unreachable: \(error)"
        }
    }
}
