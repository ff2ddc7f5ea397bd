internal import KeychainMessages
internal import KeychainPlatform
internal import KeychainProtocol

/// One connection of the daemon, as the loop has it.
final class EnclaveServerConnection {
    let channel: MessageChannel
    let peer: SenderCredentials
    var session = EnclaveSession()
    /// When the first complete message has to be there; nil once it was.
    var firstMessageDue: Duration?
    /// The request that waits for another state, and the state that it knows.
    var awaiting: (request: UInt64, state: UInt64)?
    /// It has asked for states: what closes is told once it has let go of it.
    var followsState = false
    /// A request, which has no tail, that waits until the reader was looked at.
    var waiting: [UInt8]?
    /// The request that waits for a block to be confirmed.
    var confirming: UInt64?

    init(_ socket: PacketSocket, _ peer: SenderCredentials, firstMessageDue: Duration) throws(SystemCallError) {
        channel = try MessageChannel(socket)
        self.peer = peer
        self.firstMessageDue = firstMessageDue
    }
}

extension EnclaveServer {
    /// Everybody who waits to be let in.
    func acceptAll(at door: EnclaveDoor?) {
        guard let door else { return }
        while true {
            let accepted: PacketSocket?
            do throws(SystemCallError) {
                accepted = try door.listener.accept()
            } catch {
                if error.isBrokenConnection || error.isAbortedConnection { continue }
                return pauseListening()
            }
            guard let accepted else { return }
            admit(accepted)
        }
    }

    private func admit(_ socket: PacketSocket) {
        do throws(SystemCallError) {
            let peer = try socket.peerCredentials()
            if admission.admit(peer) != .admitted {
                // A daemon that has just died may still stand in the list.
                endClosedConnections()
                guard admission.admit(peer) == .admitted else { return }
            }
            try watch(socket, peer)
        } catch {
            // No descriptor or no memory for this one: it ends, the others go on.
            return
        }
    }

    private func watch(_ socket: PacketSocket, _ peer: SenderCredentials) throws(SystemCallError) {
        let number = nextNumber
        do throws(SystemCallError) {
            let connection = try EnclaveServerConnection(
                socket, peer, firstMessageDue: clock.monotonic + limits.firstMessage)
            try epoll.add(socket.descriptor, as: number, oneShot: false)
            connections[number] = connection
            nextNumber += 1
        } catch {
            admission.left()
            throw error
        }
    }

    /// Ends what the other end has closed; answers what still waits there.
    private func endClosedConnections() {
        for number in connections.keys { serve(number) }
    }

    /// Answers one message of a connection, or ends it.
    func serve(_ number: UInt64) {
        guard let connection = connections[number] else { return }
        do {
            guard let arrival = try connection.channel.receiveNow(admits: { $0 <= WireLimit.header }) else { return }
            switch consume arrival {
            case .closed: end(number)
            case .frame(let frame):
                // One thing at a time.
                guard connection.waiting == nil, connection.confirming == nil else { return end(number) }
                act(on: try answer(frame, on: connection), number)
            }
        } catch {
            // Malformed, out of turn, unreadable or unread: this connection alone.
            end(number)
        }
    }

    private func act(on next: EnclaveAnswer.Next, _ number: UInt64) {
        switch next {
        case .keepConnection: return
        case .endConnection: end(number)
        case .leave: wasToldToLeave = true
        case .awaitState, .awaitReader, .awaitDisk: return
        }
    }

    private func isFrom(_ peer: SenderCredentials, _ frame: borrowing Frame) -> Bool {
        frame.sender?.pid == peer.pid && frame.sender?.uid == peer.uid
    }

    /// An answer is sent at once or not at all: who does not read, is not waited for.
    private func answer(
        _ frame: borrowing Frame, on connection: EnclaveServerConnection
    ) throws -> EnclaveAnswer.Next {
        // Somebody else who inherited the connection: not who was let in.
        guard isFrom(connection.peer, frame), frame.withheld == nil else { return .endConnection }
        return try answer(frame.header, frame.tail, on: connection)
    }

    /// What waited until the reader was looked at.
    func answerAgain(_ header: [UInt8], _ connection: EnclaveServerConnection, _ number: UInt64) {
        do {
            act(on: try answer(header, SecretBytes(count: 0), on: connection), number)
        } catch { end(number) }
    }

    private func answer(
        _ header: [UInt8], _ tail: borrowing SecretBytes, on connection: EnclaveServerConnection
    ) throws -> EnclaveAnswer.Next {
        let before = keeper.stateNumber
        let answer = try connection.session.answer(header, tail: tail, by: keeper)
        connection.firstMessageDue = nil
        if case .awaitReader = answer.next {
            waitForReader(header, connection)
            return answer.next
        }
        if case .awaitState(let state) = answer.next {
            connection.awaiting = (answer.reply.number, state)
            connection.followsState = true
            daemonHasHeard(of: state)
            return answer.next
        }
        if case .awaitDisk(let confirmation) = answer.next {
            connection.confirming = answer.reply.number
            write(confirmation)
            return answer.next
        }
        // Whoever is told that we go finds no socket any more, but starts another.
        if case .leave = answer.next { try socket.remove() }
        try connection.channel.send(
            answer.encodedHeader, answer.tail, until: Deadline(after: .zero, on: clock))
        if before != keeper.stateNumber { tellOfState() }
        if answer.describes { moveWhereGone() }
        return answer.next
    }

    func end(_ number: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        epoll.remove(connection.channel.socket.descriptor)
        admission.left()
        if connections.isEmpty { idleSince = clock.monotonic }
        guard !isDaemonListening else { return }
        releaseAnswers()
        if announced != nil { lockAsAnnounced() }
    }

    /// The system has no descriptor for another connection: look again in a second.
    func pauseListening() {
        for door in [firstDoor, spareDoor].compactMap({ $0 }) {
            epoll.remove(door.listener.descriptor)
            epoll.remove(door.personListener.descriptor)
        }
        pausedUntil = clock.monotonic + .seconds(1)
    }

    func resumeListening() throws(SystemCallError) {
        guard let due = pausedUntil, clock.monotonic >= due else { return }
        pausedUntil = nil
        try watchDoors()
    }

    // MARK: Doors

    func watchDoors() throws(SystemCallError) {
        if let firstDoor {
            try epoll.add(firstDoor.listener.descriptor, as: Watched.listener, oneShot: false)
            try epoll.add(firstDoor.personListener.descriptor, as: Watched.personListener, oneShot: false)
        }
        if let spareDoor {
            try epoll.add(spareDoor.listener.descriptor, as: Watched.spareListener, oneShot: false)
            try epoll.add(spareDoor.personListener.descriptor, as: Watched.sparePersonListener, oneShot: false)
        }
    }

    /// Where nobody finds us any more we are found in the second place, if there is one: the
    /// lock file says so from then on.
    func moveWhereGone() {
        guard !socket.isThere, let gone = firstDoor, socket.spare?.isThere == true else { return }
        do throws(KeybagError) {
            guard let door = socket.spare else { return }
            try keeper.announce(inRun: door.path)
        } catch { return }
        guard socket.moveToSpare() != nil else { return }
        epoll.remove(gone.listener.descriptor)
        epoll.remove(gone.personListener.descriptor)
        firstDoor = nil
    }
}
