import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import KeychainDaemon

/// A daemon that nobody calls for a while gives back what it can do without, each time.
@Suite struct RestTests {
    @Test func tenSecondsBehindACallItRests() throws {
        let rested = try EventSignal()
        let daemon = try DaemonUnderTest { configuration in
            configuration.rest = ServerRest { moment in if case .resting = moment { rested.signal() } }
        }
        let client = daemon.client()
        for _ in 0..<3 {
            _ = try client.perform(KeychainRequest(.status))
            // It may not have heard yet that there was a call: then time passes once more.
            let soon = Deadline(after: .seconds(20), on: SystemClock())
            var hasRested = false
            while !hasRested, !soon.hasPassed {
                daemon.clock.advance(by: ServerRest.patience)
                let moment = Deadline(after: .milliseconds(50), on: SystemClock())
                hasRested = try wait(for: rested.descriptor.raw, to: .receive, until: moment) == .ready
            }
            #expect(hasRested)
            rested.drain()
        }
        daemon.stop()
    }
}
