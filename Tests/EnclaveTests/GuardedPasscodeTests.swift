import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A passcode that a TPM looks at, on a software TPM and with the real latchkey-hardware.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct GuardedPasscodeTests {
    private static let passcode = SharedSecret.text("1234")
    private static let other = SharedSecret.text("4321")
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    private let scene: HardwareScene
    private let code: SharedSecret
    private let address: TPMAddress
    /// Of a class that a lock closes, and of the one that takes a person.
    private let keys: [MadeKey]

    init() throws {
        scene = try HardwareScene()
        let daemon = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        code = try scene.makeCode(Self.passcode)
        keys = [try MadeKey(in: daemon), try MadeKey(in: daemon, .row(Self.akpu))]
        address = try #require(TPMAddress(scene.tpm.address))
    }

    private func guardPasscode() throws {
        try scene.door().guardPasscode(by: address, passcode: Self.passcode, code: code)
    }

    private func unlock(_ passcode: SharedSecret = passcode) throws {
        try scene.door().unlock(with: .passcode(passcode))
    }

    private func expectRefusal(
        _ reason: Reason, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) { try body() } throws: { ($0 as? KeychainError)?.reason == reason }
    }

    /// What the device says, and that no attempt was looked at.
    private func expectDeviceFailure(
        _ text: String, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) { try body() } throws: { error in
            guard case .deviceFailed(let why)? = (error as? KeychainError)?.reason else { return false }
            return why.hasPrefix(text)
        }
    }

    private func expectAllOpen(_ location: SourceLocation = #_sourceLocation) throws {
        let daemon = try scene.opened()
        for key in keys { #expect(try key.opens(in: daemon), sourceLocation: location) }
    }

    /// Where the keybag's file says which version it is (FORMATS.md).
    private func fileVersion() throws -> UInt8 { try #require(try scene.home.contents()["keybag.0"])[11] }

    @Test func itOpensWithTheTPMAndThePasscodeAlone() throws {
        #expect(try fileVersion() == 2)
        try guardPasscode()
        #expect(try fileVersion() == 3)
        let slot = try #require(try scene.door().slots().first { $0.kind == "passcode" })
        #expect(slot.address == address)
        try scene.startAgain()
        _ = try scene.open()
        expectRefusal(.authenticationFailed) { try unlock(Self.other) }
        try unlock()
        try expectAllOpen()
    }

    /// Without it not even the right passcode: a copy of the folder has nothing to guess at.
    @Test func withoutTheTPMNothingIsLookedAt() throws {
        try guardPasscode()
        try scene.startAgain()
        _ = try scene.open()
        scene.tpm.stop()
        for passcode in [Self.passcode, Self.other] {
            #expect { try unlock(passcode) } throws: { ($0 as? KeychainError)?.status == .notAvailable }
        }
        // No attempt that was looked at, so none that counts.
        #expect(try scene.door().state().failedAttempts == 0)
        try scene.tpm.start()
        try unlock()
        try expectAllOpen()
    }

    @Test func whereTheTPMIsClearedTheRecoveryCodeOpensEverything() throws {
        try guardPasscode()
        try scene.startAgain()
        _ = try scene.open()
        try scene.tpm.clear()
        expectDeviceFailure("the TPM was cleared, or it is another one") { try unlock() }
        let door = try scene.door()
        try door.unlock(with: .recoveryCode(code))
        try expectAllOpen()
        // With another passcode, which nothing guards, it opens without the TPM again.
        try door.resetPasscode(with: code, to: Self.other)
        #expect(try fileVersion() == 2)
        try scene.startAgain()
        let daemon = try scene.open()
        try unlock(Self.other)
        #expect(try keys[0].opens(in: daemon))
    }

    @Test func anotherPasscodeIsGuardedAsWell() throws {
        try guardPasscode()
        try scene.door().changePasscode(from: Self.passcode, to: Self.other)
        #expect(try fileVersion() == 3)
        try scene.startAgain()
        _ = try scene.open()
        expectRefusal(.authenticationFailed) { try unlock() }
        try unlock(Self.other)
        try expectAllOpen()
    }

    @Test func theGuardIsTakenBack() throws {
        try guardPasscode()
        try scene.door().guardPasscode(by: nil, passcode: Self.passcode, code: nil)
        #expect(try fileVersion() == 2)
        try scene.startAgain()
        _ = try scene.open()
        scene.tpm.stop()
        try unlock()
        try expectAllOpen()
    }

    /// What the passcode alone opened lies on a disk: it opens nothing that comes later.
    @Test func aCopyFromBeforeOpensNothingNew() throws {
        let before = try scene.home.contents()
        try guardPasscode()
        let later = try MadeKey(in: try scene.opened())
        scene.server.end()
        let copy = try EnclaveHome()
        _ = try PrivateDirectory(copy.path(""), creating: true)
        for (file, bytes) in before { try copy.write(file, bytes) }
        let stolen = try copy.open(.anyOrNew)
        try stolen.unlock(with: .passcode(Self.passcode))
        #expect(stolen.openRowKeys([(keys[0].binding, keys[0].wrapped)]).map(\.fate) == [.key])
        #expect(stolen.openRowKeys([(later.binding, later.wrapped)]).map(\.fate) == [.noClassKey])
        stolen.close()
    }

    @Test func whatIsNotRightChangesNothing() throws {
        let door = try scene.door()
        let before = try scene.home.contents()["keybag.0"]
        expectRefusal(.authenticationFailed) {
            try door.guardPasscode(by: address, passcode: Self.other, code: code)
        }
        expectRefusal(.protectorRefused(why: "the recovery code is needed as well")) {
            try door.guardPasscode(by: address, passcode: Self.passcode, code: nil)
        }
        scene.tpm.stop()
        #expect { try guardPasscode() } throws: { ($0 as? KeychainError)?.status == .notAvailable }
        #expect(try scene.home.contents()["keybag.0"] == before)
    }

    /// A TPM whose owner, the test, lets five passwords be wrong.
    @Test(.enabled(if: SoftwareTPM.canBeOwned, "tpm2-tools are not installed"))
    func wrongOnesLockTheTPMAndNothingIsLost() throws {
        try guardPasscode()
        try scene.tpm.allowWrongPasswords(5)
        try scene.startAgain()
        _ = try scene.open()
        // Five that the enclave looks at; its own delay begins with the fifth.
        for number in 0..<5 { expectRefusal(.authenticationFailed) { try unlock(.text("wrong \(number)")) } }
        #expect(try scene.door().state().failedAttempts == 5)
        scene.server.clock.advance(by: .seconds(61))
        for passcode in [Self.passcode, .text("wrong again")] {
            expectDeviceFailure("the TPM takes no password for now, because too many were wrong") {
                try unlock(passcode)
            }
        }
        #expect(try scene.door().state().failedAttempts == 5)
        // What needs no passcode opens all the same.
        try scene.door().unlock(with: .recoveryCode(code))
        try expectAllOpen()
        try scene.door().lock()
        try scene.tpm.resetLockout()
        try unlock()
        try expectAllOpen()
    }

    /// No device is asked for somebody who has not shown who they are.
    @Test func aWrongPasscodeCountsBeforeADeviceIsAsked() throws {
        let nowhere = try #require(TPMAddress("swtpm:/nonexistent"))
        expectRefusal(.authenticationFailed) {
            try scene.door().guardPasscode(by: nowhere, passcode: Self.other, code: code)
        }
        #expect(try scene.door().state().failedAttempts == 1)
        expectDeviceFailure("there is no such TPM") {
            try scene.door().guardPasscode(by: nowhere, passcode: Self.passcode, code: code)
        }
    }
}
