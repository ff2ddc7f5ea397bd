public import Foundation

// Certificates: declared with Apple's signatures (SecCertificate.h), not offered yet.
//
// Two functions are weakly linked, because swift-certificates calls them wherever a
// build has a module Security, also in programs that do not link it (ARCHITECTURE.md,
// "Apple's module names").

/// Makes a certificate from its DER encoding. The allocator is ignored.
///
/// - Returns: Nil for now.
@discardableResult
#if !LATCHKEY_PREBUILT
@_weakLinked
#endif
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    nil
}

/// The DER encoding of a certificate.
///
/// - Returns: Empty data for now.
@discardableResult
#if !LATCHKEY_PREBUILT
@_weakLinked
#endif
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData()
}

/// What a person sees of a certificate: the common name, or what stands in for
/// it.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    nil
}

/// The common name of the subject.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    Unimplemented.status
}

/// The e-mail addresses of the subject: an array of strings.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate,
    _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    Unimplemented.status
}

/// The normalised name of the issuer.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    nil
}

/// The normalised name of the subject.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    nil
}

/// The serial number, as it is encoded.
///
/// - Returns: nil for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    unsafe Unimplemented.fill(error, with: "the serial number of a certificate")
    return nil
}

/// The public key of a certificate.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    nil
}

/// The public key of a certificate. Deprecated by Apple: see
/// ``SecCertificateCopyKey(_:)``.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    nil
}

/// From when a certificate is valid.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    nil
}

/// Until when a certificate is valid.
///
/// - Returns: Nil for now.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    nil
}
