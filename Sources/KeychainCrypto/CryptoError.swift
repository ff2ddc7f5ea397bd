/// Why a seal did not open. Deliberately vague: the bytes, the key or what they
/// were bound to do not fit together.
package enum CryptoError: Error, Hashable, Sendable {
    case doesNotOpen
    case malformed
    /// There is no memory for what it holds: no word about the seal.
    case noMemory
}
