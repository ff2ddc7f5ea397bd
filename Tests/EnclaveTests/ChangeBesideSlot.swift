import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport

@testable import Enclave

/// What a person does to a keybag while a slot lies in it.
enum ChangeBesideSlot: CaseIterable {
    case passcode
    case reset
    case recovery
    case protector
    /// A slot beside it that is added and removed, which the test does itself.
    case anotherSlot

    private static let next = SharedSecret.text("5678")

    func make(in scene: HardwareScene, _ passcode: SharedSecret) throws {
        switch self {
        case .passcode: try scene.door().changePasscode(from: passcode, to: Self.next)
        case .reset: try scene.door().resetPasscode(with: scene.makeCode(passcode), to: Self.next)
        case .recovery:
            _ = try scene.makeCode(passcode)
            try scene.door().removeRecoveryCode(passcode: passcode)
        case .protector:
            try scene.addTPM(passcode)
            try scene.remove("software-file", passcode: passcode)
        case .anotherSlot: break
        }
    }

    func passcodeAfter(_ passcode: SharedSecret) -> SharedSecret {
        self == .passcode || self == .reset ? Self.next : passcode
    }
}
