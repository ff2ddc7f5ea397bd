import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A folder that nobody put back opens with what opened it, whatever failed meanwhile.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct CounterHarmTests {
    private typealias Scene = CounterScene

    /// What could not be written is not what the count vouches for.
    @Test(arguments: ["protectors", "keybag"])
    func aChangeThatCannotBeWrittenLeavesAFolderThatOpens(_ name: String) throws {
        let scene = try CounterScene()
        try scene.block("\(name).0")
        let door = try scene.scene.door()
        if name == "protectors" {
            let tpm = try scene.scene.name("tpm2")
            #expect(throws: KeychainError.self) {
                _ = try door.resealProtector(tpm, passcode: Scene.passcode)
            }
        }
        for _ in 1...2 { #expect(throws: KeychainError.self) { try scene.makeCode() } }
        try scene.unlock()
        try scene.unblock("\(name).0")
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
    }

    /// An attempt that nothing tries stays counted nowhere.
    @Test func anAttemptWhoseThreadDoesNotStartIsTakenBack() throws {
        let scene = try CounterScene()
        let starts = Mutex(0)
        try scene.scene.startAgain { body throws(SystemCallError) in
            // The first makes the secret of the passcode, the second asks the TPM.
            let number = starts.withLock { count in
                count += 1
                return count
            }
            guard number != 2 else { throw SystemCallError("pthread_create", errno: 11) }
            try BackgroundThread.start(body)
        }
        _ = try scene.scene.open()
        #expect(scene.reason { try scene.unlock() } == .busy)
        try scene.startAgain()
        _ = try scene.scene.open()
        #expect(try scene.state.failedAttempts == 0)
        try scene.unlock()
        #expect(try scene.opens())
    }

    /// Nothing is given up that nobody gave up.
    @Test func acceptingWithoutTheTPMGivesNothingUp() throws {
        let scene = try CounterScene()
        let whole = try scene.copy()
        try scene.putBack(whole.filter { !$0.key.hasPrefix("attempts") })
        scene.hardware.refuseReading(.failed("it was taken out"))
        guard case .folderRefused? = scene.reason({ try scene.accept() }) else {
            Issue.record("it was accepted")
            return
        }
        scene.hardware.heal()
        #expect(scene.refusal()?.hasPrefix("the file `attempts`") == true)
        try scene.accept()
        #expect(try scene.counter == CounterState(tpm: scene.address))
        try scene.unlock()
        #expect(try scene.opens())
    }

    /// A folder that nothing speaks against, and that nobody has opened yet.
    @Test func whatIsAcceptedWithoutNeedIsSaidAndGivenUpWithTheCodeAlone() throws {
        let scene = try CounterScene()
        try scene.startAgain()
        #expect(
            scene.reason { try scene.accept() }
                == .protectorRefused(why: "the TPM has confirmed this copy; there is nothing to accept"))
        try scene.startAgain()
        let wrong = SharedSecret(RecoveryCode.text(of: .random(count: RecoveryCode.byteCount)))
        #expect(scene.reason { try scene.accept(wrong, givingUp: true) } == .authenticationFailed)
        #expect(try scene.counter.tpm == scene.address)
        try scene.startAgain()
        try scene.accept(givingUp: true)
        #expect(try scene.counter.tpm == nil)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState())
    }

    /// Without a passcode and its slots the code is a protector's.
    @Test func withoutAPasscodeTheCodeStillAccepts() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        try scene.scene.door().removePasscode(with: .passcode(Scene.passcode))
        let after = try scene.copy()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.putBack(after)
        #expect(scene.scene.refusal() == nil)
        #expect(try scene.state.lock == .unlocked && scene.opens())
        try scene.putBack(after.filter { !$0.key.hasPrefix("attempts") })
        #expect(scene.refusal() != nil)
        try scene.accept()
        #expect(try scene.opens() && scene.counter.tpm == scene.address)
    }

    /// It is away at a start, and there at the next.
    @Test func aTPMThatIsAwayForAWhileCostsNothing() throws {
        let scene = try CounterScene()
        let files = try scene.copy()
        scene.scene.tpm.stop()
        try scene.startAgain()
        #expect(scene.scene.refusal()?.reason == .keybagUnreadable)
        #expect(throws: KeychainError.self) { try scene.scene.door().unlock(with: .recoveryCode(scene.code)) }
        #expect(try scene.copy() == files)
        try scene.scene.tpm.start()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
    }

    /// The counter goes with the root key that comes; its TPM has to stay.
    @Test func theRootKeyIsReplacedBesideACounter() throws {
        let scene = try CounterScene()
        let door = try scene.scene.door()
        let tpm = try SoftwareTPM()
        let address = try #require(TPMAddress(tpm.address))
        let added = try door.addProtector(address, passcode: Scene.passcode)
        func remove(_ address: TPMAddress) throws {
            let name = try #require(added.first { $0.address == address }).identifier
            _ = try scene.scene.door().removeProtector(
                name, passcode: Scene.passcode, code: scene.code, withoutCode: false)
        }
        guard case .protectorRefused(let why)? = scene.reason({ try remove(scene.address) }),
            why.hasPrefix("that TPM counts")
        else {
            Issue.record("the TPM that counts was removed")
            return
        }
        let before = try scene.copy()
        try remove(address)
        let after = try scene.copy()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.putBack(after)
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
    }

    /// Another TPM is there in its place, while everything is open.
    @Test func aTPMThatIsExchangedMeanwhileTriesNothingAndTakesNothing() throws {
        let scene = try CounterScene()
        try scene.scene.door().lock()
        try scene.scene.tpm.clear()
        guard case .deviceFailed? = scene.reason({ try scene.unlock() }) else {
            Issue.record("it was tried")
            return
        }
        #expect(try scene.state.failedAttempts == 0 && scene.counter.fault?.contains("cleared") == true)
        #expect(scene.reason { try scene.accept() } != nil)
        #expect(try scene.counter.tpm == scene.address)
        try scene.scene.door().unlock(with: .recoveryCode(scene.code))
        #expect(try scene.opens())
        try scene.scene.tpm.undoClearing()
        try scene.unlock()
        #expect(try scene.counter == CounterState(tpm: scene.address))
    }

    // MARK: The record

    @Test func theRecordSaysWhatCountedAndWhatWasAccepted() throws {
        let scene = try CounterScene(isOn: false)
        func kinds() throws -> [AuditEvent.Kind] {
            let daemon = try scene.scene.opened()
            let block = try #require(try daemon.sealAudit([1], fromFile: 0))
            _ = try daemon.confirmAudit(block)
            guard case .blocks(let opened) = try daemon.openAudit([block.box], from: block.place) else { return [] }
            return opened[0]?.events.map(\.kind) ?? []
        }
        _ = try kinds()
        try scene.turnOn()
        #expect(try kinds().contains(.counterBegun))
        let before = try scene.copy()
        try scene.unlock()
        try scene.putBack(before)
        #expect(scene.refusal() != nil)
        try scene.accept()
        try scene.unlock()
        #expect(try kinds().count { $0 == .copyAccepted } == 1)
        try scene.scene.door().count(in: nil, passcode: Scene.passcode, code: nil)
        #expect(try kinds().contains(.counterEnded))
    }

    // MARK: Another copy that counts

    /// A copy of the folder is used beside it, on the same TPM.
    @Test func whereAnotherCopyHasCountedThisOneIsAccepted() throws {
        let scene = try CounterScene()
        let other = try EnclaveHome()
        _ = try PrivateDirectory(other.path(""), creating: true)
        for (name, bytes) in try scene.copy() { try other.write(name, bytes) }
        let beside = try RunningServer(home: other, hardware: HardwareScene.hardware)
        _ = try beside.connect()
        let door = try RemotePersonDoor(runDirectory: other.runDirectory, process: nil, clock: SystemClock())
        // What both have counted once, each takes for its own (THREAT_MODEL T5b).
        for _ in 1...2 { try door.unlock(with: .passcode(Scene.passcode)) }

        for passcode in [Scene.passcode, Scene.other] {
            guard case .deviceFailed(let why)? = scene.reason({ try scene.unlock(passcode) }),
                why.contains("counter accept")
            else {
                Issue.record("it was tried")
                return
            }
        }
        #expect(try scene.state.failedAttempts == 0 && scene.counter.fault?.contains("counter accept") == true)
        let wrong = SharedSecret(RecoveryCode.text(of: .random(count: RecoveryCode.byteCount)))
        #expect(scene.reason { try scene.accept(wrong) } == .authenticationFailed)
        try scene.accept()
        #expect(try scene.counter == CounterState(tpm: scene.address))
        try scene.unlock()
        // And there is nothing more to be accepted.
        #expect(
            scene.reason { try scene.accept() }
                == .protectorRefused(why: "the TPM has confirmed this copy; there is nothing to accept"))
        try scene.startAgain()
        #expect(scene.scene.refusal() == nil)
        try scene.unlock()
        #expect(try scene.opens())

        guard case .deviceFailed? = scene.reason({ try door.unlock(with: .passcode(Scene.passcode)) }) else {
            Issue.record("the other copy counts on")
            return
        }
        beside.end()
        let last = try other.contents()
        try scene.putBack(last)
        #expect(scene.refusal()?.hasPrefix("an older copy") == true)
    }

    /// From the moment on in which a copy is accepted.
    @Test func anAcceptedCopyIsCountedAtOnce() throws {
        let scene = try CounterScene()
        let before = try scene.copy()
        let code = scene.code
        try scene.scene.door().changePasscode(from: Scene.passcode, to: Scene.other)
        let newest = try scene.copy()
        try scene.putBack(before)
        try scene.accept(code)
        try scene.putBack(newest)
        #expect(scene.refusal()?.hasPrefix("an older copy") == true)
    }

    /// The next counter is another TPM's, which has counted less: what came after a copy that is
    /// accepted does not pass for newer all the same.
    @Test func theCounterOfAnotherTPMTellsCopiesAsWell() throws {
        let scene = try CounterScene()
        // Generations of the keybag that are far above whatever the other TPM counts.
        for _ in 1...3 {
            let before = try scene.copy()
            try scene.unlock()
            try scene.putBack(before)
            try scene.accept()
            try scene.unlock()
        }
        let door = try scene.scene.door()
        try door.count(in: nil, passcode: Scene.passcode, code: nil)
        let tpm = try SoftwareTPM()
        let address = try #require(TPMAddress(tpm.address))
        _ = try door.addProtector(address, passcode: Scene.passcode)
        try door.count(in: address, passcode: Scene.passcode, code: scene.code)
        let before = try scene.copy()
        for number in 1...3 {
            try scene.scene.door().setLockPolicy(
                try #require(LockPolicy(idleSeconds: 600 + UInt32(number))), passcode: Scene.passcode)
        }
        let newest = try scene.copy()
        try scene.putBack(before)
        try scene.accept()
        try scene.unlock()
        let accepted = try scene.copy()
        let counted = accepted.filter { $0.key.hasPrefix("attempts") }
        try scene.putBack(newest.merging(counted) { $1 })
        #expect(scene.refusal()?.hasPrefix("one of its files is older") == true)
        try scene.putBack(accepted)
        #expect(scene.scene.refusal() == nil)
    }
}
