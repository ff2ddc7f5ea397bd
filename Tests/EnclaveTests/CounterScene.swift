import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A keychain that is bound to a software TPM alone, whose counter is on; and its enclave, with
/// the real latchkey-hardware.
final class CounterScene {
    static let passcode = SharedSecret.text("words words")
    static let other = SharedSecret.text("other words")

    let hardware: CountedHardware
    let scene: HardwareScene
    let address: TPMAddress
    private(set) var code: SharedSecret
    let key: MadeKey

    /// - Parameter isOn: whether the counter is.
    init(isOn: Bool = true) throws {
        let hardware = CountedHardware(HardwareScene.hardware)
        let scene = try HardwareScene(hardware)
        (self.hardware, self.scene) = (hardware, scene)
        let daemon = try scene.opened()
        try scene.door().setPasscode(Self.passcode)
        try scene.addTPM(Self.passcode)
        let code = try scene.makeCode(Self.passcode)
        address = try #require(TPMAddress(scene.tpm.address))
        try scene.remove("software-file", passcode: Self.passcode, code: code)
        key = try MadeKey(in: daemon)
        self.code = code
        if isOn { try turnOn() }
    }

    func turnOn() throws { try scene.door().count(in: address, passcode: Self.passcode, code: code) }
    func makeCode() throws { code = try scene.makeCode(Self.passcode) }

    func unlock(_ passcode: SharedSecret = passcode) throws { try scene.door().unlock(with: .passcode(passcode)) }
    var state: DeviceState { get throws { try scene.door().state() } }
    var counter: CounterState { get throws { try state.counter } }
    func opens() throws -> Bool { try key.opens(in: try scene.opened()) }

    /// Every file as it is.
    func copy() throws -> [String: [UInt8]] { try scene.home.contents() }

    /// Ends the enclave, puts a copy in the folder's place and starts the next one, whose keybag
    /// nobody has opened.
    func putBack(_ copy: [String: [UInt8]]) throws {
        scene.server.end()
        for name in try scene.home.contents().keys { try scene.home.remove(name) }
        for (name, bytes) in copy { try scene.home.write(name, bytes) }
        try scene.startAgain()
    }

    func startAgain() throws { try putBack(try copy()) }

    /// Has nobody write these: a folder in the place of a file can be neither replaced nor read.
    func block(_ names: String...) throws {
        for name in names {
            try scene.home.remove(name)
            try FileManager.default.createDirectory(
                atPath: scene.home.path(name) + "/inner", withIntermediateDirectories: true)
        }
    }

    func unblock(_ names: String...) throws {
        for name in names { try scene.home.remove(name) }
    }

    /// The version of a file, as its frame says it.
    func version(_ name: String) throws -> UInt8? { try copy()[name]?[11] }

    /// Why the next opening is refused; nil: it is not.
    func refusal() -> String? {
        guard case .folderRefused(let why)? = scene.refusal()?.reason else { return nil }
        return why
    }

    func accept(_ code: SharedSecret? = nil, givingUp: Bool = false) throws {
        try scene.door().acceptCopy(code: code ?? self.code, givingUp: givingUp)
    }

    /// What is thrown.
    func reason(_ body: () throws -> Void) -> Reason? {
        do {
            try body()
            return nil
        } catch { return (error as? KeychainError)?.reason }
    }
}

/// Hands that note what they are asked for, may refuse to count, and may look at the folder
/// before they do.
final class CountedHardware: HardwareDoor {
    private struct State {
        var raises = 0
        var reads = 0
        var countersAsked = 0
        var asked = 0
        var refusal: HardwareError?
        var isCut = false
        var look: (@Sendable () -> [String: [UInt8]]?)?
        var left: [String: [UInt8]]?
        var isSlowAfterReading = false
        var isSilent = false
        var readingRefusal: HardwareError?
        var undefiningRefusal: HardwareError?
        var beforeReading: (@Sendable () -> Void)?
    }

    private let door: any HardwareDoor
    private let state = Mutex(State())

    init(_ door: any HardwareDoor) { self.door = door }

    var raises: Int { state.withLock { $0.raises } }
    var reads: Int { state.withLock { $0.reads } }
    /// Of whatever is asked of a counter.
    var countersAsked: Int { state.withLock { $0.countersAsked } }
    /// Of whatever is asked.
    var asked: Int { state.withLock { $0.asked } }

    /// Counts no more, and says so.
    func refuse(_ error: HardwareError?) { state.withLock { $0.refusal = error } }

    /// Counts nothing from here on; looks at what there is before the first count.
    func cut(looking look: @escaping @Sendable () -> [String: [UInt8]]?) {
        state.withLock { ($0.look, $0.isCut) = (look, true) }
    }

    /// What lay in the folder then.
    var left: [String: [UInt8]]? { state.withLock { $0.left } }

    /// Once the counter was read nothing else is answered in time, until ``heal()``.
    func beSlowAfterReading() { state.withLock { $0.isSlowAfterReading = true } }

    func refuseReading(_ error: HardwareError) { state.withLock { $0.readingRefusal = error } }
    func refuseUndefining(_ error: HardwareError) { state.withLock { $0.undefiningRefusal = error } }

    /// Once, before the counter is read.
    func beforeReading(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeReading = body } }

    func heal() {
        state.withLock { state in
            state = State(
                raises: state.raises, reads: state.reads, countersAsked: state.countersAsked, asked: state.asked)
        }
    }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        state.withLock { $0.asked += 1 }
        switch request {
        case .readCounter: try noteReading()
        case .raiseCounter: try noteRaising(patience)
        case .defineCounter: state.withLock { $0.countersAsked += 1 }
        case .unseal, .undefine:
            if state.withLock({ $0.isSilent }) { throw .silent(patience) }
            if case .undefine = request, let refusal = state.withLock({ $0.undefiningRefusal }) { throw refusal }
        default: break
        }
        return try door.ask(request, patience: patience)
    }

    private func noteReading() throws(HardwareError) {
        let (look, refusal) = state.withLock { state -> ((@Sendable () -> Void)?, HardwareError?) in
            state.reads += 1
            state.countersAsked += 1
            state.isSilent = state.isSlowAfterReading
            defer { state.beforeReading = nil }
            return (state.beforeReading, state.readingRefusal)
        }
        look?()
        if let refusal { throw refusal }
    }

    private func noteRaising(_ patience: Duration) throws(HardwareError) {
        let refusal = state.withLock { state -> HardwareError? in
            state.raises += 1
            state.countersAsked += 1
            if let look = state.look { state.left = look() }
            state.look = nil
            return state.isCut ? .silent(patience) : state.refusal
        }
        if let refusal { throw refusal }
    }
}
