public import Foundation

// Keys: declared with Apple's signatures (SecKey.h), not offered yet.

/// Makes a key, or a pair of which the private key is the answer, and stores it
/// if `kSecAttrIsPermanent` says so.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    unsafe Unimplemented.fill(error, with: "making a key")
    return nil
}

/// Makes a key from its bytes.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    unsafe Unimplemented.fill(error, with: "making a key from its bytes")
    return nil
}

/// The public key that belongs to a key.
///
/// - Returns: Nil for now.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    nil
}

/// The bytes of a key: PKCS #1 for RSA, X9.63 for elliptic curves.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "the bytes of a key")
    return nil
}

/// The attributes of a key.
///
/// - Returns: Nil for now.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    nil
}

/// The size of a key's block in bytes: the modulus, or a coordinate of the
/// curve.
///
/// - Returns: 0 for now.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    0
}

/// Whether a key can be used with an algorithm.
///
/// - Returns: False for now.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey,
    _ operation: SecKeyOperationType,
    _ algorithm: SecKeyAlgorithm
) -> Bool {
    false
}

/// Signs data.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "signing")
    return nil
}

/// Whether a signature matches data and key.
///
/// - Returns: False for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ signedData: CFData,
    _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    unsafe Unimplemented.fill(error, with: "verifying a signature")
    return false
}

/// Encrypts data for the holder of a private key.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "encrypting with a key")
    return nil
}

/// Decrypts data with a private key.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "decrypting with a key")
    return nil
}

/// Agrees on a secret from one side's private and the other side's public key.
/// `parameters` takes the keys of ``SecKeyKeyExchangeParameter``.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ publicKey: SecKey,
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "a key exchange")
    return nil
}

/// Makes a pair of keys. Deprecated by Apple: see
/// ``SecKeyCreateRandomKey(_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary,
    _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    Unimplemented.status
}

/// Signs a digest. Deprecated by Apple: see
/// ``SecKeyCreateSignature(_:_:_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey,
    _ padding: SecPadding,
    _ dataToSign: UnsafePointer<UInt8>,
    _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    Unimplemented.status
}

/// Whether a signature matches a digest. Deprecated by Apple: see
/// ``SecKeyVerifySignature(_:_:_:_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey,
    _ padding: SecPadding,
    _ signedData: UnsafePointer<UInt8>,
    _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    Unimplemented.status
}

/// Encrypts a block. Deprecated by Apple: see
/// ``SecKeyCreateEncryptedData(_:_:_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ plainText: UnsafePointer<UInt8>,
    _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    Unimplemented.status
}

/// Decrypts a block. Deprecated by Apple: see
/// ``SecKeyCreateDecryptedData(_:_:_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ cipherText: UnsafePointer<UInt8>,
    _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    Unimplemented.status
}
