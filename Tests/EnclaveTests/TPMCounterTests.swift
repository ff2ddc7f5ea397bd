import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// An older copy of the enclave's folder, where a TPM counts: on a software TPM and with the
/// real latchkey-hardware.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct TPMCounterTests {
    private typealias Scene = CounterScene

    // MARK: An older copy

    enum Change: String, CaseIterable {
        case passcode, slot, removal, reset, recoveryCode, policy, guardian
    }

    private func perform(_ change: Change, _ scene: CounterScene) throws {
        let door = try scene.scene.door()
        switch change {
        case .passcode: try door.changePasscode(from: Scene.passcode, to: Scene.other)
        case .slot:
            let slot = try #require(try door.slots().first { $0.kind == "credential" })
            _ = try door.removeSlot(slot.identifier, passcode: Scene.passcode, code: scene.code)
        case .removal: try door.removePasscode(with: .passcode(Scene.passcode))
        case .reset: try door.resetPasscode(with: scene.code, to: Scene.other)
        case .recoveryCode: try scene.makeCode()
        case .policy: try door.setLockPolicy(try #require(LockPolicy(idleSeconds: 900)), passcode: Scene.passcode)
        case .guardian: try door.guardPasscode(by: scene.address, passcode: Scene.passcode, code: scene.code)
        }
    }

    /// It is refused with everything that opened it, and nothing of it is changed.
    @Test(arguments: Change.allCases)
    func anOlderCopyIsRefused(_ change: Change) throws {
        let scene = try CounterScene()
        if change == .slot { _ = try scene.scene.door().addCredentialSlot(passcode: Scene.passcode) }
        let before = try scene.copy()
        let code = scene.code
        try perform(change, scene)
        #expect(try scene.counter == CounterState(tpm: scene.address))
        let after = try scene.copy()
        try scene.putBack(before)
        #expect(scene.refusal()?.hasPrefix("an older copy of it was put back") == true)
        #expect(throws: KeychainError.self) { try scene.unlock() }
        #expect { try scene.scene.door().unlock(with: .recoveryCode(code)) } throws: { error in
            if case .folderRefused = (error as? KeychainError)?.reason { true } else { false }
        }
        #expect(try scene.copy() == before)
        // The newest is what it was.
        try scene.putBack(after)
        #expect(scene.refusal() == nil && scene.scene.refusal() == nil)
    }

    @Test func aCopyWithFewerFailedAttemptsIsRefused() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        for number in 1...3 {
            #expect(scene.reason { try scene.unlock(.text("wrong \(number)")) } == .authenticationFailed)
        }
        #expect(try scene.state.failedAttempts == 3)
        let after = try scene.copy()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.putBack(after)
        _ = try scene.scene.open()
        #expect(try scene.state.failedAttempts == 3)
        try scene.unlock()
        #expect(try scene.state.failedAttempts == 0 && scene.opens())
        // And what says three is older than what says none.
        try scene.putBack(after)
        #expect(scene.refusal() != nil)
    }

    /// One file from before beside the others, and none.
    @Test func filesOfTwoTimesAreRefused() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        let after = try scene.copy()
        let isAttempts = { (name: String) in name.hasPrefix("attempts") }
        try scene.putBack(before.filter { !isAttempts($0.key) }.merging(after.filter { isAttempts($0.key) }) { $1 })
        #expect(scene.refusal()?.hasPrefix("one of its files is older") == true)
        try scene.putBack(after.filter { !isAttempts($0.key) })
        #expect(scene.refusal()?.hasPrefix("the file `attempts`") == true)
        var spoilt = after
        for name in ["attempts.0", "attempts.1"] { spoilt[name]?[40] ^= 1 }
        try scene.putBack(spoilt)
        #expect(scene.refusal()?.hasPrefix("the file `attempts`") == true)
        // Either copy of it will do, and mends the other.
        for name in ["attempts.0", "attempts.1"] {
            var one = after
            one[name] = Array(try #require(one[name]).prefix(20))
            try scene.putBack(one)
            #expect(scene.scene.refusal() == nil)
            #expect(try scene.copy()[name] == after[name])
        }
    }

    // MARK: An attempt

    @Test func whatIsNotCountedIsNotTried() throws {
        let scene = try CounterScene()
        try scene.startAgain()
        _ = try scene.scene.open()
        scene.hardware.refuse(.failed("it was taken out"))
        for passcode in [Scene.passcode, Scene.other] {
            #expect(scene.reason { try scene.unlock(passcode) } == .deviceFailed(why: "it was taken out"))
        }
        // It does not count, not here and not at the next start; and the code opens all the same.
        #expect(try scene.state.failedAttempts == 0 && scene.state.lock == .beforeFirstUnlock)
        #expect(try scene.counter.fault == "it was taken out")
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
        #expect(try scene.opens())
        try scene.startAgain()
        _ = try scene.scene.open()
        #expect(try scene.state.failedAttempts == 0)
        scene.hardware.heal()
        try scene.unlock()
        #expect(try scene.counter == CounterState(tpm: scene.address) && scene.opens())
    }

    /// It was told wrong before: it is no new one.
    @Test func theSameWrongOneIsCountedOnce() throws {
        let scene = try CounterScene()
        let before = scene.hardware.raises
        for _ in 1...3 { #expect(scene.reason { try scene.unlock(Scene.other) } == .authenticationFailed) }
        #expect(try scene.state.failedAttempts == 1)
        #expect(scene.hardware.raises == before + 1)
    }

    @Test func attemptsWithTheLoginPasswordAreCounted() throws {
        let scene = try CounterScene()
        _ = try scene.scene.door().addLoginSlot(.text("login words"), passcode: Scene.passcode)
        let before = scene.hardware.raises
        #expect(scene.reason { try scene.scene.door().unlock(byLogin: .text("no words")) } == .authenticationFailed)
        #expect(try scene.state.failedAttempts == 1)
        try scene.scene.door().unlock(byLogin: .text("login words"))
        #expect(scene.hardware.raises == before + 2)
        // What was mistyped in its place is taken back, and nothing else: whoever has that password
        // alone does not try passcodes for ever.
        #expect(try scene.state.failedAttempts == 0)
        #expect(scene.reason { try scene.scene.door().unlock(byLogin: .text("guess")) } == .authenticationFailed)
        #expect(scene.reason { try scene.unlock(.text("guess")) } == .authenticationFailed)
        #expect(scene.hardware.raises == before + 4)
        try scene.scene.door().unlock(byLogin: .text("login words"))
        #expect(try scene.state.failedAttempts == 1)
        try scene.startAgain()
        _ = try scene.scene.open()
        #expect(try scene.state.failedAttempts == 1)
    }

    /// The enclave ends where the file says a count that the TPM does not have yet.
    @Test(arguments: [false, true])
    func aCountThatWasCutShortIsMadeGood(isChange: Bool) throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        let home = scene.scene.home
        scene.hardware.cut { try? home.contents() }
        if isChange {
            // With the code, so that the change alone is counted.
            try scene.scene.door().resetPasscode(with: scene.code, to: Scene.other)
            #expect(try scene.counter.fault != nil)
        } else {
            #expect(throws: KeychainError.self) { try scene.unlock() }
        }
        let left = try #require(scene.hardware.left)
        scene.hardware.heal()
        try scene.putBack(left)
        #expect(scene.scene.refusal() == nil)
        try scene.unlock(isChange ? Scene.other : Scene.passcode)
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
    }

    @Test func aChangeThatTheTPMDidNotCountIsToldAndCountedNext() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        scene.hardware.refuse(.failed("it was taken out"))
        try scene.scene.door().resetPasscode(with: scene.code, to: Scene.other)
        #expect(try scene.counter == CounterState(tpm: scene.address, fault: "it was taken out"))
        scene.hardware.heal()
        try scene.startAgain()
        _ = try scene.scene.open()
        try scene.unlock(Scene.other)
        #expect(try scene.counter.fault == nil)
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
    }

    // MARK: A disk and a TPM that do not do as they should

    @Test(arguments: ["attempts.0", "attempts.1"])
    func oneCopyThatCannotBeWrittenRefusesNothing(_ name: String) throws {
        let scene = try CounterScene()
        try scene.scene.door().lock()
        try scene.block(name)
        try scene.unlock()
        #expect(try scene.opens())
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        #expect(try scene.counter.fault == nil)
    }

    @Test func withoutEitherNothingIsTriedAndTheCodeOpens() throws {
        let scene = try CounterScene()
        try scene.scene.door().lock()
        let raises = scene.hardware.raises
        try scene.block("attempts.0", "attempts.1")
        guard case .folderUnusable? = scene.reason({ try scene.unlock() }) else {
            Issue.record("it was tried")
            return
        }
        #expect(scene.hardware.raises == raises)
        #expect(try scene.state.failedAttempts == 0)
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
        #expect(try scene.opens())
    }

    @Test func aChangeWhoseRecordCannotBeWrittenLeavesAFolderThatOpens() throws {
        let scene = try CounterScene()
        let daemon = try scene.scene.opened()
        let sealed = try #require(try daemon.sealAudit([1], fromFile: 0))
        _ = try daemon.confirmAudit(sealed)
        try scene.block("audit")
        // New keys, and so another chain of the record.
        try scene.scene.door().resetPasscode(with: scene.code, to: Scene.other)
        #expect(try scene.counter.fault == nil)
        try FileManager.default.removeItem(atPath: scene.scene.home.path("audit"))
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock(Scene.other)
        #expect(try scene.opens())
    }

    /// TPM2_NV_Increment (Part 2, 6.5.2), and what it is put off with (TPM_RC_NV_RATE).
    private static let (increment, rate): (UInt32, UInt32) = (0x134, 0x920)

    @Test(.enabled(if: LyingRelay.isPossible, "there is no python3"))
    func aTPMThatPutsWritingOffIsAskedAgain() throws {
        let scene = try CounterScene()
        let relay = try LyingRelay(before: scene.scene.tpm, answering: Self.increment, with: Self.rate, refusing: 3)
        try scene.unlock()
        try relay.end()
        #expect(try scene.counter.fault == nil)
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
    }

    /// Somebody on the way says so of what was done. An error has no HMAC.
    @Test(.enabled(if: LyingRelay.isPossible, "there is no python3"))
    func whatSomebodyOnTheWaySaysCountsNothingTwice() throws {
        let scene = try CounterScene()
        let relay = try LyingRelay(before: scene.scene.tpm, answering: Self.increment, with: Self.rate)
        for _ in 1...2 { #expect(throws: KeychainError.self) { try scene.unlock() } }
        try relay.end()
        #expect(try scene.state.failedAttempts == 0)
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens())
    }

    /// The TPM takes longer than anybody waits for it, and counts then.
    @Test(.enabled(if: LyingRelay.isPossible, "there is no python3"))
    func aCountThatComesLateIsCountedOnce() throws {
        let scene = try CounterScene()
        let relay = try LyingRelay.holding(Self.increment, before: scene.scene.tpm)
        // The first waits for its count, the second for the TPM.
        for _ in 1...2 {
            guard case .deviceFailed? = scene.reason({ try scene.unlock() }) else {
                Issue.record("it was tried")
                return
            }
        }
        #expect(try scene.state.failedAttempts == 0 && scene.counter.fault != nil)
        try relay.release()
        // Whoever still waits for the TPM is waited for.
        while scene.reason({ try scene.unlock() }) == .deviceFailed(why: "\(HardwareError.busy)") {}
        try relay.end()
        #expect(try scene.counter.fault == nil && scene.opens())
        // What they left loaded that were ended is the kernel's affair on a machine's TPM.
        scene.scene.tpm.stop()
        try scene.scene.tpm.start()
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens())
    }

    @Test func aTPMThatWasClearedIsGivenUpWithTheCode() throws {
        let scene = try CounterScene()
        scene.scene.server.end()
        try scene.scene.tpm.clear()
        try scene.startAgain()
        #expect(scene.scene.refusal()?.reason == .keybagUnreadable)
        #expect { try scene.scene.door().unlock(with: .recoveryCode(scene.code)) } throws: { error in
            guard case .folderRefused(let why)? = (error as? KeychainError)?.reason else { return false }
            return why.contains("cleared")
        }
        #expect { try scene.accept() } throws: { error in
            if case .folderRefused = (error as? KeychainError)?.reason { true } else { false }
        }
        try scene.accept(givingUp: true)
        #expect(try scene.counter.tpm == nil)
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
        #expect(try scene.opens())
        // The one from before comes back: what it has of ours is removed.
        try scene.scene.tpm.undoClearing()
        try scene.startAgain()
        _ = try scene.scene.open()
        try scene.unlock()
        #expect(try scene.scene.tpm.indices() == [] && scene.counter == CounterState())
    }

    /// One silence gives nothing up, and a person may, also of a folder that is open.
    @Test func aTPMThatDoesNotComeBackIsGivenUpByWord() throws {
        let scene = try CounterScene()
        try scene.scene.door().lock()
        scene.scene.tpm.stop()
        #expect(throws: KeychainError.self) { try scene.unlock() }
        guard case .deviceFailed(let why)? = scene.reason({ try scene.accept() }), why.contains("--give-up") else {
            Issue.record("it was accepted")
            return
        }
        #expect(scene.reason { try scene.accept(.text("0000-0000-0000-0000-0000-0000-0000"), givingUp: true) } != nil)
        #expect(try scene.counter.tpm == scene.address)
        try scene.accept(givingUp: true)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter.tpm == nil && scene.counter.left.count == 1)
        try scene.scene.tpm.start()
        try scene.unlock()
        #expect(try scene.counter == CounterState() && scene.scene.tpm.indices() == [])
    }

    @Test func aCounterThatSomebodyRemovedIsNoNewOne() throws {
        let scene = try CounterScene()
        let index = try #require(try scene.scene.tpm.indices().first)
        try scene.scene.tpm.own("nvundefine", index)
        #expect(throws: KeychainError.self) { try scene.unlock() }
        try scene.startAgain()
        #expect(scene.refusal()?.hasPrefix("the TPM does not have its counter any more; where ") == true)
        #expect(throws: KeychainError.self) { try scene.accept() }
        try scene.accept(givingUp: true)
        try scene.unlock()
        #expect(try scene.opens())
    }

    // MARK: A person accepts a copy

    @Test func anAcceptedCopyCountsOnAndNoOtherPasses() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        let oldCode = scene.code
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        try scene.scene.door().changePasscode(from: Scene.other, to: .text("third words"))
        let newest = try scene.copy()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        let wrong = SharedSecret(RecoveryCode.text(of: .random(count: RecoveryCode.byteCount)))
        #expect(scene.reason { try scene.accept(wrong) } == .authenticationFailed)
        #expect(try scene.copy() == before)
        try scene.accept(oldCode)
        #expect(try scene.state.lock == .beforeFirstUnlock)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
        let accepted = try scene.copy()
        // Neither the copy itself, nor what came after it, nor a keybag of that.
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.putBack(newest)
        #expect(scene.refusal() != nil)
        try scene.putBack(accepted.filter { $0.key.hasPrefix("attempts") }.merging(newest) { old, _ in old })
        #expect(scene.refusal() != nil)
        try scene.putBack(accepted)
        #expect(scene.scene.refusal() == nil)
    }

    // MARK: On and off

    @Test func offRemovesTheIndexAndCopiesFromBeforeAreRefused() throws {
        let scene = try CounterScene()
        #expect(try scene.scene.tpm.indices().count == 1)
        let before = try scene.copy()
        try scene.scene.door().count(in: nil, passcode: Scene.passcode, code: nil)
        #expect(try scene.scene.tpm.indices() == [] && scene.counter == CounterState())
        // As a program of before wrote it.
        #expect(try scene.copy()["keybag.0"]?[11] == 2 && scene.copy()["attempts.0"]?[11] == 1)
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.accept(givingUp: true)
        try scene.turnOn()
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.counter == CounterState(tpm: scene.address))
    }

    /// A copy from before the counter was there opens, and nothing that came later.
    @Test func aCopyFromBeforeTheCounterOpensNothingThatIsStoredLater() throws {
        let scene = try CounterScene(isOn: false)
        let before = try scene.copy()
        try scene.turnOn()
        let later = try MadeKey(in: try scene.scene.opened())
        try scene.putBack(before)
        let daemon = try scene.scene.open()
        try scene.unlock()
        #expect(try scene.opens())
        #expect(try daemon.openRowKeys([(later.binding, later.wrapped)]).first?.fate == .noClassKey)
    }

    @Test func whatWouldMakeItWorthlessIsRefused() throws {
        let bare = try HardwareScene()
        _ = try bare.opened()
        let address = try #require(TPMAddress(bare.tpm.address))
        func why(_ body: () throws -> Void) -> String? {
            do { try body() } catch {
                if case .protectorRefused(let why)? = (error as? KeychainError)?.reason { return why }
            }
            return nil
        }
        let on = { (code: SharedSecret?) in
            try bare.door().count(in: address, passcode: Scene.passcode, code: code)
        }
        try bare.door().setPasscode(Scene.passcode)
        #expect(why { try on(nil) }?.hasPrefix("that TPM is no protector") == true)
        try bare.addTPM(Scene.passcode)
        #expect(why { try on(nil) }?.hasPrefix("the software file") == true)
        try bare.remove("software-file", passcode: Scene.passcode)
        #expect(why { try on(nil) }?.hasPrefix("without a recovery code") == true)

        let scene = try CounterScene()
        let door = try scene.scene.door()
        #expect(why { try scene.turnOn() } == "a TPM counts already")
        #expect(
            why { _ = try door.addProtector(nil, passcode: Scene.passcode) }?.hasPrefix("with the software file")
                == true)
        #expect(why { try door.removeRecoveryCode(passcode: Scene.passcode) }?.hasPrefix("with a counter") == true)
        #expect(try scene.counter == CounterState(tpm: scene.address))
    }

    /// Nothing is counted, and nothing is destroyed, by who only looks.
    @Test func whoLooksAtACopyChangesNothing() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        try scene.putBack(before)
        scene.scene.server.end()
        let (raises, reads) = (scene.hardware.raises, scene.hardware.reads)
        let looked = try InProcessEnclave(
            dataDirectory: scene.scene.home.dataDirectory, expecting: .anyOrNew, for: .inspection,
            hardware: scene.hardware)
        looked.close()
        #expect(scene.hardware.raises == raises && scene.hardware.reads == reads)
        #expect(try scene.copy() == before && scene.scene.tpm.indices().count == 1)
        #expect(throws: KeychainError.self) {
            try InProcessEnclave(
                dataDirectory: scene.scene.home.dataDirectory, expecting: .anyOrNew, hardware: scene.hardware)
        }
    }

    /// The embedded engine counts as the enclave's process does.
    @Test func theEmbeddedEngineCounts() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        scene.scene.server.end()
        let engine = try InProcessEnclave(
            dataDirectory: scene.scene.home.dataDirectory, expecting: .anyOrNew, hardware: scene.hardware)
        let raises = scene.hardware.raises
        try engine.unlock(with: .passcode(Scene.passcode))
        #expect(scene.hardware.raises == raises + 1)
        try engine.changePasscode(from: Scene.passcode, to: Scene.other)
        #expect(scene.hardware.raises == raises + 3)
        engine.close()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
    }

    @Test func withoutItNothingIsAskedOfTheTPM() throws {
        let scene = try CounterScene(isOn: false)
        #expect(scene.reason { try scene.unlock(Scene.other) } == .authenticationFailed)
        try scene.unlock()
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        try scene.startAgain()
        _ = try scene.scene.open()
        #expect(scene.hardware.raises == 0 && scene.hardware.reads == 0)
        #expect(try scene.counter == CounterState())
    }
}
