import Dispatch
import Foundation
import Security

// The functions that wrappers call, each with exactly the type that Apple's SDK gives
// it in Swift: code that keeps one in a variable, or passes it, compiles unchanged.

private typealias Failure = UnsafeMutablePointer<Unmanaged<CFError>?>?

/// Compares types, not convertibility: an argument that became optional is noticed.
/// In the mode of Swift 6 a function is Sendable as well.
private func has(_ function: Any, _ wanted: Any.Type, line: Int = #line) {
    let found = "\(type(of: function))".replacingOccurrences(of: "@Sendable ", with: "")
    expect(found == "\(wanted)", "\(found) is not \(wanted)", line: line)
}

func signaturesOfItems() throws {
    has(SecItemAdd, ((CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus).self)
    has(SecItemCopyMatching, ((CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus).self)
    has(SecItemUpdate, ((CFDictionary, CFDictionary) -> OSStatus).self)
    has(SecItemDelete, ((CFDictionary) -> OSStatus).self)
    has(
        SecAccessControlCreateWithFlags,
        ((CFAllocator?, CFTypeRef, SecAccessControlCreateFlags, Failure) -> SecAccessControl?).self)
    has(SecCopyErrorMessageString, ((OSStatus, UnsafeMutableRawPointer?) -> CFString?).self)
    has(SecRandomCopyBytes, ((SecRandomRef?, Int, UnsafeMutableRawPointer) -> Int32).self)
    has(SecCreateSharedWebCredentialPassword, (() -> CFString?).self)
    has(
        SecAddSharedWebCredential,
        ((CFString, CFString, CFString?, @escaping (CFError?) -> Void) -> Void).self)
    has(
        SecRequestSharedWebCredential,
        ((CFString?, CFString?, @escaping (CFArray?, CFError?) -> Void) -> Void).self)
    has(CFGetTypeID, ((CFTypeRef?) -> CFTypeID).self)
    for number in [SecAccessControlGetTypeID, SecKeyGetTypeID, SecCertificateGetTypeID] {
        has(number, (() -> CFTypeID).self)
    }
    has(CFErrorGetCode, ((CFError?) -> CFIndex).self)
    has(CFErrorGetDomain, ((CFError?) -> CFErrorDomain?).self)
    has(CFErrorCopyUserInfo, ((CFError?) -> CFDictionary?).self)
    let allocator: CFAllocator? = kCFAllocatorDefault
    let random: SecRandomRef? = kSecRandomDefault
    let identifier: CFString = kCFBundleIdentifierKey
    expect(allocator == nil && random == nil && identifier as String == "CFBundleIdentifier")
    expect(OSStatus.self == Int32.self && CFOptionFlags.self == UInt.self && CFIndex.self == Int.self)
}

func signaturesOfKeys() throws {
    has(SecKeyCreateRandomKey, ((CFDictionary, Failure) -> SecKey?).self)
    has(SecKeyCreateWithData, ((CFData, CFDictionary, Failure) -> SecKey?).self)
    has(SecKeyCopyPublicKey, ((SecKey) -> SecKey?).self)
    has(SecKeyCopyExternalRepresentation, ((SecKey, Failure) -> CFData?).self)
    has(SecKeyCopyAttributes, ((SecKey) -> CFDictionary?).self)
    has(SecKeyGetBlockSize, ((SecKey) -> Int).self)
    has(SecKeyIsAlgorithmSupported, ((SecKey, SecKeyOperationType, SecKeyAlgorithm) -> Bool).self)
    has(SecKeyCreateSignature, ((SecKey, SecKeyAlgorithm, CFData, Failure) -> CFData?).self)
    has(SecKeyVerifySignature, ((SecKey, SecKeyAlgorithm, CFData, CFData, Failure) -> Bool).self)
    has(SecKeyCreateEncryptedData, ((SecKey, SecKeyAlgorithm, CFData, Failure) -> CFData?).self)
    has(SecKeyCreateDecryptedData, ((SecKey, SecKeyAlgorithm, CFData, Failure) -> CFData?).self)
    has(SecKeyCopyKeyExchangeResult, ((SecKey, SecKeyAlgorithm, SecKey, CFDictionary, Failure) -> CFData?).self)
    has(
        SecKeyGeneratePair,
        ((CFDictionary, UnsafeMutablePointer<SecKey?>?, UnsafeMutablePointer<SecKey?>?) -> OSStatus).self)
    has(
        SecKeyRawSign,
        ((SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>)
            -> OSStatus).self)
    has(
        SecKeyRawVerify,
        ((SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafePointer<UInt8>, Int) -> OSStatus).self)
    let raw =
        ((SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>)
        -> OSStatus).self
    has(SecKeyEncrypt, raw)
    has(SecKeyDecrypt, raw)

    let algorithms: [SecKeyAlgorithm] = [
        .ecdsaSignatureMessageX962SHA256, .ecdsaSignatureDigestX962SHA256, .rsaSignatureMessagePKCS1v15SHA256,
        .rsaSignatureMessagePSSSHA256, .rsaEncryptionOAEPSHA256, .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
        .eciesEncryptionStandardX963SHA256AESGCM, .ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactorX963SHA256,
    ]
    expect(Set(algorithms).count == algorithms.count)
    expect(SecKeyAlgorithm(rawValue: algorithms[0].rawValue) == .ecdsaSignatureMessageX962SHA256)
    let operations: [SecKeyOperationType] = [.sign, .verify, .encrypt, .decrypt, .keyExchange]
    expect(operations.map(\.rawValue) == [0, 1, 2, 3, 4])
    let parameters: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 32, .sharedInfo: Data()]
    expect(parameters[.requestedSize] as? Int == 32)
    expect((SecKeyKeyExchangeParameter.requestedSize.rawValue as String).isEmpty == false)
}

func signaturesOfCertificates() throws {
    has(SecCertificateCreateWithData, ((CFAllocator?, CFData) -> SecCertificate?).self)
    has(SecCertificateCopyData, ((SecCertificate) -> CFData).self)
    has(SecCertificateCopySubjectSummary, ((SecCertificate) -> CFString?).self)
    has(SecCertificateCopyCommonName, ((SecCertificate, UnsafeMutablePointer<CFString?>) -> OSStatus).self)
    has(SecCertificateCopyEmailAddresses, ((SecCertificate, UnsafeMutablePointer<CFArray?>) -> OSStatus).self)
    has(SecCertificateCopyNormalizedIssuerSequence, ((SecCertificate) -> CFData?).self)
    has(SecCertificateCopyNormalizedSubjectSequence, ((SecCertificate) -> CFData?).self)
    has(SecCertificateCopySerialNumberData, ((SecCertificate, Failure) -> CFData?).self)
    has(SecCertificateCopyKey, ((SecCertificate) -> SecKey?).self)
    has(SecCertificateCopyNotValidBeforeDate, ((SecCertificate) -> CFDate?).self)
    has(SecCertificateCopyNotValidAfterDate, ((SecCertificate) -> CFDate?).self)
    has(SecIdentityCopyCertificate, ((SecIdentity, UnsafeMutablePointer<SecCertificate?>) -> OSStatus).self)
    has(SecIdentityCopyPrivateKey, ((SecIdentity, UnsafeMutablePointer<SecKey?>) -> OSStatus).self)
    has(
        SecIdentityCreateWithCertificate,
        ((CFTypeRef?, SecCertificate, UnsafeMutablePointer<SecIdentity?>) -> OSStatus).self)
    has(SecPKCS12Import, ((CFData, CFDictionary, UnsafeMutablePointer<CFArray?>) -> OSStatus).self)
    has(
        SecItemExport,
        ((
            CFTypeRef, SecExternalFormat, SecItemImportExportFlags, UnsafePointer<SecItemImportExportKeyParameters>?,
            UnsafeMutablePointer<CFData?>
        ) -> OSStatus).self)
    has(SecAccessCreate, ((CFString, CFArray?, UnsafeMutablePointer<SecAccess?>) -> OSStatus).self)
    has(
        SecTrustedApplicationCreateFromPath,
        ((UnsafePointer<CChar>?, UnsafeMutablePointer<SecTrustedApplication?>) -> OSStatus).self)
}

/// The evaluation takes a pointer to a `CFError?`; the calls about keys one to an
/// `Unmanaged<CFError>?`.
func signaturesOfTrust() throws {
    has(SecTrustEvaluateWithError, ((SecTrust, UnsafeMutablePointer<CFError?>?) -> Bool).self)
    has(
        SecTrustEvaluateAsyncWithError,
        ((SecTrust, DispatchQueue, @escaping (SecTrust, Bool, CFError?) -> Void) -> OSStatus).self)
    has(SecPolicyCreateSSL, ((Bool, CFString?) -> SecPolicy).self)
    has(SecPolicyCreateBasicX509, (() -> SecPolicy).self)
    has(SecPolicyCreateRevocation, ((CFOptionFlags) -> SecPolicy?).self)
    has(
        SecTrustCreateWithCertificates,
        ((CFTypeRef, CFTypeRef?, UnsafeMutablePointer<SecTrust?>) -> OSStatus).self)
    has(SecTrustCopyCertificateChain, ((SecTrust) -> CFArray?).self)
    has(SecTrustGetCertificateCount, ((SecTrust) -> CFIndex).self)
    has(SecTrustGetCertificateAtIndex, ((SecTrust, CFIndex) -> SecCertificate?).self)
    has(SecTrustSetAnchorCertificates, ((SecTrust, CFArray?) -> OSStatus).self)
    has(SecTrustSetAnchorCertificatesOnly, ((SecTrust, Bool) -> OSStatus).self)
    has(SecTrustSetPolicies, ((SecTrust, CFTypeRef) -> OSStatus).self)
    has(SecTrustSetVerifyDate, ((SecTrust, CFDate) -> OSStatus).self)
    has(SecTrustCopyKey, ((SecTrust) -> SecKey?).self)
    has(SecTrustCopyResult, ((SecTrust) -> CFDictionary?).self)
    has(SecTrustGetTrustResult, ((SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus).self)
}
