import Testing

@testable import SecretService

/// What the Secret Service keeps of its clients' sessions.
@Suite struct TransferSessionsTests {
    /// Which session of a connection goes for one too many is looked up in a list.
    @Test func noListIsLeftOfAConnectionThatHasGone() {
        var sessions = TransferSessions()
        for _ in 0...TransferSessions.most { _ = sessions.add(.plain, of: ":1.1") }
        #expect(sessions.listCount == 1)
        sessions.endAll(of: ":1.1")
        #expect(sessions.listCount == 0)
    }

    /// Also where it goes on, and opens none.
    @Test func noListIsLeftOfAConnectionThatHasClosedAllItsSessions() {
        var sessions = TransferSessions()
        let paths = (0...TransferSessions.most).map { _ in sessions.add(.plain, of: ":1.1") }
        #expect(sessions.listCount == 1)
        for path in paths { sessions.end(path) }
        #expect(sessions.listCount == 0 && Array(sessions.paths).isEmpty)
        sessions.endAll(of: ":1.1")
        #expect(sessions.listCount == 0)
    }
}
