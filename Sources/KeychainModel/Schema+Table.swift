// The table: class x attribute -> code, kind, default, uniqueness and the rest
// (spec section 2). Order is a promise on disk: append, never reorder.

private typealias A = SchemaAttribute
private typealias T = SchemaAttribute.Traits

private let tuple: T = [.usual, .primaryKey, .keptByTombstone]
private let indexedTuple: T = [tuple, .indexed]
private let hidden: T = [.queryable]
private let noText = AttributeValue.string("")
private let noBytes = AttributeValue.data([])
private let zero = AttributeValue.integer(0)
/// 2001-01-01T00:00:00Z (spec section 2, sdat).
private let epoch = AttributeValue.date(0)
private let plaintextFields = "com.apple.private.ckks.plaintextfields"
private let sharing = "com.apple.private.keychain.sharing"
private let systemBound = "com.apple.private.keychain.sysbound"
private let binaryFields = "com.apple.private.keychain.inet_expansion_fields"

private let common: [SchemaAttribute] = [
    A("cdat", "CreationDate", .date, [.returned, .returnedByAdd, .queryable, .keptByTombstone]),
    A("mdat", "ModificationDate", .date, [.returned, .returnedByAdd, .queryable, .updateIgnored]),
    A("labl", "Label", .blob, [.usual, .indexed]),
    A("alis", "Alias", .blob),
    A("agrp", "AccessGroup", .string, tuple),
    A("pdmn", "Accessible", .access, [.usual, .keptByTombstone]),
    A("accc", "AccessControl", .accessControl, [.returned, .returnedByAdd]),
    A("sync", "Synchronizable", .number, tuple, default: zero),
    A("tomb", "Tombstone", .number, [.returned, .queryable, .keptByTombstone], default: zero),
    A(
        "musr", "MultiUser", .uuid, [.returned, .queryable, .primaryKey, .keptByTombstone, .updateIgnored],
        default: noBytes),
    A("vwht", "SyncViewHint", .string, tuple),
    A("tkid", "TokenID", .string, tuple),
    A("ggrp", "SharingGroup", .string, tuple, entitlement: sharing),
    A("sha1", "SHA1", .sha1, [.returned, .queryable]),
    A("UUID", "UUID", .string, hidden),
    A("sysb", "SysBound", .number, hidden, entitlement: systemBound),
    A("pcss", "PCSPlaintextServiceIdentifier", .number, entitlement: plaintextFields),
    A("pcsk", "PCSPlaintextPublicKey", .blob, entitlement: plaintextFields),
    A("pcsi", "PCSPlaintextPublicIdentity", .blob, entitlement: plaintextFields),
    A("clip", "AppClipItem", .number, [.forbidden, .queryable], default: nil),
    A("dspk", "DeriveSyncIDFromItemAttributes", .ignored, []),
    A("nleg", "kSecUseDataProtectionKeychain", .ignored, []),
]

private let passwordCommon: [SchemaAttribute] = [
    A("desc", "Description", .blob),
    A("icmt", "Comment", .blob),
    A("crtr", "Creator", .number),
    A("type", "Type", .number),
    A("scrp", "ScriptCode", .number),
    A("invi", "IsInvisible", .number),
    A("nega", "IsNegative", .number),
    A("cusi", "HasCustomIcon", .number),
    A("prot", "ProtectedDataItemAttr", .blob),
]

/// Ours: what Secret Service finds passwords by. In a table of its own (`StoreSchema`).
private let lookup = A("look", "LatchkeyLookupAttributes", .lookup, [.returned, .returnedByAdd])

/// Secret extras of internet passwords: in the result only with the data.
private func binary(_ code: AttributeCode, _ name: String) -> SchemaAttribute {
    A(code, name, .data, [.returned, .secret, .digested], entitlement: binaryFields)
}

extension Schema {
    static let genericPassword = Schema(
        .genericPassword,
        common + [
            A("acct", "Account", .blob, indexedTuple, default: noText),
            A("svce", "Service", .blob, indexedTuple, default: noText),
            A("gena", "Generic", .blob),
        ] + passwordCommon + [lookup])

    static let internetPassword = Schema(
        .internetPassword,
        common + [
            A("acct", "Account", .blob, indexedTuple, default: noText),
            A("sdmn", "SecurityDomain", .blob, tuple, default: noText),
            A("srvr", "Server", .blob, indexedTuple, default: noText),
            A("ptcl", "Protocol", .number, tuple, default: zero),
            A("atyp", "AuthenticationType", .blob, tuple, default: noText),
            A("port", "Port", .number, tuple, default: zero),
            A("path", "Path", .blob, tuple, default: noText),
        ] + passwordCommon + [
            binary("binn", "Notes"), binary("bini", "History"), binary("bin0", "ClientDefined0"),
            binary("bin1", "ClientDefined1"), binary("bin2", "ClientDefined2"), binary("bin3", "ClientDefined3"),
            lookup,
        ])

    static let certificate = Schema(
        .certificate,
        common + [
            A("ctyp", "CertificateType", .number, tuple, default: zero),
            A("issr", "Issuer", .data, indexedTuple, default: noBytes),
            A("slnr", "SerialNumber", .data, tuple, default: noBytes),
            A("cenc", "CertificateEncoding", .number),
            A("subj", "Subject", .data, [.usual, .indexed]),
            A("skid", "SubjectKeyID", .data, [.usual, .indexed]),
            A("pkhh", "PublicKeyHash", .data, [.usual, .indexed]),
        ])

    private static func usage(_ code: AttributeCode, _ name: String) -> SchemaAttribute { A(code, name, .number) }

    static let key = Schema(
        .key,
        common + [
            A("kcls", "KeyClass", .number, tuple, default: zero),
            A("klbl", "ApplicationLabel", .data, indexedTuple, default: noBytes),
            A("atag", "ApplicationTag", .blob, indexedTuple, default: noText),
            A("crtr", "KeyCreator", .number, tuple, default: zero),
            A("type", "KeyType", .number, tuple, default: zero),
            A("bsiz", "KeySizeInBits", .number, tuple, default: zero),
            A("esiz", "EffectiveKeySize", .number, tuple, default: zero),
            A("sdat", "StartDate", .date, tuple, default: epoch),
            A("edat", "EndDate", .date, tuple, default: epoch),
            usage("perm", "IsPermanent"), usage("priv", "IsPrivate"), usage("modi", "IsModifiable"),
            usage("sens", "IsSensitive"), usage("asen", "WasAlwaysSensitive"), usage("extr", "IsExtractable"),
            usage("next", "WasNeverExtractable"), usage("encr", "CanEncrypt"), usage("decr", "CanDecrypt"),
            usage("drve", "CanDerive"), usage("sign", "CanSign"), usage("vrfy", "CanVerify"),
            usage("snrc", "CanSignRecover"), usage("vyrc", "CanVerifyRecover"), usage("wrap", "CanWrap"),
            usage("unwp", "CanUnwrap"),
        ])

    /// Accepts any attribute of certificates or of keys; the certificate's
    /// definition wins where both have it (spec section 2).
    static let identity = Schema(
        .identity, certificate.attributes + key.attributes.filter { certificate[$0.code] == nil })
}
