public import Dispatch
public import Foundation

// Trust: declared with Apple's signatures (SecTrust.h), not offered yet. Every
// evaluation fails: nothing is trusted that was not looked at.

/// Makes a trust object for a chain (a certificate or an array, the leaf first)
/// and policies (one or an array).
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    Unimplemented.status
}

/// Evaluates trust.
///
/// - Returns: False for now; the error says `errSecUnimplemented`.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    unsafe error?.pointee = Unimplemented.error("evaluating trust")
    return false
}

/// Evaluates trust in the background and calls `result` on `queue`. When the
/// status is not success, `result` is not called.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust,
    _ queue: DispatchQueue,
    _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    Unimplemented.status
}

/// Evaluates trust. Deprecated by Apple: see
/// ``SecTrustEvaluateWithError(_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    Unimplemented.status
}

/// Evaluates trust in the background. Deprecated by Apple: see
/// ``SecTrustEvaluateAsyncWithError(_:_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust,
    _ queue: DispatchQueue?,
    _ result: @escaping SecTrustCallback
) -> OSStatus {
    Unimplemented.status
}

/// The result of the last evaluation.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    Unimplemented.status
}

/// What is known of the last evaluation: the `kSecTrust…` keys.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    nil
}

/// A description of each certificate in the last evaluation.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    nil
}

/// The chain of the last evaluation, the leaf first.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    nil
}

/// The public key of the leaf.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    nil
}

/// The public key of the leaf. Deprecated by Apple: see
/// ``SecTrustCopyKey(_:)``.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? {
    nil
}

/// The number of certificates in the chain.
///
/// - Returns: 0 for now.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    0
}

/// One certificate of the chain; 0 is the leaf. Deprecated by Apple: see
/// ``SecTrustCopyCertificateChain(_:)``.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    nil
}

/// Replaces the policies: one or an array.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    Unimplemented.status
}

/// The policies: an array of ``SecPolicy``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    Unimplemented.status
}

/// Trusts these roots instead of the system's. Nil goes back to the system's.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    Unimplemented.status
}

/// Whether only the roots set by ``SecTrustSetAnchorCertificates(_:_:)`` count,
/// or the system's too.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    Unimplemented.status
}

/// The roots set by ``SecTrustSetAnchorCertificates(_:_:)``.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust,
    _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    Unimplemented.status
}

/// Evaluates as of this date instead of now.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    Unimplemented.status
}

/// The time as of which trust is evaluated.
///
/// - Returns: 0 for now.
@discardableResult
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    0
}

/// Whether missing certificates may be fetched from the network.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    Unimplemented.status
}

/// Whether missing certificates may be fetched from the network.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust,
    _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    Unimplemented.status
}

/// Hands over OCSP answers that the server sent along: data or an array.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    Unimplemented.status
}

/// Hands over signed certificate timestamps that the server sent along.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    Unimplemented.status
}

/// An opaque record of the failures of the last evaluation, to be excused
/// later.
///
/// - Returns: Nil for now.
@discardableResult
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    nil
}

/// Excuses the failures in a record made by ``SecTrustCopyExceptions(_:)``.
///
/// - Returns: False for now.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    false
}
