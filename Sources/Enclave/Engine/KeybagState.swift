internal import KeychainModel
internal import KeychainPlatform

/// A keybag as a running enclave has it.
enum KeybagState: ~Copyable, Sendable {
    case locked(Keybag.Locked)
    case unlocked(Keybag.Unlocked)

    /// A keybag with a slot of kind "open" is unlocked at once; any other stays
    /// locked until somebody brings a secret.
    init(unlockingOpenSlotOf keybag: consuming Keybag.Locked) throws(KeybagError) {
        if keybag.body.slots.contains(where: { $0.kind == .open }) {
            self = .unlocked(try keybag.unlock(with: .open))
        } else {
            self = .locked(keybag)
        }
    }

    var ring: KeyRing {
        switch self {
        case .locked(let keybag): keybag.ring
        case .unlocked(let keybag): keybag.ring
        }
    }

    var body: KeybagBody {
        switch self {
        case .locked(let keybag): keybag.body
        case .unlocked(let keybag): keybag.locked.body
        }
    }

    var generation: UInt64 {
        switch self {
        case .locked(let keybag): keybag.generation
        case .unlocked(let keybag): keybag.locked.generation
        }
    }

    var indexKey: SharedSecret {
        switch self {
        case .locked(let keybag): keybag.indexKey
        case .unlocked(let keybag): keybag.locked.indexKey
        }
    }
}
