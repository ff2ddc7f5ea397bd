import KeychainModel
import KeychainPlatform
import Testing

@testable import PeerIdentity

/// The state machine alone, with every fact given.
struct HelloExchangeTests {
    private struct Witness: PeerWitness {
        var isSender = true
        var isSame = true

        func accepts(_ sender: SenderCredentials?) -> Bool { isSender && sender != nil }
        func isStillTheSameProgram() -> Bool { isSame }
    }

    private static let nonce = [UInt8](0..<32)
    private static let sender = SenderCredentials(pid: 7, uid: 8, gid: 9)

    private func exchange(_ witness: Witness = Witness(), challenged: Bool = true) -> HelloExchange {
        var exchange = HelloExchange(with: witness, nonce: Self.nonce)
        if challenged { _ = exchange.handle(.identified(hasSpoken: false)) }
        return exchange
    }

    private func answer(tail: [UInt8] = nonce, withDescriptor: Bool = true) throws -> HelloExchange.Event {
        .answered(
            HelloAnswer(
                header: [1, 2], tail: tail, descriptor: withDescriptor ? try EventSignal().descriptor : nil,
                sender: Self.sender))
    }

    @Test func aQuietPeerIsChallengedAndItsAnswerAccepted() throws {
        var exchange = exchange(challenged: false)
        guard case .challenge(Self.nonce) = exchange.handle(.identified(hasSpoken: false)) else {
            Issue.record("not challenged")
            return
        }
        guard case .accept([1, 2]) = exchange.handle(try answer()) else {
            Issue.record("not accepted")
            return
        }
    }

    @Test func aPeerThatHasSpokenIsRefused() {
        var exchange = exchange(challenged: false)
        #expect(exchange.handle(.identified(hasSpoken: true)).refusal == .spokeFirst)
    }

    @Test func anAnswerToNoQuestionIsRefused() throws {
        var exchange = exchange(challenged: false)
        #expect(exchange.handle(try answer()).refusal == .spokeFirst)
    }

    @Test func everyFaultOfAnAnswerHasItsRefusal() throws {
        var foreign = exchange(Witness(isSender: false))
        #expect(foreign.handle(try answer()).refusal == .foreignSender)
        var replaced = exchange(Witness(isSame: false))
        #expect(replaced.handle(try answer()).refusal == .replacedItself)
        var bare = exchange()
        #expect(bare.handle(try answer(withDescriptor: false)).refusal == .noDescriptor)
        let tails: [[UInt8]] = [[], [0], Array(Self.nonce.dropLast()), Self.nonce + [0], Self.nonce.reversed()]
        for tail in tails {
            var wrong = exchange()
            #expect(wrong.handle(try answer(tail: tail)).refusal == .wrongNonce)
        }
    }

    @Test func silenceAndAnEndAreRefused() {
        for challenged in [false, true] {
            var late = exchange(challenged: challenged)
            #expect(late.handle(.deadlinePassed).refusal == .tooLate)
            var closed = exchange(challenged: challenged)
            #expect(closed.handle(.closed).refusal == .closedEarly)
        }
    }

    @Test func nothingFollowsAnEnd() throws {
        for end in [try answer(), try answer(tail: []), .closed, .deadlinePassed] {
            var exchange = exchange()
            _ = exchange.handle(end)
            #expect(exchange.handle(try answer()).refusal == .malformed)
            #expect(exchange.handle(.identified(hasSpoken: false)).refusal == .malformed)
        }
    }

    @Test func aSecondLookIsRefused() {
        var exchange = exchange()
        #expect(exchange.handle(.identified(hasSpoken: false)).refusal == .malformed)
    }
}

extension HelloExchange.Outcome {
    fileprivate var refusal: PeerRefusal? {
        if case .refuse(let refusal) = self { refusal } else { nil }
    }
}
