import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// The enclave dies before or after a command to the TPM, while an effacement secret moves
/// there or is destroyed there: the next one goes on with what the folder and the TPM have.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareTPM.canBeOwned, "swtpm or tpm2-tools are not installed"))
struct TPMEffacementCrashTests {
    private static let passcode = SharedSecret.text("words words")

    private let hardware = CutHardware(HardwareScene.hardware)
    private let scene: HardwareScene
    private let address: TPMAddress
    private let key: MadeKey
    private let lasting: MadeKey

    init() throws {
        scene = try HardwareScene(hardware)
        let daemon = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        address = try #require(TPMAddress(scene.tpm.address))
        key = try MadeKey(in: daemon)
        lasting = try MadeKey(in: daemon, .row(.whenPasscodeSetThisDeviceOnly))
    }

    private func keepInTPM() throws {
        try scene.door().keepEffacement(in: address, passcode: Self.passcode, code: nil)
    }

    /// Does it with an enclave that dies at that point, and starts the next one.
    ///
    /// - Returns: whether there is such a point.
    private func cut(at point: Int, _ body: () throws -> Void) throws -> Bool {
        let home = scene.home
        hardware.cut(at: point) { try? home.contents() }
        do { try body() } catch {
            guard hardware.left != nil else { throw error }
        }
        let left = hardware.heal()
        scene.server.end()
        if let left { for (file, bytes) in left { try home.write(file, bytes) } }
        try scene.startAgain()
        _ = try scene.open()
        return left != nil
    }

    private func fate(of key: MadeKey) throws -> Fate {
        let outcomes = try scene.opened().openRowKeys([(key.binding, key.wrapped)], in: nil)
        return try #require(outcomes.first).fate
    }

    private func expectSettled(_ indices: Int, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(try scene.tpm.indices().count == indices, sourceLocation: location)
        let effacement = try scene.door().state().effacement
        #expect(effacement.left == [] && (effacement.tpm != nil) == (indices == 1), sourceLocation: location)
    }

    /// Met; defined; read back: before and after each.
    private static let pointsOfMoving = 6

    @Test(arguments: 0...pointsOfMoving)
    func aMoveToTheTPMThatIsCutShortLosesNothing(point: Int) throws {
        let isCut = try cut(at: point) { try keepInTPM() }
        #expect(isCut == (point < Self.pointsOfMoving))
        try expectSettled(isCut ? 0 : 1)
        try scene.door().unlock(with: .passcode(Self.passcode))
        #expect(try fate(of: key) == .key && fate(of: lasting) == .key)
        try expectSettled(isCut ? 0 : 1)
    }

    /// Read; back in the file, destroyed: before and after each.
    private static let pointsOfReturning = 4

    @Test(arguments: 0...pointsOfReturning)
    func aMoveToTheFileThatIsCutShortLosesNothing(point: Int) throws {
        try keepInTPM()
        let isCut = try cut(at: point) {
            try scene.door().keepEffacement(in: nil, passcode: Self.passcode, code: nil)
        }
        #expect(isCut == (point < Self.pointsOfReturning))
        // The keybag was not written before the first answer came.
        try expectSettled(point < 2 ? 1 : 0)
        try scene.door().unlock(with: .passcode(Self.passcode))
        #expect(try fate(of: key) == .key && fate(of: lasting) == .key)
    }

    private static let pointsOfRemoving = 2

    @Test(arguments: 0...pointsOfRemoving)
    func aRemovalThatIsCutShortDestroysAllTheSame(point: Int) throws {
        try keepInTPM()
        let isCut = try cut(at: point) { try scene.door().removePasscode(with: .passcode(Self.passcode)) }
        #expect(isCut == (point < Self.pointsOfRemoving))
        #expect(try !scene.door().state().hasPasscode)
        try expectSettled(0)
        #expect(try fate(of: key) == .key && fate(of: lasting) == .effaced)
    }

    /// The keybag names the TPM, and the file still has the secret from before.
    @Test func whatTheFileStillHasIsOverwrittenAtTheNextStart() throws {
        let before = try scene.home.read(EffacementFile.fileName)
        try keepInTPM()
        scene.server.end()
        try scene.home.write(EffacementFile.fileName, before)
        try scene.startAgain()
        _ = try scene.open()
        #expect(try scene.home.read(EffacementFile.fileName).allSatisfy { $0 == 0 })
        try scene.door().unlock(with: .passcode(Self.passcode))
        #expect(try fate(of: lasting) == .key)
    }
}

/// Hands that reach their device up to a point, and from there on never: what the folder
/// has at that point is what an enclave leaves that is killed there.
private final class CutHardware: HardwareDoor {
    private struct State {
        var remaining: Int?
        var look: (@Sendable () -> [String: [UInt8]]?)?
        var left: [String: [UInt8]]?
    }

    private let door: any HardwareDoor
    private let state = Mutex(State())

    init(_ door: any HardwareDoor) { self.door = door }

    /// - Parameter point: 0: before the next question, 1: after its answer, 2: before the
    ///   one after it.
    func cut(at point: Int, looking look: @escaping @Sendable () -> [String: [UInt8]]?) {
        state.withLock { $0 = State(remaining: point, look: look) }
    }

    /// What lay in the folder at the point; nil: it was not reached.
    var left: [String: [UInt8]]? { state.withLock { $0.left } }

    func heal() -> [String: [UInt8]]? {
        state.withLock { state in
            defer { state = State() }
            return state.left
        }
    }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        try pass()
        let answer = try door.ask(request, patience: patience)
        try pass()
        return answer
    }

    private func pass() throws(HardwareError) {
        let isCut = state.withLock { state in
            guard let remaining = state.remaining else { return false }
            if remaining == 0, state.left == nil { state.left = state.look?() }
            state.remaining = max(0, remaining - 1)
            return remaining == 0
        }
        if isCut { throw .failed("it was killed") }
    }
}
