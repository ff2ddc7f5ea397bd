import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What a start has no time for, and what only begins to count.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct CounterStartTests {
    private typealias Scene = CounterScene

    /// The TPM answers what the opening needs, and then no more within its seconds. Nobody asks
    /// it for the rest but a person, after the request, and the next start.
    @Test func whatAStartHadNoTimeForIsDoneByAPersonOrTheNextStart() throws {
        let scene = try CounterScene()
        _ = try scene.scene.door().addSlot(of: scene.address, passcode: Scene.passcode)
        scene.hardware.refuseUndefining(.failed("not now"))
        try scene.scene.door().count(in: nil, passcode: Scene.passcode, code: nil)
        try scene.turnOn()
        #expect(try scene.counter.left.count == 1 && scene.scene.tpm.indices().count == 2)
        scene.hardware.heal()
        scene.hardware.beSlowAfterReading()
        try scene.startAgain()
        let daemon = try scene.scene.open()
        #expect(try scene.state.lock == .beforeFirstUnlock)
        #expect(try daemon.describe().startRefusal?.contains("no answer") == true)
        scene.hardware.heal()
        let asked = scene.hardware.asked
        scene.scene.server.clock.advance(by: .seconds(3600))
        for _ in 1...3 { _ = try scene.scene.server.connect() }
        #expect(try scene.hardware.asked == asked && scene.state.lock == .beforeFirstUnlock)
        #expect(try scene.counter.left.count == 1)
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState(tpm: scene.address))
        #expect(try scene.scene.tpm.indices().count == 1)
        try scene.startAgain()
        let next = try scene.scene.open()
        #expect(try scene.state.lock == .unlocked && scene.key.opens(in: next))
    }

    /// One that takes longer than an opening waits for it would keep the folder shut.
    @Test func aTPMThatIsTooSlowForAnOpeningDoesNotCount() throws {
        let scene = try CounterScene(isOn: false)
        scene.hardware.refuseReading(.silent(.seconds(3)))
        guard case .deviceFailed(let why)? = scene.reason({ try scene.turnOn() }), why.contains("longer than") else {
            Issue.record("it counts")
            return
        }
        scene.hardware.heal()
        #expect(try scene.counter == CounterState() && scene.scene.tpm.indices() == [])
        try expectNothingOfACounter(scene)
        try scene.turnOn()
        #expect(try scene.counter == CounterState(tpm: scene.address))
    }

    /// As the version before reads it.
    private func expectNothingOfACounter(_ scene: CounterScene) throws {
        for (name, bytes) in try scene.copy() where name.hasPrefix("attempts") { #expect(bytes[11] == 1) }
        for name in ["keybag.0", "keybag.1"] { #expect(try scene.version(name) == 2) }
    }

    /// The keybag cannot be written that would have spoken of it.
    @Test func aCounterThatFailsLateLeavesNothingBehind() throws {
        let scene = try CounterScene(isOn: false)
        #expect(scene.reason { try scene.unlock(Scene.other) } == .authenticationFailed)
        let home = scene.scene.home
        scene.hardware.beforeReading {
            try? home.remove("keybag.0")
            try? FileManager.default.createDirectory(
                atPath: home.path("keybag.0") + "/inner", withIntermediateDirectories: true)
        }
        #expect(throws: KeychainError.self) { try scene.turnOn() }
        #expect(try scene.counter.tpm == nil)
        for name in ["attempts.0", "attempts.1"] { #expect(try home.read(name)[11] == 1) }
        try scene.unblock("keybag.0")
        try scene.startAgain()
        _ = try scene.scene.open()
        try scene.unlock()
        #expect(try scene.opens() && scene.counter == CounterState() && scene.scene.tpm.indices() == [])
        try expectNothingOfACounter(scene)
    }

    /// The enclave ends between the count and the keybag that speaks of it.
    @Test func aCounterThatNeverBeganIsForgottenAtTheNextStart() throws {
        let scene = try CounterScene(isOn: false)
        let home = scene.scene.home
        let announced = Copied()
        scene.hardware.beforeReading { announced.set(try? home.contents()) }
        try scene.turnOn()
        let left = try #require(announced.value)
        #expect(left["keybag.0"]?[11] == 5)
        try scene.putBack(left)
        try writeAnchor(in: home)
        #expect(try scene.version("attempts.0") == 2 && scene.version("attempts.1") == 2)
        _ = try scene.scene.open()
        // Removed from the TPM and from the files at once.
        #expect(try scene.counter == CounterState() && scene.scene.tpm.indices() == [])
        try expectNothingOfACounter(scene)
        try scene.unlock()
        #expect(try scene.opens())
    }

    /// As it is written before the keybag names the counter.
    private func writeAnchor(in home: EnclaveHome) throws {
        let folder = try PrivateDirectory(home.path(""), creating: false)
        func pair(_ kind: AuthenticatedFile.Kind) throws -> AuthenticPair {
            try AuthenticPair(
                kind,
                in: FilePair(directory: folder, name: kind.fileName, sizeLimit: AuthenticatedFile.largestFile))
        }
        let keys = ProtectorKeys(try SoftwareSecretFile(in: folder), code: nil, hardware: HardwareScene.hardware)
        let protectors = try Protectors.open(try pair(.protectors), keys)
        let least = FileGenerations(
            keybag: try #require(try pair(.keybag).framed.map(\.file.generation).min()),
            protectors: try #require(protectors.file?.generation))
        let anchor = try #require(Anchor(label: Random.bytes(32), count: 7, least: least))
        let body = AttemptsBody(store: protectors.body.store, failed: 0, anchor: anchor)
        let bytes = AuthenticatedFile.encode(
            .attempts, version: body.leastVersion, generation: 9, body: body.encoded, root: protectors.root)
        for name in ["attempts.0", "attempts.1"] { try home.write(name, bytes) }
    }

    /// Items that last as long as the passcode, in a TPM and with a counter in it.
    @Test func whatLastsAsLongAsThePasscodeOutlivesACounter() throws {
        let scene = try CounterScene(isOn: false)
        try scene.scene.door().keepEffacement(in: scene.address, passcode: Scene.passcode, code: scene.code)
        let lasting = try MadeKey(in: try scene.scene.opened(), .row(.whenPasscodeSetThisDeviceOnly))
        for isOn in [true, false, true] {
            if isOn {
                try scene.turnOn()
            } else {
                try scene.scene.door().count(in: nil, passcode: Scene.passcode, code: nil)
            }
            try scene.startAgain()
            let daemon = try scene.scene.open()
            try scene.unlock()
            #expect(try lasting.opens(in: daemon) && scene.key.opens(in: daemon))
            #expect(try scene.scene.tpm.indices().count == (isOn ? 2 : 1))
        }
    }

    // MARK: Off

    /// It promises no more than holds: until the TPM has removed the index, the newest copy from
    /// its time opens.
    @Test func offHoldsOnceTheIndexIsRemoved() throws {
        let scene = try CounterScene()
        let older = try scene.copy()
        try scene.unlock()
        let newest = try scene.copy()
        scene.hardware.refuseUndefining(.failed("not now"))
        // The attempt is counted, and so the newest is older than that by one.
        try scene.scene.door().count(in: nil, passcode: Scene.passcode, code: nil)
        #expect(try scene.counter.tpm == nil && scene.counter.left.count == 1)
        let off = try scene.copy()
        for copy in [older, newest] {
            try scene.putBack(copy)
            #expect(scene.refusal() != nil)
        }
        scene.hardware.heal()
        try scene.putBack(off)
        _ = try scene.scene.open()
        #expect(try scene.counter == CounterState() && scene.scene.tpm.indices() == [])
        for copy in [older, newest] {
            try scene.putBack(copy)
            #expect(scene.refusal()?.hasPrefix("the TPM does not have its counter any more; where ") == true)
        }
        try scene.putBack(off)
        #expect(scene.scene.refusal() == nil)
    }
}

private final class Copied: @unchecked Sendable {
    // @unchecked: `lock` guards it.
    private let lock = NSLock()
    private var copy: [String: [UInt8]]?

    func set(_ copy: [String: [UInt8]]?) { lock.withLock { self.copy = copy } }
    var value: [String: [UInt8]]? { lock.withLock { copy } }
}
