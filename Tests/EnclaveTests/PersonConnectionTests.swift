import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What one connection of a person leaves to the next: nothing.
@Suite struct PersonConnectionTests {
    @Test func aRecoveryCodeGoesWithTheOneItWasShownTo() throws {
        let scene = try HonestScene()
        let forgotten = try scene.door().makeRecoveryCode(passcode: .text(HonestScene.passcode))
        expectRefusal(.authenticationFailed) { try scene.door().confirmRecoveryCode(forgotten) }
        #expect(try !scene.door().state().hasRecoveryCode)

        let door = try scene.door()
        let first = try door.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        // The second one is pending now, and stays while the first one's connection ends.
        let another = try scene.door()
        let second = try another.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        expectRefusal(.authenticationFailed) { try door.confirmRecoveryCode(first) }
        try another.confirmRecoveryCode(second)
        #expect(try scene.door().state().hasRecoveryCode)
    }

    // MARK: Places

    private static let credential = PersonCredential.passcode(.text(HonestScene.passcode))
    private static let gone = Reason.enclaveUnreachable

    /// A program of the user that holds all connections that it gets, in more processes
    /// than there are places: nobody is kept from locking, unlocking and answering.
    @Test(arguments: ["silent", "idle", "following"])
    func whoHoldsConnectionsKeepsNobodyOut(kind: String) throws {
        let scene = try HonestScene()
        let session = try scene.daemon.openSession()
        let name = try #require(try scene.ask(.policy(.deviceOwner), in: session))
        let prompt = try scene.door(name)
        #expect(try prompt.question() != nil)
        let writing = try scene.door()
        let code = try writing.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        let holders = try (0..<6).map { _ in try Holder(kind, 4, in: scene.server.home) }

        // Whoever is asked, or writes a code down, has time for that.
        try prompt.agree(with: Self.credential)
        #expect(try scene.daemon.outcome(of: name) == .agreed)
        try writing.confirmRecoveryCode(code)
        for _ in 0..<3 {
            let more = try Holder(kind, 4, in: scene.server.home)
            try scene.door().lock()
            try scene.door().unlock(with: Self.credential)
            #expect(more.isRunning)
        }
        #expect(holders.allSatisfy { $0.isRunning })
    }

    /// Its own share makes room, and no other's.
    @Test func aProcessHasAShareOfThePlaces() throws {
        let scene = try HonestScene()
        let other = try Holder("idle", 4, in: scene.server.home)
        let doors = try (0..<4).map { _ in try scene.door() }
        for door in doors { _ = try door.state() }
        let next = try scene.door()
        _ = try next.state()
        expectRefusal(Self.gone) { _ = try doors[0].state() }
        for door in doors.dropFirst() { _ = try door.state() }
        #expect(other.isRunning)
    }

    /// One that says nothing more gives its place up, but for whoever waits for
    /// something that was promised.
    @Test func aConnectionThatIsSilentEnds() throws {
        let scene = try HonestScene()
        let (idle, silent, writing) = (try scene.door(), try scene.door(), try scene.door())
        _ = try idle.state()
        let code = try writing.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        scene.clock.advance(by: .milliseconds(4999))
        _ = try idle.state()
        scene.clock.advance(by: .milliseconds(1))
        expectRefusal(Self.gone) { _ = try silent.state() }
        scene.clock.advance(by: .seconds(89))
        _ = try idle.state()
        scene.clock.advance(by: .seconds(90))
        expectRefusal(Self.gone) { _ = try idle.state() }
        try writing.confirmRecoveryCode(code)
    }
}

/// Another process that holds connections of persons.
private final class Holder {
    private let process = TestProcess()
    private let input = Pipe()

    init(_ kind: String, _ count: Int, in home: EnclaveHome) throws {
        let output = Pipe()
        process.executableURL = URL(
            filePath: (ProcessEnvironment.executableDirectory ?? ".") + "/enclave-probe")
        process.arguments = ["hold", home.runDirectory, kind, "\(count)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let said = output.fileHandleForReading.availableData
        try #require(String(decoding: said, as: UTF8.self) == "held\n")
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    var isRunning: Bool { process.isRunning }
}
