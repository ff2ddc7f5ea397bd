import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What the root key is bound to, on a software TPM and with the real latchkey-hardware.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct ProtectorTests {
    fileprivate typealias Scene = HardwareScene

    private static let passcode = SharedSecret.text("1234")

    @Test func theTPMOpensWhatTheFileOpenedBefore() throws {
        let scene = try Scene()
        let before = try MadeKey(in: scene.opened())
        let always = try MadeKey(in: scene.opened(), .row(.always))
        try scene.addTPM()
        #expect(try scene.kinds == ["software-file", "tpm2"])
        #expect(try scene.door().testProtectors(pretendingGone: nil).map(\.trial) == [.opens, .opens])
        try scene.remove("software-file")
        #expect(try scene.kinds == ["tpm2"])
        #expect(try scene.files.isDisjoint(with: ["software-secret.0", "software-secret.1"]))
        let after = try MadeKey(in: scene.opened())
        #expect(after.wrapped.generation > before.wrapped.generation)

        try scene.startAgain()
        let again = try scene.open()
        for key in [before, always, after] { #expect(try key.opens(in: again)) }
        #expect(try again.describe().protectors == ["tpm2"])
        #expect(try again.describe().unrepairedFiles == [])
        #expect(try scene.door().testProtectors(pretendingGone: nil).map(\.trial) == [.opens])
    }

    @Test func withoutTheTPMNothingOpensAndNothingIsLost() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.addTPM()
        try scene.remove("software-file")
        let files = try scene.home.contents()

        scene.tpm.stop()
        try scene.startAgain()
        let absent = try #require(scene.refusal())
        #expect(absent.status == .notAvailable && absent.reason == .keybagUnreadable)
        #expect(absent.underlying?.contains("there is no such TPM") == true)

        try scene.tpm.clear()
        let cleared = try #require(scene.refusal())
        #expect(cleared.reason == .keybagUnreadable)
        #expect(cleared.underlying?.contains("the TPM was cleared, or it is another one") == true)
        #expect(try scene.home.contents() == files)

        try scene.tpm.undoClearing()
        #expect(try key.opens(in: scene.open()))
    }

    /// Set up with TPM and recovery code, the TPM cleared, everything recovered.
    @Test(arguments: [false, true])
    func theRecoveryCodeBringsEverythingBack(withPasscode: Bool) throws {
        let scene = try Scene()
        let passcode = withPasscode ? Self.passcode : nil
        let key = try MadeKey(in: scene.opened())
        if let passcode { try scene.door().setPasscode(passcode) }
        try scene.addTPM(passcode)
        let code = try scene.makeCode(passcode)
        let kept = withPasscode ? try MadeKey(in: scene.opened(), .row(.whenPasscodeSetThisDeviceOnly)) : nil
        try scene.remove("software-file", passcode: passcode, code: code)
        #expect(try scene.kinds == ["tpm2", "recovery-code"])

        try scene.tpm.clear()
        try scene.startAgain()
        #expect(scene.refusal()?.reason == .keybagUnreadable)
        expectRefusal(.malformed(key: "recovery code")) { try scene.door().unlock(with: .recoveryCode(.text("AAAA"))) }
        let other = SharedSecret(RecoveryCode.text(of: SecretBytes.random(count: RecoveryCode.byteCount)))
        expectRefusal(.authenticationFailed) { try scene.door().unlock(with: .recoveryCode(other)) }
        try scene.door().unlock(with: .recoveryCode(code))
        #expect(try key.opens(in: scene.open()))
        if let kept { #expect(try kept.opens(in: scene.opened())) }
        let trials = try scene.door().testProtectors(pretendingGone: nil).map(\.trial)
        #expect(trials.last == .needsPerson)
        guard case .failed(let why) = trials.first else { throw Unexpected() }
        #expect(why.contains("cleared"))

        _ = try scene.door().resealProtector(try scene.name("tpm2"), passcode: passcode)
        #expect(try scene.door().testProtectors(pretendingGone: nil).map(\.trial) == [.opens, .needsPerson])
        try scene.startAgain()
        let again = try scene.open()
        if let passcode { try scene.door().unlock(with: .passcode(passcode)) }
        #expect(try key.opens(in: again))
    }

    private struct Unexpected: Error {}

    /// What was copied with the software file opens what was there then, and nothing of
    /// what is written from then on.
    @Test func aCopyFromBeforeDoesNotOpenWhatComesAfter() throws {
        let scene = try Scene()
        _ = try MadeKey(in: scene.opened())
        let stolen = try scene.home.contents()
        try scene.addTPM()
        try scene.remove("software-file")
        let later = try MadeKey(in: scene.opened())
        let alwaysLater = try MadeKey(in: scene.opened(), .row(.always))
        let files = try scene.home.contents()

        // All of it, as it was.
        let thief = try EnclaveHome.made()
        for name in try thief.contents().keys { try thief.remove(name) }
        for (name, bytes) in stolen { try thief.write(name, bytes) }
        let enclave = try thief.open()
        for key in [later, alwaysLater] { #expect(try !key.opens(in: enclave)) }
        enclave.close()
        // With the keybag of now.
        for copy in 0..<2 { try thief.write("keybag.\(copy)", try #require(files["keybag.\(copy)"])) }
        #expect(thief.refusal() == .keybagUnreadable)
        // With its protectors as well: the file's secret opens none of them.
        for copy in 0..<2 { try thief.write("protectors.\(copy)", try #require(files["protectors.\(copy)"])) }
        #expect(thief.refusal() == .keybagUnreadable)
    }

    @Test func whatWouldLoseTheKeychainIsRefused() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.door().setPasscode(Self.passcode)
        let last = "it is the last one that opens without a person"
        expectRefusal(.protectorRefused(why: last)) { try scene.remove("software-file", passcode: Self.passcode) }
        try scene.addTPM(Self.passcode)
        let code = try scene.makeCode(Self.passcode)
        let before = try scene.home.contents()

        expectRefusal(.authenticationFailed) { try scene.remove("software-file") }
        expectRefusal(.authenticationFailed) { try scene.remove("software-file", passcode: .text("9999")) }
        expectRefusal(.protectorRefused(why: "the recovery code is needed, or has to go as well")) {
            try scene.remove("software-file", passcode: Self.passcode)
        }
        let other = SharedSecret(RecoveryCode.text(of: SecretBytes.random(count: RecoveryCode.byteCount)))
        expectRefusal(.authenticationFailed) { try scene.remove("software-file", passcode: Self.passcode, code: other) }
        expectRefusal(
            .protectorRefused(
                why: "the TPM at \(scene.tpm.address) is one already; `latchkey protector reseal` seals anew")
        ) {
            try scene.addTPM(Self.passcode)
        }
        expectRefusal(.protectorRefused(why: "there is none of that name")) {
            _ = try scene.door().removeProtector(
                Random.bytes(16), passcode: Self.passcode, code: nil, withoutCode: false)
        }
        scene.tpm.stop()
        let broken = "there is no such TPM: the machine has none, or it is turned off in the firmware"
        expectRefusal(.protectorRefused(why: "the TPM does not work (\(broken)); reseal or remove that first")) {
            try scene.remove("software-file", passcode: Self.passcode, code: code)
        }
        expectRefusal(.deviceFailed(why: broken)) {
            _ = try scene.door().addProtector(TPMAddress("swtpm:/nowhere/tpm"), passcode: Self.passcode)
        }
        var after = try scene.home.contents()
        // One attempt failed in between, and was forgotten.
        for copy in 0..<2 { after["attempts.\(copy)"] = before["attempts.\(copy)"] }
        #expect(after == before)
        #expect(try key.opens(in: scene.opened()))
        // The one that does not work can go.
        try scene.remove("tpm2", passcode: Self.passcode, code: code)
        #expect(try scene.kinds == ["software-file", "recovery-code"])
        #expect(try key.opens(in: scene.opened()))
    }

    @Test func theRecoveryCodeGoesWhereThatIsSaid() throws {
        let scene = try Scene()
        try scene.door().setPasscode(Self.passcode)
        let code = try scene.makeCode(Self.passcode)
        try scene.addTPM(Self.passcode)
        try scene.remove("software-file", passcode: Self.passcode, withoutCode: true)
        #expect(try scene.kinds == ["tpm2"])
        #expect(try !scene.door().state().hasRecoveryCode)
        expectRefusal(.authenticationFailed) { try scene.door().unlock(with: .recoveryCode(code)) }
    }

    /// A crash between any two files: one of the two root keys is it, and the next
    /// opening finishes what was begun.
    @Test func aReplacementThatWasCutShortIsFinished() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.addTPM()
        let before = try scene.home.contents()
        try scene.remove("software-file")
        let after = try scene.home.contents()
        try scene.startAgain()

        // Between the two files `protectors` names both keys; such a file is made here.
        let announced = try scene.announcing(before: before, after: after)
        for (keybag, kinds) in [(before, ["software-file", "tpm2"]), (after, ["tpm2"])] {
            for name in try scene.home.contents().keys { try scene.home.remove(name) }
            for (name, bytes) in before { try scene.home.write(name, bytes) }
            for copy in 0..<2 {
                try scene.home.write("protectors.\(copy)", announced)
                try scene.home.write("keybag.\(copy)", try #require(keybag["keybag.\(copy)"]))
            }
            let connection = try scene.open()
            #expect(try key.opens(in: connection))
            #expect(try scene.kinds == kinds)
            #expect(try connection.describe().unrepairedFiles == [])
            #expect(try scene.files.contains("software-secret.0") == kinds.contains("software-file"))
            try scene.startAgain()
            #expect(try key.opens(in: scene.open()))
            try scene.startAgain()
        }
    }

    /// Each step is taken once both copies of the one before are written: a copy of the count
    /// that cannot be written under the new key is not given up with the old one.
    @Test(arguments: ["attempts.0", "attempts.1"])
    func aReplacementIsNotFinishedBesideACountThatIsNotWritten(_ name: String) throws {
        let scene = try Scene()
        _ = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        try scene.addTPM(Self.passcode)
        for wrong in ["wrong 1", "wrong 2"] {
            #expect(throws: KeychainError.self) { try scene.door().unlock(with: .passcode(.text(wrong))) }
        }
        let before = try scene.home.contents()
        try scene.remove("software-file", passcode: Self.passcode)
        let after = try scene.home.contents()
        let announced = try scene.announcing(before: before, after: after)
        try scene.startAgain()
        try scene.replaceFiles(before, protectors: announced)
        for copy in ["keybag.0", "keybag.1"] { try scene.home.write(copy, try #require(after[copy])) }
        let blocked = scene.home.path(name)
        try scene.home.remove(name)
        try FileManager.default.createDirectory(atPath: blocked + "/inner", withIntermediateDirectories: true)
        #expect(try scene.open().describe().unrepairedFiles == [name])
        #expect(try scene.door().state().failedAttempts == 2)
        try scene.startAgain()

        // What the disk did not give comes back, and what was written is lost.
        for copy in ["attempts.0", "attempts.1"] { try scene.home.remove(copy) }
        try scene.home.write(name, try #require(before[name]))
        #expect(try scene.open().describe().unrepairedFiles == [])
        #expect(try scene.door().state().failedAttempts == 2)
        #expect(try scene.kinds == ["tpm2"])
    }

    /// A secret that opens nothing any more is not left lying because the start could not efface it.
    @Test func whatCouldNotBeEffacedIsOnceItCan() throws {
        let scene = try Scene()
        _ = try scene.opened()
        try scene.addTPM()
        let before = try scene.home.contents()
        try scene.remove("software-file")
        try scene.startAgain()
        let blocked = scene.home.path("software-secret.1")
        try FileManager.default.createDirectory(atPath: blocked + "/inner", withIntermediateDirectories: true)
        let connection = try scene.open()
        #expect(try connection.describe().unrepairedFiles == ["software-secret"])
        #expect(try connection.describe().unrepairedFiles == ["software-secret"], "as long as that is so")
        try scene.home.write("software-secret.0", try #require(before["software-secret.0"]))
        try FileManager.default.removeItem(atPath: blocked)
        #expect(try connection.describe().unrepairedFiles == [])
        #expect(try scene.files.isDisjoint(with: ["software-secret.0", "software-secret.1"]))
    }

    /// What was to come and does not open takes nothing away from what does.
    @Test func anUnfinishedReplacementDoesNotNeedWhatWasToCome() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.addTPM()
        let before = try scene.home.contents()
        try scene.remove("software-file")
        let announced = try scene.announcing(before: before, after: try scene.home.contents())
        try scene.startAgain()
        try scene.replaceFiles(before, protectors: announced)

        scene.tpm.stop()
        let files = try scene.home.contents()
        #expect(try key.opens(in: scene.open()))
        // Nobody can tell yet whether the key that was to come has to stay.
        #expect(try scene.home.contents() == files)
        expectRefusal(
            .protectorRefused(
                why: "a change of them was cut short; `latchkey lock --stop`, or a new start, finishes it")
        ) { _ = try scene.kinds }
        try scene.tpm.start()
        try scene.startAgain()
        #expect(try key.opens(in: scene.open()))
        #expect(try scene.kinds == ["software-file", "tpm2"])
    }

    /// The keybag is of the key that came, and nothing opens the one from before.
    @Test func whatOnlyCameOpensWhereTheKeybagIsOfIt() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.addTPM()
        let before = try scene.home.contents()
        try scene.remove("software-file")
        let after = try scene.home.contents()
        let announced = try scene.announcing(before: before, after: after) { $0.kind == .softwareFile }
        try scene.startAgain()
        for second in [after, before] {
            try scene.replaceFiles(after, protectors: announced)
            // One copy of the keybag may be from before.
            try scene.home.write("keybag.1", try #require(second["keybag.1"]))
            #expect(try scene.files.isDisjoint(with: ["software-secret.0", "software-secret.1"]))
            let connection = try scene.open()
            #expect(try key.opens(in: connection))
            #expect(try connection.describe().unrepairedFiles == [])
            #expect(try scene.kinds == ["tpm2"])
            try scene.startAgain()
            #expect(try key.opens(in: scene.open()))
            try scene.startAgain()
        }
    }

    /// A file that is lost while the enclave runs opens nothing; it is written again before
    /// anything is bound to it alone.
    @Test func aSecretThatIsLostMeanwhileIsWrittenAgainBeforeItIsNeeded() throws {
        let scene = try Scene()
        let key = try MadeKey(in: scene.opened())
        try scene.addTPM()
        for copy in 0..<2 { try scene.home.remove("software-secret.\(copy)") }
        let trials = try scene.door().testProtectors(pretendingGone: nil).map(\.trial)
        #expect(trials == [.failed("its file is gone, or is not the one that it was made with"), .opens])
        try scene.remove("tpm2")
        scene.tpm.stop()
        try scene.startAgain()
        #expect(try key.opens(in: scene.open()))
    }

    @Test func aDeviceThatSaysNothingOrEndsIsAClearError() throws {
        let silent = HardwareHelper(clock: SystemClock()) { _ in }
        #expect(throws: HardwareError.failed("latchkey-hardware ended without an answer")) {
            _ = try silent.describe(.machines, patience: .seconds(20))
        }
        let held = HeldEnds()
        let hanging = HardwareHelper(clock: SystemClock()) { descriptor in held.hold(descriptor) }
        #expect(throws: HardwareError.silent(.milliseconds(50))) {
            _ = try hanging.describe(.machines, patience: .milliseconds(50))
        }
        let missing = HardwareHelper(clock: SystemClock()) { descriptor throws(SystemCallError) in
            try DaemonStarter.start("/nowhere/latchkey-hardware", arguments: [], environment: [], keeping: descriptor)
        }
        #expect(throws: HardwareError.notInstalled) { _ = try missing.describe(.machines, patience: .seconds(20)) }
    }

    @Test func aDeviceThatLiesBindsNothing() throws {
        let home = try EnclaveHome()
        let server = try RunningServer(home: home, hardware: LyingHardware())
        _ = try server.connect()
        let door = try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
        let before = try home.contents()
        expectRefusal(.deviceFailed(why: "it gives back another secret than it was given")) {
            _ = try door.addProtector(.machines, passcode: nil)
        }
        #expect(try home.contents() == before)
    }

    /// The real one says what it is.
    @Test func theTPMIsDescribed() throws {
        let tpm = try SoftwareTPM()
        let address = try #require(TPMAddress(tpm.address))
        let found = try Scene.hardware.describe(address, patience: .seconds(20))
        #expect(found.manufacturer == "IBM " && !found.isInLockout && found.failedTries == 0)
    }
}

extension ProtectorTests.Scene {
    /// The files of a moment, but for both copies of `protectors`.
    fileprivate func replaceFiles(_ files: [String: [UInt8]], protectors: [UInt8]) throws {
        for name in try home.contents().keys { try home.remove(name) }
        for (name, bytes) in files { try home.write(name, bytes) }
        for copy in 0..<2 { try home.write("protectors.\(copy)", protectors) }
    }

    /// The file of the moment in which both root keys are there.
    fileprivate func announcing(
        before: [String: [UInt8]], after: [String: [UInt8]],
        keeping isKept: (ProtectorsBody.Protector) -> Bool = { _ in true }
    ) throws -> [UInt8] {
        let secrets = try #require(before["software-secret.0"])
        guard case .secret(let secret) = SoftwareSecret.parse(SecretBytes(copying: secrets)),
            let old = AuthenticatedFile.parse(.protectors, try #require(before["protectors.0"])),
            let new = AuthenticatedFile.parse(.protectors, try #require(after["protectors.0"])),
            let body = ProtectorsBody(parsing: old.uncheckedBody),
            let coming = ProtectorsBody(parsing: new.uncheckedBody),
            let wrapped = body.protectors.first(where: { $0.kind == .softwareFile }),
            let root = RootKey(wrapped, of: body.store, under: secret.key)
        else { throw CocoaError(.fileReadCorruptFile) }
        let both = ProtectorsBody(
            store: body.store, protectors: body.protectors.filter(isKept), coming: coming.protectors)
        return AuthenticatedFile.encode(.protectors, generation: old.generation + 1, body: both.encoded, root: root)
    }
}

/// Seals whatever it is given as something else.
private struct LyingHardware: HardwareDoor {
    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        switch request {
        case .describe: throw .failed("no")
        case .seal(_, let address, _):
            guard let sealed = SealedByTPM(address: address, storageKey: [1], publicArea: [2], privateArea: [3]) else {
                throw .failed("no")
            }
            return .sealed(sealed)
        case .unseal: return .unsealed(SharedSecret(.random(count: HardwareProtocol.secretByteCount)))
        case .define, .read, .undefine, .storageKey, .defineCounter, .readCounter, .raiseCounter, .makeCredential,
            .secrets:
            throw .failed("no")
        }
    }
}

/// Ends of sockets that nobody reads.
private final class HeldEnds: @unchecked Sendable {
    // @unchecked: `lock` guards `ends`.
    private let lock = NSLock()
    private var ends: [Descriptor] = []
    func hold(_ end: Descriptor) { lock.withLock { ends.append(end) } }
}
