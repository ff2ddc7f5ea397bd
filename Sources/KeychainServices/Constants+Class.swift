public import Foundation

// The class of an item. The strings are Apple's (SecItem.h,
// SecItemConstants.c): programs look them up in dictionaries. Nothing changes
// the strings, so sharing them is safe.

// MARK: Key

/// The key under which a query or an item names its class (`class`).
@safe nonisolated(unsafe) public let kSecClass: CFString = "class"

// MARK: Values

/// A password, token or other secret, found by service and account (`genp`).
@safe nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"

/// A password for a server, found by server, protocol, port, path and account
/// (`inet`).
@safe nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"

/// An X.509 certificate (`cert`).
@safe nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"

/// A cryptographic key (`keys`).
@safe nonisolated(unsafe) public let kSecClassKey: CFString = "keys"

/// A certificate together with its private key; never stored, always joined
/// (`idnt`).
@safe nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
