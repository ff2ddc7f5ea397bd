public import Foundation

// Attributes of keys and their values. Values are Apple's (SecItem.h,
// SecItemConstants.c); key types and classes are numbers written as strings.
// Nothing changes the strings, so sharing them is safe.

// MARK: Attributes

/// Public, private or symmetric: one of the `kSecAttrKeyClass…` values
/// (`kcls`). Keys.
@safe nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"

/// The algorithm: one of the `kSecAttrKeyType…` values (`type`). Keys.
@safe nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"

/// SHA-1 of the public key, which joins key and certificate: data (`klbl`).
/// Keys.
@safe nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"

/// The program's own tag: data (`atag`). Keys, part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"

/// Whether the key is to be stored when it is made: a Boolean (`perm`). Keys.
@safe nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"

/// Whether the key leaves only encrypted: a Boolean (`sens`). Keys.
@safe nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"

/// Whether the key may leave at all: a Boolean (`extr`). Keys.
@safe nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"

/// The size of the key in bits: a number (`bsiz`). Keys.
@safe nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"

/// The number of bits that count: a number (`esiz`). Keys.
@safe nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"

/// Whether the key may encrypt: a Boolean (`encr`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"

/// Whether the key may decrypt: a Boolean (`decr`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"

/// Whether the key may derive other keys: a Boolean (`drve`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"

/// Whether the key may sign: a Boolean (`sign`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"

/// Whether the key may verify signatures: a Boolean (`vrfy`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"

/// Whether the key may wrap other keys: a Boolean (`wrap`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"

/// Whether the key may unwrap other keys: a Boolean (`unwp`). Keys.
@safe nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"

// MARK: Derivation from a password (macOS)

/// The pseudo-random function: one of the `kSecAttrPRFHmacAlg…` values (`prf`).
@safe nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"

/// The salt: data (`salt`).
@safe nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"

/// The number of rounds: a number (`rounds`).
@safe nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"

/// HMAC with SHA-1 (`hsha1`).
@safe nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"

/// HMAC with SHA-224 (`hsha224`).
@safe nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"

/// HMAC with SHA-256 (`hsha256`).
@safe nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"

/// HMAC with SHA-384 (`hsha384`).
@safe nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"

/// HMAC with SHA-512 (`hsha512`).
@safe nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"

// MARK: Key classes

/// A public key (`0`).
@safe nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"

/// A private key (`1`).
@safe nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"

/// A symmetric key (`2`).
@safe nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

// MARK: Key types

/// RSA (`42`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"

/// Elliptic curve P-192, P-256, P-384 or P-521 (`73`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

/// The same as `kSecAttrKeyTypeECSECPrimeRandom` (`73`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"

/// The same as `kSecAttrKeyTypeECSECPrimeRandom`, macOS (`73`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"

/// DSA, macOS (`43`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"

/// AES, macOS (`2147483649`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"

/// DES, macOS (`14`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"

/// Triple DES, macOS (`17`).
@safe nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"

/// RC2, macOS (`23`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"

/// RC4, macOS (`25`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"

/// CAST, macOS (`56`).
@safe nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"

// MARK: Making a pair

/// In the parameters of a new pair: a dictionary of attributes for the private
/// key (`private`).
@safe nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"

/// In the parameters of a new pair: a dictionary of attributes for the public
/// key (`public`).
@safe nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
