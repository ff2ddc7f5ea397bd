public import Foundation

// Keys of SecPKCS12Import and of shared web credentials. Values are Apple's
// (SecImportExport.h, SecPKCS12.c, SecSharedCredential.h). Nothing changes the
// strings, so sharing them is safe.

// MARK: Options of an import

/// The password of the file: a string (`passphrase`).
@safe nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"

/// The file keychain to import into (macOS) (`keychain`).
@safe nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"

/// The access list for imported keys (macOS) (`access`).
@safe nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"

/// Whether to store nothing: a Boolean (`memory`).
@safe nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"

// MARK: Results of an import

/// The label of the item: a string (`label`).
@safe nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"

/// The identifier of the key, usually SHA-1 of the public key: data (`keyid`).
@safe nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"

/// The trust object for the identity's certificate: a `SecTrust` (`trust`).
@safe nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"

/// The certificates, the leaf first: an array of `SecCertificate` (`chain`).
@safe nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"

/// The identity: a `SecIdentity` (`identity`).
@safe nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"

// MARK: Shared web credentials

/// The password in the result of `SecRequestSharedWebCredential`: a string
/// (`spwd`).
@safe nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
