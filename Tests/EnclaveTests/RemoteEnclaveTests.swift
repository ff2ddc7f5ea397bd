import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Testing

@testable import Enclave

/// The daemon's end, against enclaves that answer wrongly or not at all.
@Suite struct RemoteEnclaveTests {
    private typealias Reply = Latchkey_EnclaveReply

    /// Asks `ask` of an enclave that first opens a store and then says `answer`.
    private func outcome<R>(
        of ask: @escaping @Sendable (any EnclaveConnection) throws(KeychainError) -> R,
        answer: @escaping @Sendable (inout Latchkey_EnclaveReply) -> Int
    ) throws -> Result<R, KeychainError> {
        let (ours, theirs) = try PacketSocket.pair()
        let liar = Thread {
            do {
                let channel = try MessageChannel(theirs)
                for turn in 0..<2 {
                    guard let frame = try channel.receive(until: MessageChannel.soon) else { return }
                    var reply = Latchkey_EnclaveReply()
                    reply.number = try Latchkey_EnclaveRequest(serializedBytes: frame.header).number
                    reply.storeID = turn == 0 ? Data(count: 16) : Data()
                    let tail = turn == 0 ? 32 : answer(&reply)
                    try channel.send(
                        MessageCoding.encode(reply), SecretBytes(count: tail), until: MessageChannel.soon)
                }
            } catch {
                Issue.record("the liar failed: \(error)")
            }
        }
        liar.start()
        let exchange = try EnclaveExchange(ours, SystemClock())
        let connection = try RemoteEnclaveConnection(exchange, expecting: .anyOrNew)
        do throws(KeychainError) {
            return .success(try ask(connection))
        } catch {
            // A connection that failed once stays failed.
            #expect(throws: KeychainError.self) { try connection.describe() }
            return .failure(error)
        }
    }

    private static let goodBox = Data(count: 60)

    private static func result(
        _ outcome: Latchkey_EnclaveReply.Outcome, _ generation: UInt32 = 0, _ wrapped: Data = Data()
    ) -> Latchkey_EnclaveReply.KeyResult {
        .with {
            $0.outcome = outcome
            $0.generation = generation
            $0.wrapped = wrapped
        }
    }

    /// Results for two rows that were to be made, and the length of the tail.
    private static let lies: [(results: [Latchkey_EnclaveReply.KeyResult], tail: Int)] = [
        ([], 0), ([], 64), ([result(.locked)], 0), ([result(.locked), result(.locked), result(.locked)], 0),
        ([result(.key, 1, goodBox), result(.key, 1, goodBox)], 63),
        ([result(.key, 1, goodBox), result(.key, 1, goodBox)], 65),
        ([result(.key, 1, goodBox), result(.locked)], 64), ([result(.locked), result(.locked)], 32),
        ([result(.key, 0, goodBox), result(.locked)], 32), ([result(.key, 1, Data(count: 59)), result(.locked)], 32),
        ([result(.key, 1), result(.locked)], 32), ([result(.unspecified), result(.locked)], 0),
        ([result(.UNRECOGNIZED(77)), result(.locked)], 0), ([result(.locked, 1), result(.locked)], 0),
        ([result(.damaged, 0, goodBox), result(.locked)], 0),
    ]

    @Test(arguments: lies.indices)
    func anAnswerThatIsNotOfTheFormAskedForIsNoAnswer(index: Int) throws {
        let lie = Self.lies[index]
        let outcome = try outcome(
            of: { connection throws(KeychainError) in try connection.makeRowKeys(for: [.row(), .row()]) },
            answer: {
                $0.results = lie.results
                return lie.tail
            })
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try outcome.get() }
    }

    @Test func theTruthIsBelieved() throws {
        let outcome = try outcome(
            of: { connection throws(KeychainError) in try connection.makeRowKeys(for: [.row(), .row()]).map(\.fate) },
            answer: {
                $0.results = [Self.result(.needs), Self.result(.key, 3, Self.goodBox)]
                return 32
            })
        #expect(try outcome.get() == [.needsAuthentication, .key])
    }

    @Test func anAnswerToAnotherQuestionIsNoAnswer() throws {
        let outcome = try outcome(
            of: { connection throws(KeychainError) in try connection.makeMetadataKey(for: .always).fate },
            answer: {
                $0.number += 1
                $0.results = [Self.result(.locked)]
                return 0
            })
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try outcome.get() }
    }

    @Test func anOpenedKeyComesWithoutABox() throws {
        let wrapped = WrappedKey(generation: 1, box: [1])
        let outcome = try outcome(
            of: { connection throws(KeychainError) in try connection.openMetadataKey(wrapped, of: .always).fate },
            answer: {
                $0.results = [Self.result(.key, 1, Self.goodBox)]
                return 32
            })
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try outcome.get() }
    }

    /// Whatever number an enclave gives, it is not the fate of an item.
    @Test func aFailureIsNeverTheFateOfAnItem() throws {
        let outcome = try outcome(
            of: { connection throws(KeychainError) in try connection.makeMetadataKey(for: .always).fate },
            answer: {
                $0.failure = Latchkey_Failure(KeychainError(.itemNotFound, reason: .keybagUnreadable))
                return 0
            })
        #expect(throws: KeychainError(.notAvailable, reason: .keybagUnreadable)) { try outcome.get() }
    }

    @Test func noAnswerInFiveSecondsIsAFailure() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let clock = ManualClock()
        let exchange = try EnclaveExchange(ours, clock)
        let waiting = Thread {
            while clock.waiterCount == 0 { Thread.yieldToOthers() }
            clock.advance(by: .seconds(5))
        }
        waiting.start()
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveSilent)) {
            _ = try exchange.ask(.describe(true))
        }
        withExtendedLifetime(theirs) {}
    }

    @Test func nobodyThereIsUnreachable() throws {
        let home = try EnclaveHome()
        let enclave = RemoteEnclave(
            runDirectory: home.runDirectory, expecting: .anyOrNew, userID: ProcessEnvironment.effectiveUserID,
            clock: SystemClock())
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try enclave.connect() }
        _ = try home.temporary.folder("run")
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try enclave.connect() }
    }
}

extension Thread {
    fileprivate static func yieldToOthers() { sched_yield() }
}
