import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A keybag of which one copy is not written or not read while an effacement secret moves:
/// nothing goes that either of the two needs.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct TPMEffacementCopyTests {
    private static let passcode = SharedSecret.text("words words")
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    private let hardware = LookingHardware(HardwareScene.hardware)
    private let scene: HardwareScene
    private let address: TPMAddress
    private let lasting: MadeKey

    init() throws {
        scene = try HardwareScene(hardware)
        let daemon = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        address = try #require(TPMAddress(scene.tpm.address))
        lasting = try MadeKey(in: daemon, .row(Self.akpu))
    }

    private func keep(in address: TPMAddress?) throws {
        try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: nil)
    }

    private func startAgain() throws {
        try scene.startAgain()
        _ = try scene.open()
    }

    /// Unlocks it, which destroys what is to go.
    private func opensLasting() throws -> Bool {
        try scene.door().unlock(with: .passcode(Self.passcode))
        return try lasting.opens(in: try scene.opened())
    }

    private var left: [TPMPlace] { get throws { try scene.door().state().effacement.left } }
    private var isFileEmpty: Bool {
        get throws { try scene.home.read(EffacementFile.fileName).allSatisfy { $0 == 0 } }
    }

    /// A folder is in its place: it is neither read nor written.
    private func block(_ name: String) throws {
        try scene.home.remove(name)
        try FileManager.default.createDirectory(atPath: scene.home.path(name), withIntermediateDirectories: false)
    }

    private func release(_ name: String, _ bytes: [UInt8]) throws {
        try scene.home.remove(name)
        try scene.home.write(name, bytes)
    }

    /// Starts it with the copy from before alone, then with both.
    private func expectBothCopiesOpen(_ before: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
        scene.server.end()
        let newest = try scene.home.read("keybag.0")
        try release("keybag.1", before)
        try block("keybag.0")
        try startAgain()
        #expect(try opensLasting(), sourceLocation: location)
        scene.server.end()
        try release("keybag.0", newest)
        try scene.home.write("keybag.1", before)
        try startAgain()
        #expect(try left == [] && opensLasting(), sourceLocation: location)
    }

    /// The copy that names the index cannot be read; the one from before says that it is to go.
    @Test func anOlderCopyAloneHasNothingDestroyed() throws {
        let home = scene.home
        hardware.look { try? home.read("keybag.0") }
        try keep(in: address)
        let announced = try #require(hardware.seen)
        scene.server.end()
        let newest = try home.read("keybag.0")
        try home.write("keybag.1", announced)
        try block("keybag.0")
        try startAgain()
        #expect(try left.count == 1 && scene.tpm.indices().count == 1)
        #expect(try !opensLasting())
        #expect(try left.count == 1 && scene.tpm.indices().count == 1)
        scene.server.end()
        try release("keybag.0", newest)
        try startAgain()
        #expect(try left == [] && opensLasting())
        #expect(try scene.tpm.indices().count == 1)
    }

    @Test func aMoveToTheTPMLeavesTheFileToTheCopyFromBefore() throws {
        let before = try scene.home.read("keybag.1")
        try block("keybag.1")
        try keep(in: address)
        #expect(try !isFileEmpty && scene.tpm.indices().count == 1)
        try expectBothCopiesOpen(before)
        #expect(try isFileEmpty && scene.tpm.indices().count == 1)
    }

    @Test func aMoveToTheFileLeavesTheTPMToTheCopyFromBefore() throws {
        try keep(in: address)
        let before = try scene.home.read("keybag.1")
        try block("keybag.1")
        try keep(in: nil)
        #expect(try left.count == 1 && scene.tpm.indices().count == 1)
        try expectBothCopiesOpen(before)
        #expect(try scene.tpm.indices() == [])
    }

    /// Without a new start.
    @Test func itGoesOnceBothCopiesSayTheSame() throws {
        try block("keybag.1")
        try keep(in: address)
        try keep(in: nil)
        #expect(try left.count == 1 && scene.tpm.indices().count == 1)
        try scene.home.remove("keybag.1")
        try scene.door().setLockPolicy(try #require(LockPolicy(idleSeconds: 900)), passcode: Self.passcode)
        #expect(try left == [] && scene.tpm.indices() == [] && opensLasting())
        try block("keybag.1")
        try keep(in: address)
        #expect(try !isFileEmpty)
        try scene.home.remove("keybag.1")
        try scene.door().setLockPolicy(.never, passcode: Self.passcode)
        #expect(try isFileEmpty && opensLasting())
    }

    @Test func whatIsGivenUpWaitsForNoCopy() throws {
        try keep(in: address)
        try block("keybag.1")
        try scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try left == [] && scene.tpm.indices() == [])
    }

    /// As `restore` looks at a backup.
    @Test func whoeverOnlyLooksHasNothingDestroyed() throws {
        try keep(in: address)
        scene.tpm.stop()
        try scene.door().removePasscode(with: .passcode(Self.passcode))
        scene.server.end()
        try scene.tpm.start()
        func opened(for purpose: KeybagPurpose) throws -> EffacementState {
            let enclave = try InProcessEnclave(
                dataDirectory: scene.home.dataDirectory, expecting: .anyOrNew, for: purpose,
                hardware: HardwareScene.hardware)
            defer { enclave.close() }
            return enclave.state().effacement
        }
        #expect(try opened(for: .inspection).left.count == 1)
        #expect(try scene.tpm.indices().count == 1)
        #expect(try opened(for: .use) == EffacementState())
        #expect(try scene.tpm.indices() == [])
    }

    /// No TPM is asked for a finger, and that is no fault of it.
    @Test func aFingerFindsNoFault() throws {
        try keep(in: address)
        scene.server.end()
        let enclave = try InProcessEnclave(
            dataDirectory: scene.home.dataDirectory, expecting: .anyOrNew,
            passcodeCost: try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8)), hardware: HardwareScene.hardware,
            biometry: PlayedReader())
        defer { enclave.close() }
        try enclave.unlock(with: .passcode(Self.passcode))
        #expect(enclave.state().openClasses.contains(Self.akpu))
        try enclave.addFingerSlot(passcode: Self.passcode)
        try enclave.lock()
        try enclave.unlockByFinger()
        let open = enclave.state()
        #expect(open.lock == .unlocked && !open.openClasses.contains(Self.akpu))
        #expect(open.effacement == EffacementState(tpm: address))
        // What somebody found who asked still stands.
        try enclave.lock()
        scene.tpm.stop()
        try enclave.unlock(with: .passcode(Self.passcode))
        let fault = try #require(enclave.state().effacement.fault)
        try enclave.lock()
        try enclave.unlockByFinger()
        #expect(enclave.state().effacement.fault == fault)
    }

    /// What is said once the folder is no more.
    @Test func oneCopyThatIsReadSaysWhereItLies() throws {
        func places() -> [TPMPlace]? { KeybagOutline.tpmPlaces(inData: scene.home.dataDirectory) }
        scene.server.end()
        #expect(places() == [])
        let whole = try scene.home.read("keybag.0")
        try scene.home.write("keybag.0", [1, 2, 3])
        #expect(places() == [])
        // Who starts nothing in vain does not know.
        #expect(KeybagOutline.names(slot: "login", inData: scene.home.dataDirectory))
        try scene.home.write("keybag.1", [])
        #expect(places() == nil)
        try scene.home.write("keybag.0", whole)
        #expect(places() == [])
    }
}

/// Hands that look at something before they define an index.
private final class LookingHardware: HardwareDoor {
    private struct State {
        var look: (@Sendable () -> [UInt8]?)?
        var seen: [UInt8]?
    }

    private let door: any HardwareDoor
    private let state = Mutex(State())

    init(_ door: any HardwareDoor) { self.door = door }

    var seen: [UInt8]? { state.withLock { $0.seen } }

    func look(_ look: @escaping @Sendable () -> [UInt8]?) { state.withLock { $0.look = look } }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        if case .define = request { state.withLock { $0.seen = $0.look?() } }
        return try door.ask(request, patience: patience)
    }
}
