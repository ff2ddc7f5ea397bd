import KeychainPlatform
import KeychainTestSupport
import Testing

/// What is logged of whoever connects and asks for nothing.
@Suite struct HangUpTests {
    /// `latchkeyd --stop` connects to know which process listens, and hangs up: that is no stranger
    /// who was turned away. Whoever has spoken first is, also where it has gone since.
    @Test func whoHangsUpWithoutAWordIsNotToldAsAStranger() throws {
        let daemon = try DaemonUnderTest()
        #expect(try daemon.serves())
        for _ in 0..<50 { _ = try daemon.rawConnection() }
        #expect(try daemon.serves())
        #expect(!daemon.lines.all.contains { $0.contains("refused") }, "\(daemon.lines.all)")
        var isTold = false
        let limit = Deadline(after: .seconds(20), on: SystemClock())
        while !isTold, !limit.hasPassed {
            try daemon.rawConnection().send([UInt8](repeating: 1, count: 40))
            #expect(try daemon.serves())
            isTold = daemon.lines.all.contains { $0.contains("connection refused") && $0.contains("not one of ours") }
        }
        #expect(isTold)
        daemon.stop()
    }
}
