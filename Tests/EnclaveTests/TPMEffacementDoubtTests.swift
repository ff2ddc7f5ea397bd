import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// What a TPM was asked for, and when nobody knows what became of it.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct TPMEffacementDoubtTests {
    private static let passcode = SharedSecret.text("words words")

    private let hardware = WatchedHardware(HardwareScene.hardware)
    private let scene: HardwareScene
    private let address: TPMAddress

    init() throws {
        scene = try HardwareScene(hardware)
        _ = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        address = try #require(TPMAddress(scene.tpm.address))
    }

    private func unlock() throws -> EffacementState {
        let door = try scene.door()
        try door.unlock(with: .passcode(Self.passcode))
        return try door.state().effacement
    }

    /// The enclave waits for five seconds; whoever it asked goes on.
    @Test func anIndexThatComesLateIsDestroyed() throws {
        hardware.holdsDefinitions = true
        #expect(throws: KeychainError.self) {
            try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: nil)
        }
        // It is not in the TPM, and may be a moment later.
        #expect(try scene.tpm.indices() == [] && unlock().left.count == 1)
        try hardware.finish()
        #expect(try scene.tpm.indices().count == 1)
        scene.server.clock.advance(by: HardwareProtocol.longestOperation - .seconds(1))
        #expect(try unlock().left.count == 1)
        scene.server.clock.advance(by: .seconds(1))
        #expect(try unlock() == EffacementState())
        #expect(try scene.tpm.indices() == [])
    }

    /// And one that never came is not looked for for ever.
    @Test func anIndexThatNeverComesIsForgottenInTime() throws {
        hardware.holdsDefinitions = true
        #expect(throws: KeychainError.self) {
            try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: nil)
        }
        scene.server.clock.advance(by: HardwareProtocol.longestOperation)
        #expect(try unlock() == EffacementState())
        hardware.holdsDefinitions = false
        try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: nil)
        #expect(try scene.tpm.indices().count == 1)
    }

    /// As where the enclave was killed meanwhile, and the next one has found nothing.
    @Test func nothingIsDefinedForWhoHasGone() throws {
        let storageKey = try HardwareScene.hardware.storageKey(of: address, patience: .seconds(5))
        let index = try #require(
            TPMIndex(
                address: address, handle: 0x0180_0009, label: Random.bytes(TPMIndex.labelByteCount),
                storageKey: storageKey))
        let request = HardwareRequest.define(
            index, password: .init(.random(count: HardwareProtocol.secretByteCount)),
            record: .init(.random(count: HardwareProtocol.recordByteCount)))
        let (ours, theirs) = try PacketSocket.pair()
        let channel = try MessageChannel(ours)
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        let message = HardwareProtocol.encode(request, number: 1)
        try channel.send(message.header, message.tail, until: soon)
        // Closed as far as the hands can see, before they begin; the test still hears them.
        #expect(shutdown(ours.descriptor.raw, Int32(SHUT_WR)) == 0)
        try DaemonStarter.start(
            HardwareScene.path(of: HardwareHelper.programName), arguments: [], environment: [],
            keeping: theirs.descriptor)
        guard let frame = try channel.receive(until: soon),
            case .failed(let why)? = HardwareProtocol.decodeAnswer(header: frame.header, tail: frame.tail)?.answer
        else {
            Issue.record("they did not refuse it")
            return
        }
        #expect(why.hasPrefix("whoever asked for it waits no longer"))
        #expect(try scene.tpm.indices() == [])
    }

    /// TPM2_NV_ReadPublic, answered with TPM_RC_HANDLE: there is no such index.
    @Test(.enabled(if: LyingRelay.isPossible, "there is no python3"))
    func whatSomebodyOnTheWaySaysIsNotThereIsNotGone() throws {
        let door = try scene.door()
        let lasting = try MadeKey(in: try scene.opened(), .row(.whenPasscodeSetThisDeviceOnly))
        try door.keepEffacement(in: address, passcode: Self.passcode, code: nil)
        try door.lock()
        let relay = try LyingRelay(before: scene.tpm, answering: 0x169, with: 0x18B)
        #expect(try unlock().fault?.hasPrefix("the TPM answered what no TPM answers") == true)
        #expect(throws: KeychainError.self) { try door.changePasscode(from: Self.passcode, to: .text("other words")) }
        try relay.end()
        #expect(try unlock() == EffacementState(tpm: address))
        #expect(try lasting.opens(in: try scene.opened()))

        let second = try LyingRelay(before: scene.tpm, answering: 0x169, with: 0x18B)
        try door.removePasscode(with: .passcode(Self.passcode))
        #expect(try door.state().effacement.left.count == 1)
        try second.end()
        #expect(try scene.tpm.indices().count == 1)
        try scene.startAgain()
        _ = try scene.open()
        #expect(try scene.tpm.indices() == [] && scene.door().state().effacement == EffacementState())
    }

    /// Nobody waits for it who needs it for nothing.
    @Test func whatTakesNothingOfItDoesNotAskForIt() throws {
        let door = try scene.door()
        try door.keepEffacement(in: address, passcode: Self.passcode, code: nil)
        let before = hardware.reads
        _ = try door.addProtector(address, passcode: Self.passcode)
        _ = try door.resealProtector(try scene.name("tpm2"), passcode: Self.passcode)
        _ = try door.protectors()
        _ = try door.slots()
        try door.setLockPolicy(try #require(LockPolicy(idleSeconds: 900)), passcode: Self.passcode)
        #expect(hardware.reads == before)
        _ = try unlock()
        #expect(hardware.reads == before + 1)
    }
}

/// Hands that count what is read, and may be slower than whoever waits for them.
private final class WatchedHardware: HardwareDoor {
    private struct State {
        var reads = 0
        var holdsDefinitions = false
        var held: HardwareRequest?
    }

    private let door: any HardwareDoor
    private let state = Mutex(State())

    init(_ door: any HardwareDoor) { self.door = door }

    var reads: Int { state.withLock { $0.reads } }

    var holdsDefinitions: Bool {
        get { state.withLock { $0.holdsDefinitions } }
        set { state.withLock { $0.holdsDefinitions = newValue } }
    }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        let isHeld = state.withLock { state in
            switch request {
            case .read:
                state.reads += 1
                return false
            case .define where state.holdsDefinitions:
                state.held = request
                return true
            default: return false
            }
        }
        guard !isHeld else { throw .silent(patience) }
        return try door.ask(request, patience: patience)
    }

    /// Does what nobody waits for any more.
    func finish() throws {
        let held = try #require(state.withLock { $0.held })
        _ = try door.ask(held, patience: .seconds(5))
    }
}
