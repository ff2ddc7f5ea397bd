import Foundation
import KeychainPlatform
import KeychainServices
import KeychainTesting
import Testing

@Suite struct TestClockTests {
    @Test func datesItems() throws {
        let start = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let clock = TestClock(now: start)
        let keychain = try TestKeychain(clock: clock)
        try keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            clock.advance(by: .seconds(60))
            #expect(
                SecItemUpdate(Passwords.query("a"), [kSecAttrLabel as String: "l"] as CFDictionary) == errSecSuccess)
            let attributes = try #require(Passwords.attributes("a"))
            #expect(attributes[kSecAttrCreationDate] as? Date == start)
            #expect(attributes[kSecAttrModificationDate] as? Date == start.addingTimeInterval(60))
        }
    }

    @Test func movesModificationDatesForwardAlsoWhenSetBack() throws {
        let clock = TestClock()
        let keychain = try TestKeychain(clock: clock)
        try keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            clock.now = clock.now.addingTimeInterval(-3600)
            #expect(
                SecItemUpdate(Passwords.query("a"), [kSecAttrLabel as String: "l"] as CFDictionary) == errSecSuccess)
            let attributes = try #require(Passwords.attributes("a"))
            let created = try #require(attributes[kSecAttrCreationDate] as? Date)
            let modified = try #require(attributes[kSecAttrModificationDate] as? Date)
            #expect(modified > created)
        }
    }

    @Test func standsUntilMoved() {
        let clock = TestClock()
        let first = clock.now
        #expect(clock.now == first)
        #expect(abs(first.timeIntervalSinceNow) < 60)
        clock.now = .distantPast
        #expect(clock.now == .distantPast)
    }

    @Test func wakesWhoeverWaits() throws {
        let clock = TestClock()
        let signal = try EventSignal()
        let deadline = Deadline(after: .seconds(5), on: clock)
        Thread.detachNewThread { clock.advance(by: .seconds(6)) }
        #expect(try wait(for: signal.descriptor.raw, to: .receive, until: deadline) == .timedOut)
    }
}
