// Identities: declared with Apple's signatures (SecIdentity.h), not offered yet.

/// The certificate of an identity.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    Unimplemented.status
}

/// The private key of an identity.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    Unimplemented.status
}

/// Finds the private key of a certificate in the keychain (macOS).
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?,
    _ certificateRef: SecCertificate,
    _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    Unimplemented.status
}

/// Joins a certificate and its private key; nil if they do not belong together.
/// The allocator is ignored.
///
/// - Returns: Nil for now.
@discardableResult
public func SecIdentityCreate(
    _ allocator: CFAllocator?,
    _ certificate: SecCertificate,
    _ privateKey: SecKey
) -> SecIdentity? {
    nil
}
