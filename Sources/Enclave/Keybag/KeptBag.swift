internal import KeychainCrypto
internal import KeychainPlatform

/// What is left of an open bag in a locked keychain that a finger may open again: its own
/// key, and what a person opens. No class key is in it, and nothing of it on a disk; the
/// effacement secret is read anew. Wiped with its owner.
struct KeptBag: ~Copyable, Sendable {
    let key: SealingKey
    let person: SharedSecret
}
