import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// An effacement secret that a TPM keeps, on a software TPM and with the real
/// latchkey-hardware; the test is the owner of that TPM, with tpm2-tools.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct TPMEffacementTests {
    static let passcode = SharedSecret.text("words words")
    static let other = SharedSecret.text("other words")
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    private let scene: HardwareScene
    private let code: SharedSecret
    private let address: TPMAddress
    private let key: MadeKey
    /// Of the class that lasts as long as the passcode.
    private let lasting: MadeKey

    init() throws {
        scene = try HardwareScene()
        let daemon = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        code = try scene.makeCode(Self.passcode)
        key = try MadeKey(in: daemon)
        lasting = try MadeKey(in: daemon, .row(Self.akpu))
        address = try #require(TPMAddress(scene.tpm.address))
    }

    private func keepInTPM() throws {
        try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: code)
    }

    private func unlock(_ passcode: SharedSecret = passcode) throws {
        try scene.door().unlock(with: .passcode(passcode))
    }

    private func startAgain() throws {
        try scene.startAgain()
        _ = try scene.open()
    }

    private func fate(of key: MadeKey) throws -> Fate {
        let outcomes = try scene.opened().openRowKeys([(key.binding, key.wrapped)], in: nil)
        return try #require(outcomes.first).fate
    }

    private func effacement() throws -> EffacementState { try scene.door().state().effacement }

    /// The places that the TPM has indices at.
    private func places() throws -> [TPMPlace] {
        try scene.tpm.indices().map { text in
            TPMPlace(address: address, handle: try #require(UInt32(text.dropFirst(2), radix: 16)))
        }
    }

    /// Where the keybag's file says which version it is (FORMATS.md).
    private func fileVersion() throws -> UInt8 { try #require(try scene.home.contents()["keybag.0"])[11] }

    /// What `body` is refused for, and that it changed nothing that is written.
    private func expectRefusal(
        _ text: String, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let before = try scene.home.contents()["effacement"]
        let state = try effacement()
        #expect(sourceLocation: location) { try body() } throws: { error in
            switch (error as? KeychainError)?.reason {
            case .deviceFailed(let why)?, .protectorRefused(let why)?: why.hasPrefix(text)
            default: false
            }
        }
        #expect(try scene.home.contents()["effacement"] == before, sourceLocation: location)
        #expect(try effacement() == state, sourceLocation: location)
        #expect(try fate(of: lasting) == .key && fate(of: key) == .key, sourceLocation: location)
    }

    // MARK: There

    @Test func itOpensWithTheTPMAndLeavesNothingInTheFile() throws {
        #expect(try fileVersion() == 2)
        try keepInTPM()
        #expect(try fileVersion() == 4)
        #expect(try effacement() == EffacementState(tpm: address))
        #expect(try scene.tpm.indices().count == 1)
        #expect(try scene.home.read(EffacementFile.fileName).allSatisfy { $0 == 0 })
        let later = try MadeKey(in: try scene.opened(), .row(Self.akpu))
        for credential in [PersonCredential.passcode(Self.passcode), .recoveryCode(code)] {
            try startAgain()
            #expect(try fate(of: lasting) == .locked)
            try scene.door().unlock(with: credential)
            for made in [key, lasting, later] { #expect(try made.opens(in: try scene.opened())) }
            #expect(try effacement() == EffacementState(tpm: address))
        }
    }

    /// Each change of the slots keeps it, and the index with its password.
    @Test func changesOfTheSlotsKeepIt() throws {
        try keepInTPM()
        let index = try scene.tpm.indices()
        let door = try scene.door()
        try door.changePasscode(from: Self.passcode, to: Self.other)
        _ = try door.addLoginSlot(.text("login words"), passcode: Self.other)
        _ = try door.addCredentialSlot(passcode: Self.other)
        let slot = try #require(try door.slots().first { $0.kind == "credential" })
        // A new person key: the password is wrapped anew.
        _ = try door.removeSlot(slot.identifier, passcode: Self.other, code: code)
        try door.setLockPolicy(try #require(LockPolicy(idleSeconds: 900)), passcode: Self.other)
        let newCode = try scene.makeCode(Self.other)
        #expect(try scene.tpm.indices() == index)
        try startAgain()
        try scene.door().unlock(byLogin: .text("login words"))
        #expect(try fate(of: lasting) == .key)
        for credential in [PersonCredential.passcode(Self.other), .recoveryCode(newCode)] {
            try startAgain()
            try scene.door().unlock(with: credential)
            #expect(try fate(of: lasting) == .key && fate(of: key) == .key)
        }
    }

    // MARK: Gone everywhere

    /// Issue 6: a full copy of the folder from before, with all that ever opened it.
    @Test(arguments: ["remove", "remove with the code", "reset"])
    func whatGoesWithThePasscodeIsGoneInCopiesToo(_ how: String) throws {
        try keepInTPM()
        let before = try scene.home.contents()
        let door = try scene.door()
        switch how {
        case "remove": try door.removePasscode(with: .passcode(Self.passcode))
        case "reset": try door.resetPasscode(with: code, to: Self.other)
        default: try door.removePasscode(with: .recoveryCode(code))
        }
        #expect(try scene.tpm.indices() == [])
        #expect(try effacement() == EffacementState())
        #expect(try fileVersion() == 2)
        #expect(try fate(of: lasting) == .effaced && fate(of: key) == .key)
        scene.server.end()
        for credential in [PersonCredential.passcode(Self.passcode), .recoveryCode(code)] {
            for (file, bytes) in before { try scene.home.write(file, bytes) }
            try startAgain()
            try scene.door().unlock(with: credential)
            #expect(try fate(of: key) == .key)
            #expect(try fate(of: lasting) == .effaced)
            #expect(try effacement().fault == KeybagError.Cause.effacementMissing.rawValue)
        }
        // What comes from now on is kept again, in the file.
        try scene.door().changePasscode(from: Self.passcode, to: Self.other)
        #expect(try effacement() == EffacementState())
        let later = try MadeKey(in: try scene.opened(), .row(Self.akpu))
        try startAgain()
        try unlock(Self.other)
        #expect(try later.opens(in: try scene.opened()))
    }

    /// The person is told, and it is made good at the next start.
    @Test func whatATPMKeepsForWantOfAnAnswerIsDestroyedLater() throws {
        try keepInTPM()
        let places = try places()
        scene.tpm.stop()
        try scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try effacement() == EffacementState(left: places))
        #expect(try fileVersion() == 4)
        try startAgain()
        #expect(try effacement() == EffacementState(left: places))
        try scene.tpm.start()
        #expect(try scene.tpm.indices().count == 1)
        try startAgain()
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
        #expect(try fileVersion() == 2)
    }

    @Test func orWithTheNextUnlock() throws {
        try keepInTPM()
        scene.tpm.stop()
        try scene.door().resetPasscode(with: code, to: Self.other)
        #expect(try effacement().left.count == 1)
        try scene.tpm.start()
        try unlock(Self.other)
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
    }

    /// What another TPM, or one whose owner's hierarchy is off, does not find is not gone.
    @Test(arguments: ["another", "off"])
    func nothingIsGoneBeforeTheRightTPMSaysSo(_ how: String) throws {
        try keepInTPM()
        let places = try places()
        #expect(places.count == 1)
        if how == "another" {
            try scene.tpm.clear()
        } else {
            try scene.tpm.own("hierarchycontrol", "--hierarchy=p", "shEnable", "clear")
        }
        try scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try effacement() == EffacementState(left: places))
        try startAgain()
        #expect(try effacement() == EffacementState(left: places))
        // Its hierarchies are on again once it is started anew.
        if how == "another" { try scene.tpm.undoClearing() } else { scene.tpm.stop() }
        if how == "off" { try scene.tpm.start() }
        #expect(try self.places() == places)
        try startAgain()
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
    }

    @Test func backInTheFileNothingIsLeftInTheTPM() throws {
        try keepInTPM()
        let door = try scene.door()
        try expectRefusal("that TPM has it already") { try keepInTPM() }
        try door.keepEffacement(in: nil, passcode: Self.passcode, code: nil)
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
        try expectRefusal("the file has it already") {
            try door.keepEffacement(in: nil, passcode: Self.passcode, code: nil)
        }
        scene.tpm.stop()
        try startAgain()
        try unlock()
        #expect(try fate(of: lasting) == .key && fate(of: key) == .key)
    }

    // MARK: Not there

    @Test func withoutTheTPMTheRestOpensAndItIsSaidWhy() throws {
        try keepInTPM()
        try startAgain()
        scene.tpm.stop()
        try unlock()
        #expect(try fate(of: key) == .key && fate(of: lasting) == .locked)
        #expect(try effacement().fault?.hasPrefix("there is no such TPM") == true)
        // What would give it up is refused.
        #expect {
            try scene.door().changePasscode(from: Self.passcode, to: Self.other)
        } throws: { ($0 as? KeychainError)?.status == .notAvailable }
        try scene.tpm.start()
        try unlock()
        #expect(try fate(of: lasting) == .key)
        #expect(try effacement() == EffacementState(tpm: address))
        // What is open stays open.
        scene.tpm.stop()
        try unlock()
        #expect(try fate(of: lasting) == .key)
    }

    /// It cannot be told from another one, which may be exchanged for the first again.
    @Test func aTPMThatWasClearedIsWaitedFor() throws {
        try keepInTPM()
        try scene.tpm.clear()
        try startAgain()
        for credential in [PersonCredential.passcode(Self.passcode), .recoveryCode(code)] {
            try scene.door().unlock(with: credential)
            #expect(try fate(of: key) == .key && fate(of: lasting) == .locked)
            #expect(try effacement().fault?.hasPrefix("the TPM was cleared, or it is another one") == true)
            try scene.door().lock()
        }
        try expectNothingGivesItUp()
        try scene.tpm.undoClearing()
        try unlock()
        #expect(try fate(of: lasting) == .key && effacement() == EffacementState(tpm: address))
    }

    /// Whatever changes the keybag, but for what is there to give it up.
    private func expectNothingGivesItUp(_ location: SourceLocation = #_sourceLocation) throws {
        let door = try scene.door()
        let second = try SoftwareTPM()
        let elsewhere = try #require(TPMAddress(second.address))
        let changes: [() throws -> Void] = [
            { try door.changePasscode(from: Self.passcode, to: Self.other) },
            { _ = try door.addLoginSlot(.text("login words"), passcode: Self.passcode) },
            { _ = try door.addCredentialSlot(passcode: Self.passcode) },
            { try door.removeRecoveryCode(passcode: Self.passcode) },
            { try door.keepEffacement(in: nil, passcode: Self.passcode, code: nil) },
            { try door.keepEffacement(in: elsewhere, passcode: Self.passcode, code: code) },
            { _ = try scene.makeCode(Self.passcode) },
        ]
        for change in changes {
            #expect(sourceLocation: location) { try change() } throws: { error in
                guard case .deviceFailed(let why)? = (error as? KeychainError)?.reason else { return false }
                return why.contains("--give-up")
            }
        }
        #expect(try effacement().tpm == address && effacement().left == [], sourceLocation: location)
        #expect(try second.indices() == [], sourceLocation: location)
    }

    /// What another TPM has at the same address does not keep this one from being asked.
    @Test func ofTwoTPMsThatWereAtAnAddressTheOneThatIsThereIsAsked() throws {
        try keepInTPM()
        let places = try places()
        try scene.tpm.clear()
        let door = try scene.door()
        try door.resetPasscode(with: code, to: Self.other)
        try door.keepEffacement(in: address, passcode: Self.other, code: code)
        #expect(try scene.tpm.indices().count == 1 && effacement() == EffacementState(tpm: address, left: places))
        try door.removePasscode(with: .passcode(Self.other))
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState(left: places))
        try scene.tpm.undoClearing()
        try startAgain()
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
    }

    // MARK: Given up

    /// And it is destroyed all the same, should the TPM come back.
    @Test(arguments: [true, false]) func onlyThePersonGivesItUp(whileOpen: Bool) throws {
        try keepInTPM()
        let places = try places()
        let door = try scene.door()
        try expectRefusal("the TPM gives it out") { try door.giveEffacementUp(passcode: Self.passcode) }
        if whileOpen { scene.tpm.stop() } else { try scene.tpm.clear() }
        try expectRefusal("") { try door.changePasscode(from: Self.passcode, to: Self.other) }
        #expect { try door.giveEffacementUp(passcode: Self.other) } throws: {
            ($0 as? KeychainError)?.reason == .authenticationFailed
        }
        if !whileOpen {
            try startAgain()
            try unlock()
            #expect(try fate(of: lasting) == .locked)
        }
        try scene.door().giveEffacementUp(passcode: Self.passcode)
        #expect(try effacement() == EffacementState(left: places))
        #expect(try fate(of: key) == .key && fate(of: lasting) == .effaced)
        let later = try MadeKey(in: try scene.opened(), .row(Self.akpu))
        for credential in [PersonCredential.passcode(Self.passcode), .recoveryCode(code)] {
            try startAgain()
            try scene.door().unlock(with: credential)
            #expect(try later.opens(in: try scene.opened()) && fate(of: key) == .key)
        }
        if whileOpen { try scene.tpm.start() } else { try scene.tpm.undoClearing() }
        try unlock()
        #expect(try scene.tpm.indices() == [] && effacement() == EffacementState())
        #expect(try fate(of: lasting) == .effaced && fileVersion() == 2)
    }

    @Test func whatIsLeftInATPMThatDoesNotComeBackIsForgottenByWhoSaysSo() throws {
        try keepInTPM()
        try scene.tpm.clear()
        let door = try scene.door()
        try door.resetPasscode(with: code, to: Self.other)
        #expect(try effacement().left.count == 1)
        try door.giveEffacementUp(passcode: Self.other)
        #expect(try effacement() == EffacementState() && fileVersion() == 2)
        #expect { try door.giveEffacementUp(passcode: Self.other) } throws: { error in
            (error as? KeychainError)?.reason == .protectorRefused(why: "no TPM has anything of it")
        }
    }

    /// The code as a protector is written before the keybag.
    @Test func aCodeThatTheTPMKeepsFromBeingMadeIsNoProtectorEither() throws {
        let door = try scene.door()
        try door.removeRecoveryCode(passcode: Self.passcode)
        try door.keepEffacement(in: address, passcode: Self.passcode, code: nil)
        let code = try door.makeRecoveryCode(passcode: Self.passcode)
        let before = try scene.kinds
        scene.tpm.stop()
        #expect { try door.confirmRecoveryCode(code) } throws: { ($0 as? KeychainError)?.status == .notAvailable }
        #expect(try scene.kinds == before && !scene.kinds.contains("recovery-code"))
        #expect(try !door.state().hasRecoveryCode)
        try scene.tpm.start()
        try door.confirmRecoveryCode(code)
        #expect(try scene.kinds == before + ["recovery-code"] && door.state().hasRecoveryCode)
        try startAgain()
        try scene.door().unlock(with: .recoveryCode(code))
        #expect(try fate(of: lasting) == .key)
    }

    @Test func whereTheRootKeyIsBoundToItAsWellTheCodeOpensTheRest() throws {
        try scene.addTPM(Self.passcode)
        try scene.remove("software-file", passcode: Self.passcode, code: code)
        try keepInTPM()
        try scene.tpm.clear()
        try scene.startAgain()
        #expect(scene.refusal() != nil)
        try scene.door().unlock(with: .recoveryCode(code))
        _ = try scene.open()
        #expect(try fate(of: key) == .key && fate(of: lasting) == .locked)
    }

    // MARK: Others in the TPM

    /// Two keychains have an index each, and one does not touch the other's.
    @Test func twoKeychainsShareATPM() throws {
        try keepInTPM()
        let mine = try scene.tpm.indices()
        let second = try HardwareScene()
        try second.door().setPasscode(Self.other)
        try second.door().keepEffacement(in: address, passcode: Self.other, code: nil)
        #expect(try scene.tpm.indices().count == 2)
        try second.door().removePasscode(with: .passcode(Self.other))
        #expect(try scene.tpm.indices() == mine)
        try startAgain()
        try unlock()
        #expect(try fate(of: lasting) == .key)
    }

    @Test func anIndexOfSomebodyElseIsNeitherTrustedNorTouched() throws {
        try keepInTPM()
        let handle = try #require(try scene.tpm.indices().first)
        try scene.tpm.own("nvundefine", handle)
        try scene.tpm.own("nvdefine", handle, "--size=92", "--attributes=authread|authwrite|no_da")
        try startAgain()
        try unlock()
        #expect(try fate(of: key) == .key && fate(of: lasting) == .effaced)
        try scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try scene.tpm.indices() == [handle] && effacement().left == [])
    }

    @Test func nobodyReadsItWithoutThePassword() throws {
        try keepInTPM()
        let handle = try #require(try scene.tpm.indices().first)
        #expect(throws: (any Error).self) { try scene.tpm.own("nvread", handle) }
        #expect(throws: (any Error).self) { try scene.tpm.own("nvread", "--hierarchy=o", handle) }
        #expect(throws: (any Error).self) { try scene.tpm.own("nvread", "--auth=guess", handle) }
        // Wrong passwords of ours are counted by nobody.
        guard case .described(let tpm) = try HardwareScene.hardware.ask(.describe(address), patience: .seconds(5))
        else { throw CocoaError(.coderInvalidValue) }
        #expect(tpm.failedTries == 0)
    }

    @Test func aTPMWithAnOwnersPasswordIsRefused() throws {
        try scene.tpm.own("changeauth", "--object-context=owner", "secret")
        try expectRefusal("the TPM's owner has set a password") { try keepInTPM() }
        try scene.tpm.own("changeauth", "--object-context=owner", "--object-auth=secret")
        try unlock()
        #expect(try effacement() == EffacementState() && scene.tpm.indices() == [])
        try keepInTPM()
        #expect(try effacement() == EffacementState(tpm: address))
    }

    @Test func aTPMThatIsFullIsRefused() throws {
        var number = 0x0150_0000
        for size in [2048, 64, 8] {
            while (try? scene.tpm.own("nvdefine", "0x\(String(number, radix: 16))", "--size=\(size)")) != nil {
                number += 1
            }
        }
        try expectRefusal("the TPM has no room left") { try keepInTPM() }
        #expect(try scene.tpm.indices().allSatisfy { $0.hasPrefix("0x15") })
    }

    /// As the program that talks to it says it: the place is another's.
    @Test func aHandleThatIsTakenIsLeftAlone() throws {
        let hardware = HardwareScene.hardware
        let secret = SharedSecret(.random(count: 32))
        let record = SharedSecret(.random(count: HardwareProtocol.recordByteCount))
        let storageKey = try hardware.storageKey(of: address, patience: .seconds(5))
        func index(_ label: UInt8, _ storageKey: [UInt8]) throws -> TPMIndex {
            try #require(
                TPMIndex(
                    address: address, handle: 0x0180_0007, label: [UInt8](repeating: label, count: 32),
                    storageKey: storageKey))
        }
        func refusal(_ index: TPMIndex) -> String? {
            switch hardware.define(index, password: secret, record: record, patience: .seconds(5)) {
            case .refused(let why): "\(why)"
            case .defined, .unknown: nil
            }
        }
        let first = try index(1, storageKey)
        #expect(refusal(first) == nil)
        let second = try index(2, storageKey)
        #expect(refusal(second)?.hasPrefix("another program has that place in the TPM") == true)
        let elsewhere = try index(1, storageKey.reversed())
        #expect(refusal(elsewhere)?.hasPrefix("the TPM was cleared, or it is another one") == true)
        try hardware.undefine(second, patience: .seconds(5))
        let back = try hardware.record(in: first, password: secret, patience: .seconds(5))
        #expect(back?.bytes.isEqual(to: record.bytes) == true)
        // Anybody may say that: it is not gone.
        #expect {
            try hardware.record(in: first, password: .init(.random(count: 32)), patience: .seconds(5))
        } throws: { "\($0)".hasPrefix("somebody put another secret in its place") }
        try hardware.undefine(first, patience: .seconds(5))
        #expect(try hardware.record(in: first, password: secret, patience: .seconds(5)) == nil)
    }

    // MARK: Refused and cut short

    @Test func whatIsNotRightChangesNothing() throws {
        let door = try scene.door()
        let nowhere = try #require(TPMAddress("swtpm:/nonexistent"))
        #expect { try door.keepEffacement(in: address, passcode: Self.other, code: code) } throws: {
            ($0 as? KeychainError)?.reason == .authenticationFailed
        }
        #expect { try door.keepEffacement(in: address, passcode: Self.passcode, code: .text("no code")) } throws: {
            $0 is KeychainError
        }
        try expectRefusal("the recovery code is needed as well") {
            try door.keepEffacement(in: address, passcode: Self.passcode, code: nil)
        }
        #expect(try scene.tpm.indices() == [] && fileVersion() == 2)
        #expect { try door.keepEffacement(in: nowhere, passcode: Self.passcode, code: code) } throws: { error in
            guard case .deviceFailed(let why)? = (error as? KeychainError)?.reason else { return false }
            return why.hasPrefix("there is no such TPM")
        }
        // Not even that it was tried.
        #expect(try effacement() == EffacementState() && fileVersion() == 2)
        #expect(try fate(of: lasting) == .key && fate(of: key) == .key)
    }
}
