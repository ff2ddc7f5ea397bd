import KeychainModel
import KeychainPlatform
import Testing

@testable import Enclave

/// An enclave that nobody uses.
@Suite struct IdleTests {
    private let home: EnclaveHome
    private let keeper: EnclaveKeeper
    private let server: EnclaveServer

    /// Where time passes by itself, and the time without a daemon is over at once.
    init() throws {
        home = try EnclaveHome()
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let clock = SystemClock()
        keeper = EnclaveKeeper(try EnclaveDirectory(inData: home.dataDirectory), clock: clock, cost: cost)
        try keeper.open(for: .daemon(.anyOrNew))
        var limits = EnclaveServer.Limits()
        limits.idle = .zero
        server = try EnclaveServer(
            try EnclaveSocket(inRun: home.runDirectory), keeper, userID: ProcessEnvironment.effectiveUserID,
            clock: clock, limits: limits, stop: try EventSignal())
    }

    private func perform(_ request: PersonRequest) throws {
        let moment = keeper.moment
        let outcome = try keeper.withCore { core throws(SessionError) -> Result<Void, KeychainError> in
            do throws(KeychainError) {
                let derived = try core.derivation(for: request, at: moment).derive()
                _ = try core.perform(request, with: derived, at: moment)
                return .success(())
            } catch { return .failure(error) }
        }
        try outcome.get()
    }

    @Test func itLeaves() {
        #expect(server.endingWithoutConnections == .idle)
        #expect(server.timeToNextDeadline == .zero)
    }

    /// What a person opened stays open, and the process sleeps meanwhile: a wait of no
    /// time, over and over, would take a whole core.
    @Test func whatStaysForAPersonWaits() throws {
        try perform(.setPasscode(SharedSecret(SecretBytes(copying: Array("words words".utf8)))))
        #expect(server.endingWithoutConnections == nil)
        #expect(try #require(server.timeToNextDeadline) > .zero)
        try perform(.lock)
        #expect(server.endingWithoutConnections == nil)
        #expect(try #require(server.timeToNextDeadline) > .zero)
    }
}
