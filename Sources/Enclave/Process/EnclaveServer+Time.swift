internal import KeychainPlatform
internal import KeychainProtocol

extension EnclaveServer {
    /// What is left to the first thing that time alone brings; nil where a clock
    /// is moved by hand, whose moves are waited for like input.
    var timeToNextDeadline: Duration? {
        guard moved == nil else { return nil }
        var moments = connections.values.compactMap(\.firstMessageDue)
        moments += persons.values.compactMap { $0.due(limits) }
        moments += held.map(\.due)
        if let loginsPausedUntil, logins == nil, keeper.device?.lock == .unlocked { moments.append(loginsPausedUntil) }
        if let due = look?.due { moments.append(due) }
        if let announced { moments.append(announced.due) }
        if !hasSpawner, clock.monotonic < began + limits.spawnerTrial { moments.append(began + limits.spawnerTrial) }
        if let pausedUntil { moments.append(pausedUntil) }
        moments += persons.values.compactMap { $0.finger?.moment }
        if let timeToFreeReader { moments.append(clock.monotonic + timeToFreeReader) }
        if let timeToForgetKept { moments.append(clock.monotonic + timeToForgetKept) }
        if let timeToIdleLock { moments.append(clock.monotonic + timeToIdleLock) }
        if let restDue { moments.append(restDue) }
        if connections.isEmpty {
            let nextLook = clock.monotonic + limits.socketCheck
            // Where it stays, that moment is past for good: waiting for it would never wait.
            moments.append(isWantedWithoutDaemon ? nextLook : min(idleSince + limits.idle, nextLook))
        }
        return moments.min().map { max(.zero, $0 - clock.monotonic) }
    }

    /// Whoever connects and says nothing, goes, and so does a person's connection that
    /// waits for nothing and says nothing more.
    func endSilentConnections() {
        let now = clock.monotonic
        for (number, connection) in connections {
            if let due = connection.firstMessageDue, now >= due { end(number) }
        }
        for (number, person) in persons {
            if let due = person.due(limits), now >= due { endPerson(number) }
        }
    }

    /// What a person opened is not closed because no program asked for a while
    /// (decisions.md, "Life").
    private var isWantedWithoutDaemon: Bool {
        guard let device = keeper.device else { return false }
        return !persons.isEmpty || device.hasPasscode && device.lock != .beforeFirstUnlock
    }

    /// Without what starts latchkey-hardware no TPM is asked, and without latchkey-bus no
    /// finger. The next enclave has both, so this one leaves, as soon as nobody loses
    /// anything by it: what a person opened, or has locked by hand, stays as it is.
    var endingWithoutSpawner: Ending? {
        guard !hasSpawner, clock.monotonic >= began + limits.spawnerTrial, !desk.isBusy, queue.isEmpty,
            announced == nil, held.isEmpty, !isWantedWithoutDaemon
        else { return nil }
        return .spawnerGone
    }

    var endingWithoutConnections: Ending? {
        guard connections.isEmpty else { return nil }
        if keeper.isOfNoUse, persons.isEmpty { return .folderGone }
        if clock.monotonic >= idleSince + limits.idle, !isWantedWithoutDaemon { return .idle }
        moveWhereGone()
        return socket.isThere ? nil : .socketGone
    }
}
