internal import KeychainPlatform

/// A kind of slot: by what the bag key opens.
enum SlotKind: Hashable, Sendable {
    /// By nothing but the root key: there is no passcode (decisions.md).
    case open
    /// Of a newer program: opens nothing here.
    case unknown(String)

    init(name: String) { self = name == "open" ? .open : .unknown(name) }

    var name: String {
        switch self {
        case .open: "open"
        case .unknown(let name): name
        }
    }
}

/// What a person, a TPM or nobody brings to open a slot.
struct SlotSecret: ~Copyable, Sendable {
    let kind: SlotKind
    let bytes: SecretBytes

    /// The empty secret of the slot that every keybag without a passcode has.
    static var open: SlotSecret { SlotSecret(kind: .open, bytes: SecretBytes(count: 0)) }
}
