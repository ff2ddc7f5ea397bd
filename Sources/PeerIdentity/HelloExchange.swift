package import KeychainPlatform

/// Who can say whether a message is the peer's and the peer still itself.
package protocol PeerWitness: Sendable {
    func accepts(_ sender: SenderCredentials?) -> Bool
    func isStillTheSameProgram() -> Bool
}

extension PeerProcess: PeerWitness {}

/// The peer's answer to the nonce, as the wire brought it.
package struct HelloAnswer: Sendable {
    /// What the client says of itself; nothing here reads it.
    package let header: [UInt8]
    package let tail: [UInt8]
    package let descriptor: Descriptor?
    package let sender: SenderCredentials?

    package init(header: [UInt8], tail: [UInt8], descriptor: Descriptor?, sender: SenderCredentials?) {
        self.header = header
        self.tail = tail
        self.descriptor = descriptor
        self.sender = sender
    }
}

/// The first exchange on a connection, as a state machine that does nothing
/// itself: a nonce goes out after the peer was looked at, and comes back in one
/// message of the same process with one descriptor.
///
/// The nonce proves that the answer was written after the look. The descriptor
/// proves that it was sent by sendmsg(2) in a program that means to talk to us:
/// a trusted program that merely writes to its standard output, or copies what
/// it reads, cannot attach one.
package struct HelloExchange: Sendable {
    package static let nonceByteCount = 32

    package enum Event: Sendable {
        /// The peer was looked at; whether something has come from it already.
        case identified(hasSpoken: Bool)
        case answered(HelloAnswer)
        case closed
        case deadlinePassed
    }

    package enum Outcome: Sendable {
        /// Send the nonce, then wait for the answer.
        case challenge(nonce: [UInt8])
        /// Go on: the header is the client's hello.
        case accept(header: [UInt8])
        /// Close the connection.
        case refuse(PeerRefusal)
    }

    private enum State {
        case waitingForIdentity
        case waitingForAnswer
        case over
    }

    package let nonce: [UInt8]
    private let peer: any PeerWitness
    private var state = State.waitingForIdentity

    /// - Parameter nonce: ``nonceByteCount`` fresh random bytes.
    package init(with peer: any PeerWitness, nonce: [UInt8]) {
        precondition(nonce.count == Self.nonceByteCount, "a nonce is 32 bytes")
        self.peer = peer
        self.nonce = nonce
    }

    package mutating func handle(_ event: Event) -> Outcome {
        defer { state = state == .waitingForIdentity ? next(after: event) : .over }
        switch (state, event) {
        case (.waitingForIdentity, .identified(let hasSpoken)):
            return hasSpoken ? .refuse(.spokeFirst) : .challenge(nonce: nonce)
        case (.waitingForAnswer, .answered(let answer)): return judge(answer)
        case (.waitingForAnswer, .closed), (.waitingForIdentity, .closed): return .refuse(.closedEarly)
        case (.waitingForAnswer, .deadlinePassed), (.waitingForIdentity, .deadlinePassed): return .refuse(.tooLate)
        case (.waitingForIdentity, .answered): return .refuse(.spokeFirst)
        case (.waitingForAnswer, .identified), (.over, _): return .refuse(.malformed)
        }
    }

    private func next(after event: Event) -> State {
        if case .identified(hasSpoken: false) = event { .waitingForAnswer } else { .over }
    }

    private func judge(_ answer: HelloAnswer) -> Outcome {
        guard peer.accepts(answer.sender) else { return .refuse(.foreignSender) }
        guard answer.descriptor != nil else { return .refuse(.noDescriptor) }
        guard isNonce(answer.tail) else { return .refuse(.wrongNonce) }
        guard peer.isStillTheSameProgram() else { return .refuse(.replacedItself) }
        return .accept(header: answer.header)
    }

    private func isNonce(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == nonce.count else { return false }
        return zip(bytes, nonce).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }
}
