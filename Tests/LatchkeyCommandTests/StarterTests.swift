import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Whoever starts a daemon hears why it does not start.
@Suite struct StarterTests {
    private func failure(_ arguments: [String]) throws -> KeychainError? {
        let (ours, theirs) = try PacketSocket.pair()
        let program = (ProcessEnvironment.executableDirectory ?? ".") + "/latchkeyd"
        try DaemonStarter.start(program, arguments: arguments, environment: [], keeping: theirs.descriptor)
        do throws(KeychainError) {
            try DaemonReport.wait(on: ours, until: Deadline(after: .seconds(20), on: SystemClock()))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (["--data-dir", "relative", "--run-dir", "/tmp/none", "--report"], "absolute paths"),
        (["--data-dir", "/tmp/none", "--report", "--no-such-option"], "no-such-option"),
        (["--data-dir", "/tmp/none", "--report", "--parent-fd", "4"], "--temporary"),
        (["--data-dir", "/tmp/none", "--report", "--backup", "/tmp/none.backup"], "stand alone"),
    ])
    func anArgumentThatIsRefusedIsNamed(_ arguments: [String], _ word: String) throws {
        let error = try #require(try failure(arguments))
        #expect(error.status == .notAvailable)
        guard case .startRefused(let why) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(why.contains(word), "\(why)")
    }
}
