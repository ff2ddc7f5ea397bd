import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Testing

@testable import Enclave

/// Whoever never has a TPM count is touched by nothing of it: their files are those that the
/// version before wrote and reads, and no TPM is asked for a counter.
@Suite struct UncountedTests {
    private static let passcode = SharedSecret.text("words words")
    private static let other = SharedSecret.text("other words")

    /// FORMATS.md: what the version before knows of each file.
    private func expectAsBefore(_ home: EnclaveHome) throws {
        for (name, bytes) in try home.contents() {
            if name.hasPrefix("attempts") {
                let file = try #require(AuthenticatedFile.parse(.attempts, bytes))
                #expect(file.version == 1)
                let message = try Latchkey_AttemptsBody(serializedBytes: file.uncheckedBody)
                #expect(!message.hasAnchor && message.unknownFields.data.isEmpty)
                // store_id and failed, and nothing else.
                #expect(file.uncheckedBody.count <= 18 + 2)
            }
            if name.hasPrefix("keybag") {
                let file = try #require(AuthenticatedFile.parse(.keybag, bytes))
                #expect(file.version <= 4)
                let message = try Latchkey_KeybagBody(serializedBytes: file.uncheckedBody)
                #expect(!message.hasTpmCounter && message.unknownFields.data.isEmpty)
            }
        }
    }

    /// Everything that a person does, but for a counter.
    private func live(_ door: RemotePersonDoor, after each: () throws -> Void) throws {
        func wrong(_ body: () throws -> Void) { #expect(throws: KeychainError.self) { try body() } }
        let slot: SharedSecret
        try door.setPasscode(Self.passcode)
        try each()
        wrong { try door.unlock(with: .passcode(Self.other)) }
        try each()
        try door.unlock(with: .passcode(Self.passcode))
        try each()
        let code = try door.makeRecoveryCode(passcode: Self.passcode)
        try door.confirmRecoveryCode(code)
        try each()
        slot = try door.addCredentialSlot(passcode: Self.passcode)
        _ = try door.addLoginSlot(.text("login words"), passcode: Self.passcode)
        wrong { try door.unlock(byLogin: .text("no words")) }
        try each()
        try door.unlock(byLogin: .text("login words"))
        try door.lock()
        try door.unlock(bySlot: slot)
        try door.changePasscode(from: Self.passcode, to: Self.other)
        try each()
        try door.resetPasscode(with: code, to: Self.passcode)
        try each()
        try door.removeRecoveryCode(passcode: Self.passcode)
        try each()
    }

    @Test func filesAreThoseOfTheVersionBefore() throws {
        let hardware = CountedHardware(NoHardware())
        let home = try EnclaveHome()
        let server = try RunningServer(home: home, hardware: hardware)
        _ = try server.connect()
        let door = try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
        try live(door) { try expectAsBefore(home) }
        server.end()
        // A start writes nothing, and asks nothing.
        let files = try home.contents()
        let next = try RunningServer.again(home: home, hardware: hardware)
        _ = try next.connect()
        #expect(try home.contents() == files)
        #expect(hardware.asked == 0)
    }

    /// With a TPM that has a part in everything that one may.
    @Test(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
    func aTPMIsAskedForNoCounter() throws {
        let scene = try CounterScene(isOn: false)
        let door = try scene.scene.door()
        try door.guardPasscode(by: scene.address, passcode: CounterScene.passcode, code: scene.code)
        try door.keepEffacement(in: scene.address, passcode: CounterScene.passcode, code: scene.code)
        _ = try door.addSlot(of: scene.address, passcode: CounterScene.passcode)
        #expect(scene.reason { try scene.unlock(CounterScene.other) } == .authenticationFailed)
        try scene.unlock()
        try scene.makeCode()
        try door.changePasscode(from: CounterScene.passcode, to: CounterScene.other)
        try expectAsBefore(scene.scene.home)
        let files = try scene.copy()
        let asked = scene.hardware.asked
        try scene.startAgain()
        let daemon = try scene.scene.open()
        // The protector and the slot, and nothing more.
        #expect(scene.hardware.asked == asked + 2)
        #expect(try scene.key.opens(in: daemon) && scene.copy() == files)
        #expect(scene.hardware.countersAsked == 0)
        #expect(try scene.counter == CounterState())
    }
}
