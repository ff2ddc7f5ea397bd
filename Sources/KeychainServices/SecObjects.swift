public import Foundation

// The objects of Security. Those that Latchkey does not make yet have only an
// initialiser that takes a `Never`: no instance can exist, so a call that needs
// one cannot be reached with a false one.

/// An X.509 certificate.
///
/// Latchkey does not make certificates yet; ``SecCertificateCreateWithData(_:_:)``
/// answers nil.
// @unchecked Sendable: no instance exists; none may get state that changes.
public final class SecCertificate: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}

/// A cryptographic key.
///
/// Latchkey does not make keys yet; ``SecKeyCreateRandomKey(_:_:)`` and
/// ``SecKeyCreateWithData(_:_:_:)`` answer nil and an error.
// @unchecked Sendable: no instance exists; none may get state that changes.
public final class SecKey: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}

/// A certificate together with its private key.
///
/// Latchkey does not make identities yet.
// @unchecked Sendable: no instance exists; none may get state that changes.
public final class SecIdentity: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}

/// The evaluation of a certificate chain.
///
/// Latchkey does not evaluate trust yet;
/// ``SecTrustCreateWithCertificates(_:_:_:)`` answers `errSecUnimplemented`.
// @unchecked Sendable: no instance exists; its future state needs a lock.
public final class SecTrust: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}

/// The access list of an item in macOS's file keychain.
///
/// There is no such keychain here;
/// ``SecAccessCreate(_:_:_:)`` answers `errSecUnimplemented`.
// @unchecked Sendable: no instance exists.
public final class SecAccess: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}

/// A program on an access list in macOS's file keychain.
///
/// There is no such keychain here;
/// ``SecTrustedApplicationCreateFromPath(_:_:)`` answers `errSecUnimplemented`.
// @unchecked Sendable: no instance exists.
public final class SecTrustedApplication: NSObject, @unchecked Sendable {
    package init(_ never: Never) {}
}
