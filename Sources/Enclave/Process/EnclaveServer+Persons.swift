internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A lock that comes once the daemon has told its programs of it.
struct AnnouncedLock {
    /// Who wants it.
    enum Origin {
        case person(PersonDesk.Work, DerivedSecrets)
        /// Nobody at the moment: the person had chosen when.
        case policy
    }

    let origin: Origin
    /// The state that says so.
    let state: UInt64
    let due: Duration
}

/// An answer to a person that is sent once the daemon has let go of what was closed.
struct HeldAnswer {
    let connection: UInt64
    let number: UInt64
    /// The state that the daemon has to have heard of.
    let state: UInt64
    let due: Duration
}

extension EnclaveServer {
    // MARK: Coming and going

    /// One a turn: who has come is heard before many more come.
    func acceptPerson(at door: EnclaveDoor?) {
        guard let door else { return }
        do throws(SystemCallError) {
            guard let accepted = try door.personListener.accept() else { return }
            try welcome(accepted)
        } catch {
            // Gone already, or no descriptor for it: asked again at once it would be
            // refused at once, over and over.
            pauseListening()
        }
    }

    private func welcome(_ accepted: PacketSocket) throws(SystemCallError) {
        let peer = try accepted.peerCredentials()
        guard peer.uid == admission.userID, peer.pid > 0 else { return }
        var place = PersonAdmission(of: peer.pid, among: persons, limits)
        if place != .free {
            // Whoever has gone may still stand in the list.
            for number in persons.keys { servePerson(number) }
            place = PersonAdmission(of: peer.pid, among: persons, limits)
        }
        switch place {
        case .free: break
        case .inPlaceOf(let number): endPerson(number)
        case .full: return
        }
        try accepted.stampSenders()
        let person = try PersonConnection(accepted, peer, at: clock.monotonic)
        try epoll.add(accepted.descriptor, as: nextNumber, oneShot: false)
        persons[nextNumber] = person
        nextNumber += 1
    }

    func endPerson(_ number: UInt64) {
        guard let person = persons.removeValue(forKey: number) else { return }
        epoll.remove(person.channel.socket.descriptor)
        queue.removeAll { $0.connection == number }
        held.removeAll { $0.connection == number }
        waitingForReader.removeAll { $0.connection == number }
        endFinger(of: number)
        // Nobody else was shown the code: nobody else types it back.
        if person.hasPendingCode { forgetPendingCode() }
    }

    private func forgetPendingCode() {
        do throws(KeychainError) { try withCore { core throws(KeychainError) in core.forgetPendingCode() } } catch {
            // No keybag is open, so no code is pending.
            return
        }
    }

    // MARK: Requests

    func servePerson(_ number: UInt64) {
        guard let person = persons[number] else { return }
        do {
            guard let arrival = try person.channel.receiveNow(admits: { $0 <= WireLimit.header }) else { return }
            switch consume arrival {
            case .closed: endPerson(number)
            case .frame(let frame):
                guard frame.sender?.pid == person.peer.pid, frame.sender?.uid == person.peer.uid,
                    frame.withheld == nil, !person.isBusy, person.awaiting == nil, person.awaitedNews == nil,
                    person.finger?.request == nil,
                    let decoded = PersonMessage.decode(header: frame.header, tail: frame.tail),
                    let call = PersonCall(decoded.message)
                else { return endPerson(number) }
                person.isSilent = false
                perform(call, decoded.number, person, number)
            }
        } catch {
            endPerson(number)
        }
    }

    private func perform(_ call: PersonCall, _ request: UInt64, _ person: PersonConnection, _ number: UInt64) {
        guard let device = keeper.device else {
            switch call {
            case .change(.unlock(.recoveryCode(let code))): openKeybag(with: code, call, request, person, number)
            case .change(.acceptCopy(let code, let givingUp)):
                openKeybag(accepting: code, givingUp, call, request, person, number)
            default: send(PersonAnswer(to: request, .failure(Self.closed)), to: number)
            }
            return
        }
        switch call {
        case .state: send(PersonAnswer(to: request, device), to: number)
        case .awaitState(let known):
            if device.number == known {
                person.awaiting = request
            } else {
                send(PersonAnswer(to: request, device), to: number)
            }
        case .question(let name):
            let asked = question(name)
            person.hasQuestion = asked != nil
            send(PersonAnswer(to: request, asked), to: number)
            if let asked { beginFinger(for: asked, name, number) }
        case .awaitNews(let name, let known):
            person.awaitedNews = (request, name, known)
            tellOfQuestions()
        case .decline(let name, let reason):
            person.hasQuestion = false
            decline(name, reason)
            send(PersonAnswer(to: request, .success(.done)), to: number)
        case .unlockByFinger: waitForFinger(request, person, number)
        case .agree(let name, let credential): enqueue(.agree(name, credential), request, person, number)
        case .change(let change): enqueue(.change(change), request, person, number)
        }
    }

    /// No protector opens the root key by itself: the person's code is one.
    private func openKeybag(
        with code: SharedSecret, _ call: PersonCall, _ request: UInt64, _ person: PersonConnection, _ number: UInt64
    ) {
        do throws(KeychainError) {
            try keeper.open(for: .person(typing: code))
        } catch { return send(PersonAnswer(to: request, .failure(error)), to: number) }
        // What hangs on a slot is opened as ever.
        guard keeper.device?.hasRecoveryCode == true else {
            return send(PersonAnswer(to: request, .success(.done)), to: number)
        }
        perform(call, request, person, number)
    }

    /// The counter of a TPM does not vouch for this copy of the folder: a person does.
    private func openKeybag(
        accepting code: SharedSecret, _ givingUp: Bool, _ call: PersonCall, _ request: UInt64,
        _ person: PersonConnection, _ number: UInt64
    ) {
        let wasAccepted: Bool
        do throws(KeychainError) {
            try keeper.open(for: .accepting(typing: code, givingUp: givingUp))
            wasAccepted = try withCore { core throws(KeychainError) in core.wasAccepted }
        } catch { return send(PersonAnswer(to: request, .failure(error)), to: number) }
        // What nothing spoke against is open, and is asked as such.
        guard wasAccepted else { return perform(call, request, person, number) }
        send(PersonAnswer(to: request, .success(.done)), to: number)
    }

    private func enqueue(
        _ work: PersonDesk.Work.Request, _ request: UInt64, _ person: PersonConnection, _ number: UInt64
    ) {
        person.isBusy = true
        let work = PersonDesk.Work(connection: number, number: request, request: work)
        guard !work.needsReader || !keeper.isReaderStale else { return waitForReader(work) }
        queue.append(work)
        beginAtDesk()
    }

    func question(_ name: [UInt8]) -> PersonQuestion? {
        do throws(KeychainError) {
            return try withCore { core throws(KeychainError) in core.question(name, at: keeper.moment) }
        } catch { return nil }
    }

    private func decline(_ name: [UInt8], _ reason: Reason) {
        do throws(KeychainError) {
            try withCore { core throws(KeychainError) in core.book.decline(name, reason) }
        } catch { return }
    }

    private static let closed = KeychainError(
        .notAvailable, reason: .enclaveUnreachable, underlying: "no daemon has opened the keybag yet")

    func send(_ answer: consuming PersonAnswer, to number: UInt64) {
        guard let person = persons[number] else { return }
        person.isBusy = false
        person.lastActive = clock.monotonic
        do throws(FrameError) {
            try person.channel.send(
                MessageCoding.encode(answer.reply), answer.tail, until: Deadline(after: .zero, on: clock))
        } catch {
            endPerson(number)
        }
    }

    // MARK: At the desk

    func beginAtDesk() {
        while !desk.isBusy, announced == nil, !queue.isEmpty {
            let work = queue.removeFirst()
            do throws(KeychainError) {
                let derivation = try withCore { core throws(KeychainError) in
                    switch work.request {
                    case .change(let request): try core.derivation(for: request, at: keeper.moment)
                    case .agree(let name, let credential):
                        try core.derivation(agreeingTo: name, with: credential, at: keeper.moment)
                    }
                }
                do throws(SystemCallError) { try desk.begin(work, derivation) } catch {
                    throw KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
                }
            } catch {
                send(PersonAnswer(to: work.number, .failure(error)), to: work.connection)
            }
        }
    }

    func finishAtDesk() {
        guard let done = desk.take() else { return }
        if let sweep = done.sweep { return finish(done.work, sweep) }
        guard !isAnnouncedLock(done), !countsFirst(done), !asksDevices(done) else { return }
        finish(done)
    }

    /// An attempt is counted before it is tried, where a TPM counts.
    private func countsFirst(_ done: PersonDesk.Done) -> Bool {
        guard case .success(let derived) = done.derived, !done.areDevicesAsked else { return false }
        do throws(KeychainError) {
            let counting = try withCore { core throws(KeychainError) in try core.counting(derived) }
            guard let counting else { return false }
            do throws(SystemCallError) { try desk.begin(counting: counting, of: done, derived) } catch {
                try withCore { core throws(KeychainError) in core.forgetAttempt() }
                throw KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
            }
        } catch {
            tell(.failure(error), to: done.work, hasChanged: false)
            beginAtDesk()
        }
        return true
    }

    /// Devices are asked for nobody whose credential is not right.
    private func asksDevices(_ done: PersonDesk.Done) -> Bool {
        guard case .success(let derived) = done.derived, case .change(let request) = done.work.request
        else { return false }
        let before = keeper.stateNumber
        do throws(KeychainError) {
            let devices = try withCore { core throws(KeychainError) -> DeviceWork? in
                guard !done.areDevicesAsked else { return try core.devices(for: request, after: derived) }
                guard done.devices != nil || core.asksTPM(for: request) else { return nil }
                if request.credential != nil { try core.check(derived.credential, at: keeper.moment) }
                return try core.devices(for: request, done.devices, derived)
            }
            guard let devices else { return false }
            do throws(SystemCallError) { try desk.begin(done.work, devices, after: derived) } catch {
                throw KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
            }
        } catch {
            tell(.failure(error), to: done.work, hasChanged: before != keeper.stateNumber)
            beginAtDesk()
        }
        return true
    }

    private func finish(_ done: PersonDesk.Done) {
        let before = keeper.stateNumber
        let outcome: Result<PersonOutcome, KeychainError>
        do throws(KeychainError) {
            let derived = try done.derived.get()
            outcome = .success(
                try withCore { core throws(KeychainError) in
                    switch done.work.request {
                    case .change(let request): return try core.perform(request, with: derived, at: keeper.moment)
                    case .agree(let name, _):
                        try core.agree(to: name, with: derived, at: keeper.moment)
                        return .done
                    }
                })
        } catch { outcome = .failure(error) }
        if case (.change(.makeRecoveryCode), .success) = (done.work.request, outcome) {
            for (number, person) in persons { person.hasPendingCode = number == done.work.connection }
            if persons[done.work.connection] == nil { forgetPendingCode() }
        }
        let hasChanged = before != keeper.stateNumber
        if !destroysFirst(done, PersonDesk.Sweep(outcome: outcome, hasChanged: hasChanged)) {
            tell(outcome, to: done.work, hasChanged: hasChanged)
        }
        // Before the next: whoever keeps the desk busy keeps nothing open.
        lockWhereUnused()
        beginAtDesk()
    }

    /// What TPMs still have of secrets that went is destroyed before a person is told that
    /// it is gone; where a TPM does not answer, after the next request that brings a
    /// credential, or at the next start.
    private func destroysFirst(_ done: PersonDesk.Done, _ sweep: PersonDesk.Sweep) -> Bool {
        guard case .change(let request) = done.work.request else { return false }
        if case .failure = sweep.outcome, !done.areDevicesAsked { return false }
        do {
            let left = try withCore { core throws(KeychainError) in core.remainder(of: request, at: keeper.moment) }
            guard let left else { return false }
            try desk.begin(done.work, destroying: left, then: sweep)
        } catch { return false }
        if sweep.hasChanged { tellOfState() }
        return true
    }

    private func finish(_ work: PersonDesk.Work, _ sweep: PersonDesk.Sweep) {
        let before = keeper.stateNumber
        var left: DeviceWork?
        do throws(KeychainError) {
            left = try withCore { core throws(KeychainError) in
                core.forget(sweep.undefined)
                return sweep.counted.flatMap { core.countedChange($0) }
            }
        } catch {
            // No keybag is open any more: the next opening looks for them.
        }
        let hasChanged = sweep.hasChanged || before != keeper.stateNumber
        if let left {
            do throws(SystemCallError) {
                let next = PersonDesk.Sweep(outcome: sweep.outcome, hasChanged: hasChanged)
                return try desk.begin(work, destroying: left, then: next)
            } catch {
                // The next attempt counts it.
            }
        }
        tell(sweep.outcome, to: work, hasChanged: hasChanged)
        lockWhereUnused()
        beginAtDesk()
    }

    // MARK: A lock

    private func isAnnouncedLock(_ done: PersonDesk.Done) -> Bool {
        guard case .change(.lock) = done.work.request, case .success(let derived) = done.derived else { return false }
        return announces(.person(done.work, derived))
    }

    /// Where a daemon listens, its programs hear of a lock before it comes; what
    /// persons ask meanwhile waits.
    func announces(_ origin: AnnouncedLock.Origin) -> Bool {
        guard isDaemonListening else { return false }
        do throws(KeychainError) {
            let state = try withCore { core throws(KeychainError) in core.announceLock() }
            guard let state else { return false }
            announced = AnnouncedLock(
                origin: origin, state: state, due: clock.monotonic + limits.announcing)
        } catch { return false }
        tellOfState()
        return true
    }

    /// Whatever kept the daemon, the lock comes.
    func lockAsAnnounced() {
        guard let lock = announced else { return }
        announced = nil
        switch lock.origin {
        case .person(let work, let derived):
            finish(PersonDesk.Done(work: work, derived: .success(derived), devices: nil))
        case .policy: closeByItself()
        }
    }

    /// A success that closed or destroyed something is told once the daemon has let go
    /// of it too, if there is one that listens.
    private func tell(_ outcome: Result<PersonOutcome, KeychainError>, to work: PersonDesk.Work, hasChanged: Bool) {
        guard hasChanged else { return send(PersonAnswer(to: work.number, outcome), to: work.connection) }
        let mustLetGo = isDaemonListening
        tellOfState()
        guard mustLetGo, case .success(.done) = outcome else {
            return send(PersonAnswer(to: work.number, outcome), to: work.connection)
        }
        hold(answerTo: work.number, of: work.connection)
    }

    /// That it is done, once the daemon has heard of the state as it is now.
    func hold(answerTo request: UInt64, of connection: UInt64) {
        // Where no keybag is open any more there is nothing to let go of.
        guard let state = keeper.stateNumber else {
            return send(PersonAnswer(to: request, .success(.done)), to: connection)
        }
        held.append(
            HeldAnswer(connection: connection, number: request, state: state, due: clock.monotonic + limits.lettingGo))
    }

    func withCore<R>(_ body: (inout EnclaveCore) throws(KeychainError) -> R) throws(KeychainError) -> R {
        let result: Result<R, KeychainError>
        do throws(SessionError) {
            result = try keeper.withCore { core throws(SessionError) -> Result<R, KeychainError> in
                do throws(KeychainError) { return .success(try body(&core)) } catch { return .failure(error) }
            }
        } catch { throw Self.closed }
        return try result.get()
    }

    // MARK: The state

    /// Whether some connection of the daemon follows the state.
    var isDaemonListening: Bool { connections.values.contains { $0.followsState } }

    /// Answers whoever waits for another state.
    func tellOfState() {
        guard let device = keeper.device else { return }
        for (number, person) in persons {
            guard let request = person.awaiting else { continue }
            person.awaiting = nil
            send(PersonAnswer(to: request, device), to: number)
        }
        for (number, connection) in connections {
            guard let awaiting = connection.awaiting else { continue }
            connection.awaiting = nil
            do {
                let answer = try keeper.withCore { core throws(SessionError) in
                    EnclaveSession.description(core, to: awaiting.request, at: keeper.moment)
                }
                try connection.channel.send(
                    MessageCoding.encode(answer.reply), answer.tail, until: Deadline(after: .zero, on: clock))
            } catch { end(number) }
        }
    }

    /// The daemon waits for what follows that state: it has let go of what had closed
    /// by then, and told its programs what was announced.
    func daemonHasHeard(of state: UInt64) {
        releaseAnswers { $0.state <= state }
        if let announced, announced.state <= state { lockAsAnnounced() }
    }

    /// What waited for the daemon for too long goes on without it.
    func goOnAfterDeadlines() {
        let now = clock.monotonic
        releaseAnswers { $0.due <= now }
        if let announced, announced.due <= now { lockAsAnnounced() }
    }

    func releaseAnswers(where isMeant: (HeldAnswer) -> Bool = { _ in true }) {
        let released = held.filter(isMeant)
        held.removeAll(where: isMeant)
        for answer in released {
            send(PersonAnswer(to: answer.number, .success(.done)), to: answer.connection)
        }
    }
}
