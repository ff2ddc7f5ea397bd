public import Foundation

// Attributes that every class has, and those of passwords. Values are Apple's
// (SecItem.h, SecItemConstants.c). Nothing changes the strings, so sharing them
// is safe.

// MARK: Every class

/// When the item can be opened: one of the `kSecAttrAccessible…` values, as a
/// string (`pdmn`). Without it `kSecAttrAccessibleWhenUnlocked`; beside
/// `kSecAttrAccessControl` `errSecParam`.
@safe nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"

/// The access list of macOS's file keychain (`SecAccess`); not an attribute of
/// ours (`acls`).
@safe nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

/// What must be met before the item opens: a `SecAccessControl` (`accc`). One
/// with a constraint is refused with `errSecUnimplemented` until something can
/// enforce it.
@safe nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"

/// The access group the item belongs to: a string (`agrp`). Part of what makes
/// an item unique. Without it an add takes the program's first group and a
/// query looks in all; a group of others is `errSecMissingEntitlement`.
@safe nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"

/// Whether the item may leave the machine through sync: a Boolean (`sync`).
/// Part of what makes an item unique; a query without it sees items of this
/// machine alone. Nothing synchronizes yet.
@safe nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"

/// In a query: items that sync and items that do not (`syna`).
@safe nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"

/// The sync view the item is meant for: a string (`vwht`).
@safe nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"

/// The token that holds the item: a string (`tkid`). There are no tokens yet:
/// an add is `errSecItemNotFound`, and a query matches nothing.
@safe nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"

/// Value of `kSecAttrTokenID`: the enclave (`com.apple.setoken`).
@safe nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

/// The access group of items on tokens; it can be read but not written
/// (`com.apple.token`).
@safe nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"

/// The persistent reference as an attribute: data (`persistref`).
@safe nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

/// The same as `kSecAttrPersistentReference`, in its first spelling
/// (`persistref`).
@safe nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"

/// When the item was added: a date, set by the keychain (`cdat`).
@safe nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"

/// When the item was last changed: a date, set by the keychain (`mdat`).
@safe nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"

/// The name a person sees: a string (`labl`).
@safe nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"

// MARK: Passwords

/// The kind of item, in words a person sees: a string (`desc`). Passwords.
@safe nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"

/// A comment: a string (`icmt`). Passwords.
@safe nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"

/// The creator, as a four-character code: a number (`crtr`). Passwords and
/// keys.
@safe nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"

/// The type, as a four-character code: a number (`type`). Passwords; on keys
/// the same code is `kSecAttrKeyType`.
@safe nonisolated(unsafe) public let kSecAttrType: CFString = "type"

/// Whether programs should not list the item: a Boolean (`invi`). Passwords.
@safe nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"

/// Whether the item says that there is no password to be kept: a Boolean
/// (`nega`). Passwords.
@safe nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"

/// The account: a string (`acct`). Passwords, part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"

/// The service: a string (`svce`). Generic passwords, part of what makes one
/// unique.
@safe nonisolated(unsafe) public let kSecAttrService: CFString = "svce"

/// The program's own data: data (`gena`). Generic passwords.
@safe nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// MARK: Internet passwords

/// The security domain or realm: a string (`sdmn`). Part of what makes one
/// unique.
@safe nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"

/// The host name or address: a string (`srvr`). Part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"

/// The protocol: one of the `kSecAttrProtocol…` values (`ptcl`). Part of what
/// makes one unique.
@safe nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"

/// How the server authenticates: one of the `kSecAttrAuthenticationType…`
/// values (`atyp`). Part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"

/// The port: a number (`port`). Part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrPort: CFString = "port"

/// The path, as in a URL: a string (`path`). Part of what makes one unique.
@safe nonisolated(unsafe) public let kSecAttrPath: CFString = "path"
