import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// An enclave whose programs nobody starts any more. (That there is a spare for one that
/// is killed: ProgramSpawnerTests, SlotEndToEndTests.)
@Suite struct LostSpawnerTests {
    private let clock = ManualClock()
    private let end: EventSignal
    private let server: RunningServer
    private let daemon: any EnclaveConnection
    private static let passcode = SharedSecret.text("1234")

    init() throws {
        end = try EventSignal()
        server = try RunningServer(clock: clock, spawnerEnd: end.descriptor)
        daemon = try server.connect()
    }

    private func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: server.home.runDirectory, process: nil, clock: SystemClock())
    }

    @Test func whereNobodyLosesAnythingItLeavesForTheNext() throws {
        let made = try MadeKey(in: daemon)
        clock.advance(by: .seconds(60))
        end.signal()
        #expect(server.ended() == .spawnerGone)
        let next = try RunningServer.again(home: server.home)
        #expect(try made.opens(in: next.connect()))
    }

    /// One that never lives ends no enclave over and over.
    @Test func notBeforeItHasRunForAMinute() throws {
        end.signal()
        clock.advance(by: .seconds(59))
        for _ in 0..<20 { _ = try daemon.describe() }
        #expect(server.ended(within: .zero) == nil)
        clock.advance(by: .seconds(1))
        #expect(server.ended() == .spawnerGone)
    }

    @Test func whatAPersonOpenedStaysOpenAndWhatTheyLockedLocked() throws {
        try door().setPasscode(Self.passcode)
        let keys = [try MadeKey(in: daemon), try MadeKey(in: daemon, .row(.afterFirstUnlock))]
        end.signal()
        clock.advance(by: .seconds(61))
        for key in keys { #expect(try key.opens(in: daemon)) }
        try door().lock()
        clock.advance(by: .seconds(61))
        #expect(try daemon.openRowKeys(keys.map { ($0.binding, $0.wrapped) }).map(\.fate) == [.locked, .key])
        try door().unlock(with: .passcode(Self.passcode))
        for key in keys { #expect(try key.opens(in: daemon)) }
        #expect(server.ended(within: .zero) == nil)
        // With the last that kept it.
        try door().removePasscode(with: .passcode(Self.passcode))
        #expect(server.ended() == .spawnerGone)
    }

    @Test func beforeTheFirstUnlockItLeaves() throws {
        try door().setPasscode(Self.passcode)
        server.end()
        let end = try EventSignal()
        let next = try RunningServer.again(home: server.home, clock: clock, spawnerEnd: end.descriptor)
        _ = try next.connect()
        clock.advance(by: .seconds(60))
        end.signal()
        #expect(next.ended() == .spawnerGone)
    }
}
