internal import KeychainCrypto
internal import KeychainPlatform
internal import KeychainProtocol

/// A kind of slot: by what the bag key opens.
enum SlotKind: Hashable, Sendable {
    /// By nothing but the root key: there is no passcode (decisions.md).
    case open
    /// By what a person remembers.
    case passcode
    /// By what a person wrote down.
    case recovery
    /// By a random secret that a TPM 2.0 gives back to whoever may use it.
    case tpm2
    /// By a random secret that was handed out once, for a service manager to keep.
    case credential
    /// By the password that a person logs in with.
    case login
    /// Of a newer program: opens nothing here.
    case unknown(String)

    init(name: String) {
        let known = [Self.open, .passcode, .recovery, .tpm2, .credential, .login]
        self = known.first { $0.name == name } ?? .unknown(name)
    }

    var name: String {
        switch self {
        case .open: "open"
        case .passcode: "passcode"
        case .recovery: "recovery"
        case .tpm2: "tpm2"
        case .credential: "credential"
        case .login: "login"
        case .unknown(let name): name
        }
    }

    /// Whether opening it takes a person: only such a slot opens the class akpu.
    var needsPerson: Bool { self == .passcode || self == .recovery || self == .login }

    /// Whether it opens, beside a passcode, what does not take a person.
    var isAutomatic: Bool { self == .tpm2 || self == .credential }

    /// Whether what it opens is boxed for it, so that a new bag key needs no secret of it.
    var isBoxed: Bool { isAutomatic || self == .login }

    /// Of the random secret of a slot that opens without a person.
    static let automaticSecretByteCount = HardwareProtocol.secretByteCount
}

/// What a person, a TPM or nobody brings to open a slot.
struct SlotSecret: ~Copyable, Sendable {
    let kind: SlotKind
    let bytes: SecretBytes

    /// The empty secret of the slot that every keybag without a passcode has.
    static var open: SlotSecret { SlotSecret(kind: .open, bytes: SecretBytes(count: 0)) }
}

/// How a passcode, or a login password, becomes the secret of its slot: Argon2id (RFC 9106) with these.
/// 24 bytes in the slot: salt (16), passes (4), KiB (4), numbers big-endian.
struct PasscodeParameters: Hashable, Sendable {
    static let byteCount = PassphraseKey.saltByteCount + 8

    let salt: [UInt8]
    let cost: PassphraseCost

    init(salt: [UInt8], cost: PassphraseCost) {
        self.salt = salt
        self.cost = cost
    }

    /// nil for anything but 24 bytes with a cost that may be asked for.
    init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
        guard let cost = PassphraseCost(passes: number(16..<20), kibibytes: number(20..<24)) else { return nil }
        self.init(salt: Array(bytes[..<16]), cost: cost)
    }

    var encoded: [UInt8] {
        salt
            + [cost.passes, cost.kibibytes].flatMap { number in
                (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            }
    }
}

/// What the slot of a passcode says of it: how it is derived, and which TPM, if any, looks
/// at what comes of that.
///
/// With a TPM the slot's secret is random, and sealed with the derived bytes as its
/// password (TPM 2.0, authValue): each guess costs a command of that TPM, which counts
/// wrong ones and after some refuses all. The 24 bytes of the derivation, then what was
/// sealed, if anything.
struct PasscodeSlotParameters: Hashable, Sendable {
    let derivation: PasscodeParameters
    var guardian: SealedByTPM?

    init(_ derivation: PasscodeParameters, guardian: SealedByTPM? = nil) {
        self.derivation = derivation
        self.guardian = guardian
    }

    /// nil for anything that ``encoded`` does not write.
    init?(encoded bytes: [UInt8]) {
        guard let derivation = PasscodeParameters(encoded: Array(bytes.prefix(PasscodeParameters.byteCount)))
        else { return nil }
        self.init(derivation)
        guard bytes.count > PasscodeParameters.byteCount else { return }
        guardian = SealedByTPM(encoded: Array(bytes[PasscodeParameters.byteCount...]))
        guard guardian != nil else { return nil }
    }

    var encoded: [UInt8] { derivation.encoded + (guardian?.encoded ?? []) }
}
