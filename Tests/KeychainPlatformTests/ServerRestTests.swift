import Synchronization
import Testing

@testable import KeychainPlatform

/// A server that nobody calls gives back what it can do without, and is not woken for it.
@Suite struct ServerRestTests {
    private let steps = Steps()
    private let rest: ServerRest

    private final class Steps: Sendable {
        private let all = Mutex<[ServerRest.Moment]>([])
        func add(_ step: ServerRest.Moment) { all.withLock { $0.append(step) } }
        var taken: [ServerRest.Moment] { all.withLock { $0 } }
    }

    init() {
        let steps = steps
        rest = ServerRest { steps.add($0) }
    }

    @Test func whoHasNotBeenCalledHasNothingToWaitFor() {
        #expect(rest.rest(at: .seconds(1_000)) == nil)
        #expect(steps.taken == [])
    }

    @Test func tenSecondsBehindTheLastCallItRestsOnce() {
        #expect(rest.noteCall())
        #expect(rest.rest(at: .seconds(100)) == .seconds(110))
        #expect(rest.rest(at: .seconds(109)) == .seconds(110))
        #expect(steps.taken == [])
        #expect(rest.rest(at: .seconds(110)) == nil)
        #expect(rest.rest(at: .seconds(500)) == nil)
        #expect(steps.taken == [.resting])
    }

    @Test func eachCallPutsItOff() {
        #expect(rest.noteCall())
        #expect(rest.rest(at: .seconds(100)) == .seconds(110))
        #expect(!rest.noteCall())
        #expect(rest.rest(at: .seconds(110)) == .seconds(120))
        #expect(steps.taken == [])
        #expect(rest.rest(at: .seconds(120)) == nil)
        #expect(steps.taken == [.resting])
    }

    /// What a part gives back is free before the free memory goes.
    @Test func partsLetGoFirst() {
        let steps = steps
        rest.alsoLetGo { _ in #expect(steps.taken == []) }
        rest.alsoLetGo { steps.add($0) }
        #expect(rest.noteCall())
        #expect(rest.rest(at: .seconds(100)) == .seconds(110))
        #expect(rest.rest(at: .seconds(110)) == nil)
        #expect(steps.taken == [.resting, .resting])
    }

    /// Whoever waits without an end has to hear of it.
    @Test func theFirstCallBehindARestSaysSo() {
        for round in 1...3 {
            #expect(rest.noteCall())
            #expect(!rest.noteCall())
            let now = Duration.seconds(100 * round)
            #expect(rest.rest(at: now) == now + ServerRest.patience)
            #expect(rest.rest(at: now + ServerRest.patience) == nil)
        }
        #expect(steps.taken == [.resting, .resting, .resting])
    }

    @Test func whileItIsCalledTheCodeGoesNowAndThen() {
        for _ in 0..<63 { _ = rest.noteCall() }
        #expect(steps.taken == [])
        _ = rest.noteCall()
        #expect(steps.taken == [.working])
        for _ in 0..<4_095 { _ = rest.noteCall() }
        #expect(steps.taken == [.working])
        _ = rest.noteCall()
        #expect(steps.taken == [.working, .working])
    }
}
