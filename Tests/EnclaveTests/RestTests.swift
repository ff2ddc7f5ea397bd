import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import Enclave

/// An enclave that nobody asks for a while gives back what it can do without, each time.
@Suite struct RestTests {
    @Test func tenSecondsBehindAnExchangeItRests() throws {
        let rested = try EventSignal()
        let server = try RunningServer(rest: ServerRest { moment in if case .resting = moment { rested.signal() } })
        let connection = try server.connect()
        for _ in 0..<3 {
            _ = try connection.describe()
            let soon = Deadline(after: .seconds(20), on: SystemClock())
            var hasRested = false
            while !hasRested, !soon.hasPassed {
                server.clock.advance(by: ServerRest.patience)
                let moment = Deadline(after: .milliseconds(50), on: SystemClock())
                hasRested = try wait(for: rested.descriptor.raw, to: .receive, until: moment) == .ready
            }
            #expect(hasRested)
            rested.drain()
        }
        server.end()
    }
}
