import Dispatch
import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// What a passcode and a recovery code open, on disk and in memory.
@Suite struct PasscodeTests {
    private static let bagClasses: [ProtectionClass] = [
        .whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
    ]
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    /// A keybag on disk whose passcode is "1234".
    private func home(passcode: String? = "1234") throws -> EnclaveHome {
        let home = try EnclaveHome()
        guard let passcode else { return home }
        let enclave = try home.cheap()
        try enclave.setPasscode(.text(passcode))
        enclave.close()
        return home
    }

    @Test func withAPasscodeEveryClassOpensAndASecondOpeningIsLocked() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let old = try MadeKey(in: enclave)
        try enclave.setPasscode(.text("1234"))
        #expect(enclave.state().lock == .unlocked)
        #expect(enclave.state().openClasses == Set(ProtectionClass.allCases))
        #expect(try old.opens(in: enclave))
        let fresh = try MadeKey(in: enclave)
        #expect(fresh.wrapped.generation == 2)
        let lasting = try MadeKey(in: enclave, .row(Self.akpu))
        enclave.close()

        let again = try home.cheap()
        #expect(again.state().lock == .beforeFirstUnlock)
        #expect(again.state().openClasses == [.always, .alwaysThisDeviceOnly])
        for made in [old, fresh, lasting] {
            #expect(again.openRowKeys([(made.binding, made.wrapped)]).map(\.fate) == [.locked])
        }
        try again.unlock(with: .passcode(.text("1234")))
        for made in [old, fresh, lasting] { #expect(try made.opens(in: again)) }
    }

    @Test func lockingClosesWhatIsOpenWhileUnlockedAndNothingElse() throws {
        let home = try home()
        let enclave = try home.cheap()
        try enclave.unlock(with: .passcode(.text("1234")))
        let kept = try [.always, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly].map {
            try MadeKey(in: enclave, .row($0))
        }
        let closed = try [.whenUnlocked, .whenUnlockedThisDeviceOnly, Self.akpu].map {
            try MadeKey(in: enclave, .row($0))
        }
        try enclave.lock()
        #expect(enclave.state().lock == .locked)
        for made in kept { #expect(try made.opens(in: enclave)) }
        for made in closed {
            #expect(enclave.openRowKeys([(made.binding, made.wrapped)]).map(\.fate) == [.locked])
            #expect(enclave.makeRowKeys(for: [made.binding]).map(\.fate) == [.locked])
            #expect(enclave.makeMetadataKey(for: made.binding.protectionClass).fate == .locked)
        }
        try enclave.unlock(with: .passcode(.text("1234")))
        for made in closed { #expect(try made.opens(in: enclave)) }
    }

    @Test func aWrongPasscodeChangesNothing() throws {
        let home = try home()
        let enclave = try home.cheap()
        let before = try home.contents()
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("12345"))) }
        expectRefusal(.authenticationFailed) { try enclave.changePasscode(from: .text("4321"), to: .text("next")) }
        expectRefusal(.authenticationFailed) { try enclave.removePasscode(with: .passcode(.text("9999"))) }
        expectRefusal(.authenticationFailed) { _ = try enclave.makeRecoveryCode(passcode: .text("0000")) }
        #expect(enclave.state().lock == .beforeFirstUnlock)
        for file in EnclaveHome.keyFiles { #expect(try home.contents()[file] == before[file]) }
    }

    @Test func changingKeepsEverything() throws {
        let home = try home()
        let enclave = try home.cheap()
        try enclave.unlock(with: .passcode(.text("1234")))
        let made =
            try Self.bagClasses.map { try MadeKey(in: enclave, .row($0)) } + [MadeKey(in: enclave, .row(Self.akpu))]
        try enclave.changePasscode(from: .text("1234"), to: .text("another one"))
        for key in made { #expect(try key.opens(in: enclave)) }
        enclave.close()
        let again = try home.cheap()
        expectRefusal(.authenticationFailed) { try again.unlock(with: .passcode(.text("1234"))) }
        try again.unlock(with: .passcode(.text("another one")))
        for key in made { #expect(try key.opens(in: again)) }
    }

    /// What a thief has of the folder from before: a changed passcode closes nothing that
    /// the one before opens there, not even what is stored later (THREAT_MODEL T13a).
    @Test func anOldCopyOfTheKeybagOpensWithTheOldPasscode() throws {
        let home = try home()
        let stolen = try home.contents()
        let enclave = try home.cheap()
        try enclave.changePasscode(from: .text("1234"), to: .text("another one"))
        let later = try MadeKey(in: enclave)
        enclave.close()
        for (name, bytes) in stolen { try home.write(name, bytes) }
        let thief = try home.cheap()
        expectRefusal(.authenticationFailed) { try thief.unlock(with: .passcode(.text("another one"))) }
        try thief.unlock(with: .passcode(.text("1234")))
        #expect(try later.opens(in: thief))
        thief.close()

        // Taken away and set anew, it is worth nothing for what is stored then.
        let fresh = try EnclaveHome()
        let renewed = try fresh.cheap()
        try renewed.setPasscode(.text("1234"))
        let old = try fresh.contents()
        try renewed.removePasscode(with: .passcode(.text("1234")))
        try renewed.setPasscode(.text("another one"))
        let safe = try MadeKey(in: renewed)
        renewed.close()
        for (name, bytes) in old { try fresh.write(name, bytes) }
        let again = try fresh.cheap()
        try again.unlock(with: .passcode(.text("1234")))
        #expect(again.openRowKeys([(safe.binding, safe.wrapped)]).map(\.fate) == [.noClassKey])
    }

    @Test func removingDestroysWhatLastsAsLongAsAPasscodeIsSet() throws {
        let home = try home()
        let enclave = try home.cheap()
        try enclave.unlock(with: .passcode(.text("1234")))
        let kept = try MadeKey(in: enclave)
        let lost = try MadeKey(in: enclave, .row(Self.akpu))
        let before = try home.contents()
        try enclave.removePasscode(with: .passcode(.text("1234")))
        #expect(try kept.opens(in: enclave))
        #expect(enclave.openRowKeys([(lost.binding, lost.wrapped)]).map(\.fate) == [.effaced])
        #expect(enclave.makeRowKeys(for: [.row(Self.akpu)]).map(\.fate) == [.noClassKey])
        enclave.close()
        // No byte of the secret is left in this file.
        #expect(try home.read(EffacementFile.fileName).allSatisfy { $0 == 0 })
        #expect(before[EffacementFile.fileName]?.contains { $0 != 0 } == true)

        // The old keybag brought back, with the passcode known: still gone.
        for name in ["keybag.0", "keybag.1"] { try home.write(name, try #require(before[name])) }
        let old = try home.cheap()
        try old.unlock(with: .passcode(.text("1234")))
        #expect(try kept.opens(in: old))
        #expect(old.openRowKeys([(lost.binding, lost.wrapped)]).map(\.fate) == [.effaced])
        #expect(!old.state().openClasses.contains(Self.akpu))
    }

    @Test func aNewPasscodeDoesNotBringBackWhatTheOldOneKept() throws {
        let home = try home()
        let enclave = try home.cheap()
        try enclave.unlock(with: .passcode(.text("1234")))
        let lost = try MadeKey(in: enclave, .row(Self.akpu))
        try enclave.removePasscode(with: .passcode(.text("1234")))
        try enclave.setPasscode(.text("1234"))
        #expect(enclave.openRowKeys([(lost.binding, lost.wrapped)]).map(\.fate) == [.effaced])
        #expect(enclave.describe().effacedBelow == 2)
        let fresh = try MadeKey(in: enclave, .row(Self.akpu))
        #expect(fresh.wrapped.generation == 2)
        try enclave.lock()
        // Also while locked it is known to be gone.
        #expect(enclave.openRowKeys([(lost.binding, lost.wrapped)]).map(\.fate) == [.effaced])
        #expect(enclave.openRowKeys([(fresh.binding, fresh.wrapped)]).map(\.fate) == [.locked])
    }

    /// Whoever copied the folder before there was a passcode has the old class keys,
    /// and opens nothing that was sealed since.
    @Test func theFirstPasscodeGivesClassKeysANewGeneration() throws {
        let home = try home(passcode: nil)
        let enclave = try home.cheap()
        let before = try home.contents()
        try enclave.setPasscode(.text("1234"))
        let after = try Self.bagClasses.map { try MadeKey(in: enclave, .row($0)) }
        enclave.close()
        let thief = try EnclaveHome()
        _ = try PrivateDirectory(thief.path(""), creating: true)
        for (name, bytes) in before { try thief.write(name, bytes) }
        let stolen = try thief.cheap()
        for made in after {
            #expect(stolen.openRowKeys([(made.binding, made.wrapped)]).map(\.fate) == [.noClassKey])
            let renamed = WrappedKey(generation: 1, box: made.wrapped.box)
            #expect(stolen.openRowKeys([(made.binding, renamed)]).map(\.fate) == [.damaged])
        }
    }

    // MARK: Recovery code

    @Test func aRecoveryCodeOpensOnceItWasTypedBack() throws {
        let home = try home()
        let enclave = try home.cheap()
        let code = try enclave.makeRecoveryCode(passcode: .text("1234"))
        #expect(!enclave.state().hasRecoveryCode)
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .recoveryCode(code)) }
        expectRefusal(.authenticationFailed) {
            try enclave.confirmRecoveryCode(SharedSecret(RecoveryCode.text(of: .random(count: 16))))
        }
        try enclave.confirmRecoveryCode(code.lowercasedWithSpaces)
        #expect(enclave.state().hasRecoveryCode)
        let made = try MadeKey(in: enclave, .row(Self.akpu))
        enclave.close()
        let again = try home.cheap()
        try again.unlock(with: .recoveryCode(code))
        #expect(try made.opens(in: again))
    }

    @Test func aForgottenPasscodeIsResetAndWhatItKeptIsLost() throws {
        let home = try home()
        let enclave = try home.cheap()
        let code = try enclave.makeRecoveryCode(passcode: .text("1234"))
        try enclave.confirmRecoveryCode(code)
        let kept = try MadeKey(in: enclave)
        let lost = try MadeKey(in: enclave, .row(Self.akpu))
        try enclave.resetPasscode(with: code, to: .text("a new one"))
        enclave.close()
        let again = try home.cheap()
        expectRefusal(.authenticationFailed) { try again.unlock(with: .passcode(.text("1234"))) }
        try again.unlock(with: .passcode(.text("a new one")))
        #expect(try kept.opens(in: again))
        #expect(again.openRowKeys([(lost.binding, lost.wrapped)]).map(\.fate) == [.effaced])
        // The code is still the person's.
        try again.lock()
        try again.unlock(with: .recoveryCode(code))
    }

    @Test func aNewRecoveryCodeReplacesTheOldOne() throws {
        let home = try home()
        let enclave = try home.cheap()
        let first = try enclave.makeRecoveryCode(passcode: .text("1234"))
        try enclave.confirmRecoveryCode(first)
        let made = try MadeKey(in: enclave, .row(Self.akpu))
        let second = try enclave.makeRecoveryCode(passcode: .text("1234"))
        try enclave.confirmRecoveryCode(second)
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .recoveryCode(first)) }
        try enclave.unlock(with: .recoveryCode(second))
        #expect(try made.opens(in: enclave))
        // The slot that went lay on the disk: its wraps are worth nothing any more.
        #expect(try MadeKey(in: enclave).wrapped.generation == 3)
        try enclave.removeRecoveryCode(passcode: .text("1234"))
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .recoveryCode(second)) }
        #expect(try made.opens(in: enclave))
    }

    // MARK: Attempts

    @Test func failedAttemptsDelayTheNext() throws {
        let clock = ManualClock()
        let home = try home()
        let enclave = try home.cheap(clock: clock)
        for number in 1...4 {
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("wrong\(number)"))) }
        }
        // The same again does not count.
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("wrong4"))) }
        #expect(enclave.state().failedAttempts == 4)
        let delays = [60, 300, 900, 900, 3600, 3600]
        for (number, seconds) in delays.enumerated() {
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("bad \(number)"))) }
            // Not even the right one is looked at.
            expectRefusal(.attemptsDelayed(seconds: seconds)) { try enclave.unlock(with: .passcode(.text("1234"))) }
            clock.advance(by: .seconds(seconds - 1))
            expectRefusal(.attemptsDelayed(seconds: 1)) { try enclave.unlock(with: .passcode(.text("1234"))) }
            clock.advance(by: .seconds(1))
        }
        // The count outlives the process; its time begins anew.
        enclave.close()
        let again = try home.cheap(clock: clock)
        #expect(again.state().failedAttempts == 10)
        expectRefusal(.attemptsDelayed(seconds: 3600)) { try again.unlock(with: .passcode(.text("1234"))) }
        clock.advance(by: .seconds(3600))
        try again.unlock(with: .passcode(.text("1234")))
        #expect(again.state().failedAttempts == 0)
        again.close()
        #expect(try home.cheap(clock: clock).state().failedAttempts == 0)
    }

    /// Time that the machine slept through has passed; what anybody may set is no time.
    @Test func aDelayPassesWhileTheMachineSleepsAndNoSetClockEndsIt() throws {
        let clock = ManualClock()
        let enclave = try home().cheap(clock: clock)
        for number in 1...5 {
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("wrong\(number)"))) }
        }
        for jump: Double in [-86_400, 86_400 * 365] {
            clock.setWallClock(clock.wallClock + jump)
            expectRefusal(.attemptsDelayed(seconds: 60)) { try enclave.unlock(with: .passcode(.text("1234"))) }
        }
        clock.sleep(for: .seconds(59))
        expectRefusal(.attemptsDelayed(seconds: 1)) { try enclave.unlock(with: .passcode(.text("1234"))) }
        clock.sleep(for: .seconds(1))
        try enclave.unlock(with: .passcode(.text("1234")))
    }

    /// A prompt's answers count as attempts do, and one that comes while another is
    /// derived is looked at after it.
    @Test func answersThatComeAtOnceAreLookedAtOneAfterTheOther() throws {
        let home = try home()
        let enclave = try home.cheap(clock: ManualClock())
        try enclave.unlock(with: .passcode(.text("1234")))
        let session = try enclave.openSession()
        let question = AuthenticationCase(.policy(.deviceOwner), question: PersonQuestion(purpose: .agree))
        let name = try #require(try enclave.ask(question, in: session))
        let reasons = Mutex<[Reason]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { number in
            do throws(KeychainError) { try enclave.agree(to: name, with: .passcode(.text("wrong \(number)"))) } catch {
                reasons.withLock { $0.append(error.reason) }
            }
        }
        let told = reasons.withLock { $0 }
        #expect(told.count { $0 == .authenticationFailed } == 5)
        #expect(told.count { $0 == .attemptsDelayed(seconds: 60) } == 7)
        #expect(enclave.state().failedAttempts == 5)
    }

    @Test func aCountThatNobodyOfOursWroteDelaysAsWell() throws {
        let home = try home()
        for copy in 0..<2 { try home.write("attempts.\(copy)", Array(repeating: 7, count: 100)) }
        let enclave = try home.cheap(clock: ManualClock())
        expectRefusal(.attemptsDelayed(seconds: 60)) { try enclave.unlock(with: .passcode(.text("1234"))) }
    }

    // MARK: Refusals

    @Test func whatMakesNoSenseIsRefused() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        expectRefusal(.passcodeNotSet) { try enclave.lock() }
        expectRefusal(.passcodeNotSet) { try enclave.unlock(with: .passcode(.text("1234"))) }
        expectRefusal(.passcodeNotSet) { try enclave.removePasscode(with: .passcode(.text("1234"))) }
        expectRefusal(.passcodeNotSet) { _ = try enclave.makeRecoveryCode(passcode: .text("1234")) }
        expectRefusal(.passcodeRefused(why: "it has fewer than 4 characters")) { try enclave.setPasscode(.text("123")) }
        expectRefusal(.passcodeRefused(why: "it has more than 1024 bytes")) {
            try enclave.setPasscode(.text(String(repeating: "x", count: 1025)))
        }
        try enclave.setPasscode(.text("1234"))
        expectRefusal(.passcodeIsSet) { try enclave.setPasscode(.text("5678")) }
        expectRefusal(.authenticationFailed) { try enclave.unlock(with: .recoveryCode(.text("ABCD"))) }
    }

    @Test func effacementThatIsLostClosesItsClassAlone() throws {
        let home = try home()
        try home.remove(EffacementFile.fileName)
        let enclave = try home.cheap()
        try enclave.unlock(with: .passcode(.text("1234")))
        #expect(enclave.state().openClasses == Set(ProtectionClass.allCases).subtracting([Self.akpu]))
        #expect(enclave.makeRowKeys(for: [.row(Self.akpu)]).map(\.fate) == [.noClassKey])
        #expect(enclave.describe().unrepairedFiles == [EffacementFile.fileName])
        // A new passcode begins it anew.
        try enclave.changePasscode(from: .text("1234"), to: .text("5678"))
        #expect(enclave.state().openClasses == Set(ProtectionClass.allCases))
    }

    @Test func rewrappedKeysAreTheSameKeys() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let constrained = AccessControl(protection: "ak", flags: [])!.encoded
        let made = try MadeKey(in: enclave, .row(accessControl: constrained))
        try enclave.setPasscode(.text("1234"))
        let outcome = enclave.rewrapRowKeys([(made.binding, made.wrapped)])[0]
        guard case .wrapped(let wrapped) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(wrapped.generation == 2 && wrapped.box != made.wrapped.box)
        #expect(enclave.openRowKeys([(made.binding, wrapped)]).map(\.secret) == [made.secret])
        try enclave.retire(.whenUnlocked, below: 2)
        #expect(enclave.openRowKeys([(made.binding, made.wrapped)]).map(\.fate) == [.noClassKey])
        #expect(enclave.openRowKeys([(made.binding, wrapped)]).map(\.secret) == [made.secret])
        try enclave.lock()
        #expect(enclave.rewrapRowKeys([(made.binding, wrapped)]) == [.locked])
    }
}

@Suite struct RecoveryCodeTests {
    private static func parse(_ typed: some Collection<UInt8>) -> [UInt8]? {
        guard let code = RecoveryCode.parse(SecretBytes(copying: Array(typed))) else { return nil }
        return code.insecureArray()
    }

    @Test func readsWhatItWrites() {
        for _ in 0..<200 {
            let bytes = SecretBytes.random(count: 16)
            let text = RecoveryCode.text(of: bytes)
            #expect(text.count == 34)
            #expect(Self.parse(text.insecureArray()) == bytes.insecureArray())
        }
    }

    @Test func moreOrLessThanACodeIsNone() {
        let text = RecoveryCode.text(of: .random(count: 16)).insecureArray()
        #expect(Self.parse(text + Array("0".utf8)) == nil)
        #expect(Self.parse(text + text) == nil)
        #expect(Self.parse(text.dropLast()) == nil)
        #expect(Self.parse([]) == nil)
        let spaces = Array(repeating: UInt8(ascii: " "), count: 128 - text.count)
        #expect(Self.parse(text + spaces) != nil && Self.parse(text + spaces + spaces) == nil)
    }

    /// Every slip in one place, and every two neighbours exchanged.
    @Test func aSlipOfThePenIsSeen() throws {
        let text = RecoveryCode.text(of: SecretBytes(copying: Array(0..<16))).insecureArray()
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        var missed = 0
        var slips = 0
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            for other in alphabet where other != text[index] {
                var typed = text
                typed[index] = other
                slips += 1
                if Self.parse(typed) != nil { missed += 1 }
            }
        }
        // One in 4096 by chance.
        #expect(slips == 28 * 31 && missed <= 4)
    }

    @Test(arguments: ["", "ABCD", "UUUU-UUUU-UUUU-UUUU-UUUU-UUUU-UUUU", String(repeating: "0", count: 200), "é"])
    func whatIsNoCodeIsNone(text: String) {
        #expect(Self.parse(Array(text.utf8)) == nil)
    }
}

@Suite struct PasscodeCostTests {
    @Test func aSlowMachineGetsTheFloor() throws {
        let cost = try PasscodeCost.calibrate { _ in .seconds(2) }
        #expect(cost == PassphraseCost(passes: 3, kibibytes: 65_536))
    }

    @Test func aFastMachineGetsMoreMemoryThenMorePasses() throws {
        let memory = try PasscodeCost.calibrate { .milliseconds(Int64($0.kibibytes) / 2000) }
        #expect(memory == PassphraseCost(passes: 3, kibibytes: 262_144))
        let passes = try PasscodeCost.calibrate { .milliseconds(Int64($0.passes) * 10) }
        #expect(passes == PassphraseCost(passes: 8, kibibytes: 262_144))
        let most = try PasscodeCost.calibrate { _ in .zero }
        #expect(most == PassphraseCost(passes: 16, kibibytes: 262_144))
    }

    @Test func withoutMemoryThereIsNoPasscode() {
        #expect(throws: SystemCallError.self) {
            _ = try PasscodeCost.calibrate { _ throws(SystemCallError) in throw .noMemory }
        }
    }
}

extension SharedSecret {
    static func text(_ text: String) -> SharedSecret { SharedSecret(SecretBytes(copying: Array(text.utf8))) }

    /// As somebody may type it.
    fileprivate var lowercasedWithSpaces: SharedSecret {
        let text = String(decoding: bytes.insecureArray(), as: UTF8.self)
        return .text(
            text.lowercased().replacingOccurrences(of: "-", with: " ").replacingOccurrences(of: "0", with: "o"))
    }
}

extension EnclaveHome {
    /// With passcodes that cost next to nothing.
    func cheap(
        clock: any KeychainClock = SystemClock(), biometry: (any BiometrySource)? = nil
    ) throws -> InProcessEnclave {
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        return try InProcessEnclave(
            dataDirectory: dataDirectory, expecting: .anyOrNew, clock: clock, passcodeCost: cost,
            biometry: biometry)
    }
}
