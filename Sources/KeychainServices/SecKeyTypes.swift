public import Foundation

/// What a key is asked to do; see ``SecKeyIsAlgorithmSupported(_:_:_:)``.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Making a signature with a private key.
    case sign = 0
    /// Checking a signature with a public key.
    case verify = 1
    /// Encrypting to a public key.
    case encrypt = 2
    /// Decrypting with a private key.
    case decrypt = 3
    /// Agreeing on a secret with another's public key.
    case keyExchange = 4
}

/// A parameter of a key exchange; a key of the dictionary that
/// ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`` takes.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The string that stands in the dictionary.
    public var rawValue: CFString { NSString(string: name) }

    /// The parameter of this name.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// The number of bytes that are wanted: a number (`requestedSize`).
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")

    /// What both sides mix in: data (`sharedInfo`).
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

/// The padding of the older calls, `SecKeyRawSign` and its neighbours.
///
/// The empty set is no padding. Newer code names a ``SecKeyAlgorithm``.
public struct SecPadding: OptionSet, Sendable {
    /// Apple's number for the padding.
    public let rawValue: UInt32

    /// The padding with this number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// PKCS #1 version 1.5.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// Optimal asymmetric encryption padding with SHA-1.
    public static let OAEP = SecPadding(rawValue: 2)
    /// The signature of an elliptic curve key as its two numbers, one after the
    /// other.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// PKCS #1 for an MD2 digest.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// PKCS #1 for an MD5 digest.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS #1 for a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS #1 for a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS #1 for a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS #1 for a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS #1 for a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}
