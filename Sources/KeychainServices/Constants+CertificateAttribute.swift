public import Foundation

// Attributes of certificates. They are derived from the certificate when it is
// added by reference. Values are Apple's (SecItem.h, SecItemConstants.c).
// Nothing changes the strings, so sharing them is safe.

/// The subject, normalised: data (`subj`). Certificates.
@safe nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"

/// The issuer, normalised: data (`issr`). Certificates, part of what makes one
/// unique.
@safe nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"

/// The serial number: data (`slnr`). Certificates, part of what makes one
/// unique.
@safe nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"

/// The subject key identifier: data (`skid`). Certificates.
@safe nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"

/// SHA-1 of the public key, which joins certificate and key: data (`pkhh`).
/// Certificates.
@safe nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

/// The X.509 version: a number (`ctyp`). Certificates, part of what makes one
/// unique.
@safe nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"

/// The encoding, 3 for DER: a number (`cenc`). Certificates.
@safe nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
