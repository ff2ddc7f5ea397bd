public import Foundation

// Policies and results of trust. Values are Apple's (SecPolicy.h,
// SecPolicy.list, SecTrust.h, SecTrust.c). Nothing changes the strings, so
// sharing them is safe.

// MARK: Policies

/// The policy for plain X.509 chains (`1.2.840.113635.100.1.2`).
@safe nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"

/// The policy for TLS (`1.2.840.113635.100.1.3`).
@safe nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"

/// The policy for secure mail (`1.2.840.113635.100.1.8`).
@safe nonisolated(unsafe) public let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"

/// The policy for EAP (`1.2.840.113635.100.1.9`).
@safe nonisolated(unsafe) public let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"

/// The policy for IPsec (`1.2.840.113635.100.1.11`).
@safe nonisolated(unsafe) public let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"

/// The policy for Kerberos PKINIT clients (`1.2.840.113635.100.1.14`).
@safe nonisolated(unsafe) public let kSecPolicyApplePKINITClient: CFString = "1.2.840.113635.100.1.14"

/// The policy for Kerberos PKINIT servers (`1.2.840.113635.100.1.15`).
@safe nonisolated(unsafe) public let kSecPolicyApplePKINITServer: CFString = "1.2.840.113635.100.1.15"

/// The policy for code signing (`1.2.840.113635.100.1.16`).
@safe nonisolated(unsafe) public let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"

/// The policy for Apple ID validation (`1.2.840.113635.100.1.18`).
@safe nonisolated(unsafe) public let kSecPolicyAppleIDValidation: CFString = "1.2.840.113635.100.1.18"

/// The policy for Mac App Store receipts (`1.2.840.113635.100.1.19`).
@safe nonisolated(unsafe) public let kSecPolicyMacAppStoreReceipt: CFString = "1.2.840.113635.100.1.19"

/// The policy for time stamps (`1.2.840.113635.100.1.20`).
@safe nonisolated(unsafe) public let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"

/// The policy for revocation (`1.2.840.113635.100.1.21`).
@safe nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"

/// The policy for Wallet passes (`1.2.840.113635.100.1.22`).
@safe nonisolated(unsafe) public let kSecPolicyApplePassbookSigning: CFString = "1.2.840.113635.100.1.22"

/// The policy for Apple Pay issuers (`1.2.840.113635.100.1.39`).
@safe nonisolated(unsafe) public let kSecPolicyApplePayIssuerEncryption: CFString = "1.2.840.113635.100.1.39"

// MARK: Properties of a policy

/// The identifier of the policy: a string (`SecPolicyOid`).
@safe nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"

/// The host name or e-mail address that must match: a string (`SecPolicyName`).
@safe nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"

/// Whether the policy is for the client side: a Boolean (`SecPolicyClient`).
@safe nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"

/// How to check revocation, `kSecRevocation…`: a number
/// (`SecPolicyRevocationFlags`).
@safe nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"

/// The team that must have signed: a string (`SecPolicyTeamIdentifier`).
@safe nonisolated(unsafe) public let kSecPolicyTeamIdentifier: CFString = "SecPolicyTeamIdentifier"

// MARK: Result of an evaluation

/// When trust was evaluated: a date (`TrustEvaluationDate`).
@safe nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"

/// Whether the chain passed extended validation: a Boolean
/// (`TrustExtendedValidation`).
@safe nonisolated(unsafe) public let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"

/// The organisation of an extended validation: a string (`Organization`).
@safe nonisolated(unsafe) public let kSecTrustOrganizationName: CFString = "Organization"

/// The result, `SecTrustResultType`: a number (`TrustResultValue`).
@safe nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"

/// Whether revocation was checked: a Boolean (`TrustRevocationChecked`).
@safe nonisolated(unsafe) public let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"

/// Until when the answer about revocation holds: a date
/// (`TrustExpirationDate`).
@safe nonisolated(unsafe) public let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"

/// Whether the certificate is logged publicly: a Boolean
/// (`TrustCertificateTransparency`).
@safe nonisolated(unsafe) public let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"

/// Whether the certificate is on the list of those excused from it: a Boolean
/// (`TrustCertificateTransparencyWhiteList`).
@safe nonisolated(unsafe) public let kSecTrustCertificateTransparencyWhiteList: CFString =
    "TrustCertificateTransparencyWhiteList"

// MARK: Properties of a result

/// The title of a property: a string (`title`).
@safe nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"

/// What is wrong: a string (`error`).
@safe nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"

// MARK: How to check revocation

/// Ask the OCSP server.
public var kSecRevocationOCSPMethod: CFOptionFlags { 1 << 0 }

/// Look in the revocation list.
public var kSecRevocationCRLMethod: CFOptionFlags { 1 << 1 }

/// Prefer the revocation list where both exist.
public var kSecRevocationPreferCRL: CFOptionFlags { 1 << 2 }

/// Fail if no good answer comes.
public var kSecRevocationRequirePositiveResponse: CFOptionFlags { 1 << 3 }

/// Use only answers at hand.
public var kSecRevocationNetworkAccessDisabled: CFOptionFlags { 1 << 4 }

/// OCSP or the revocation list, whichever there is.
public var kSecRevocationUseAnyAvailableMethod: CFOptionFlags { kSecRevocationOCSPMethod | kSecRevocationCRLMethod }
