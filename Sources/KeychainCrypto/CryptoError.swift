/// Why a seal did not open. Deliberately vague: the bytes, the key or what they
/// were bound to do not fit together.
package enum CryptoError: Error, Hashable, Sendable {
    case doesNotOpen
    case malformed
}
