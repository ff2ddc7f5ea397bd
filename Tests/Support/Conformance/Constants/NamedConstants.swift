internal import KeychainServices

/// The constants that a corpus names, by name: what `kSecAttrAccount` in a case
/// stands for is what it stands for in a program.
package enum NamedConstants {
    typealias Entry = (name: String, value: CFString)

    /// Text by name. `NSString` may not be shared between threads; its text may.
    package static let texts: [String: String] = {
        var texts = privateTexts
        for (name, value) in query + attribute + keyAttribute + netProtocol + object { texts[name] = value as String }
        return texts
    }()

    package static func text(_ name: String) -> String? { texts[name] }

    /// Names that Apple's public headers do not have and a corpus may use (spec
    /// sections 1.1 and 2).
    private static let privateTexts: [String: String] = [
        "kSecAttrAlias": "alis", "kSecAttrTombstone": "tomb", "kSecAttrMultiUser": "musr",
        "kSecAttrSharingGroup": "ggrp", "kSecAttrSHA1": "sha1", "kSecAttrUUID": "UUID", "kSecAttrSysBound": "sysb",
        "kSecAttrPCSPlaintextServiceIdentifier": "pcss", "kSecAttrPCSPlaintextPublicKey": "pcsk",
        "kSecAttrPCSPlaintextPublicIdentity": "pcsi", "kSecAttrAppClipItem": "clip",
        "kSecAttrDeriveSyncIDFromItemAttributes": "dspk", "kSecProtectedDataItemAttr": "prot",
        "kSecAttrScriptCode": "scrp", "kSecAttrHasCustomIcon": "cusi", "kSecAttrStartDate": "sdat",
        "kSecAttrEndDate": "edat",
        "kSecAttrIsPrivate": "priv", "kSecAttrIsModifiable": "modi", "kSecAttrWasAlwaysSensitive": "asen",
        "kSecAttrWasNeverExtractable": "next", "kSecAttrCanSignRecover": "snrc", "kSecAttrCanVerifyRecover": "vyrc",
        "kSecAttrNotes": "binn", "kSecDataInetExtraNotes": "binn", "kSecDataInetExtraHistory": "bini",
        "kSecDataInetExtraClientDefined0": "bin0", "kSecDataInetExtraClientDefined1": "bin1",
        "kSecDataInetExtraClientDefined2": "bin2", "kSecDataInetExtraClientDefined3": "bin3",
        "kSecUseTombstones": "u_Tomb", "kSecUseCredentialReference": "u_CredRef",
        "kSecUseSystemKeychain": "u_SystemKeychain", "kSecUseSystemKeychainAlways": "u_SystemKeychainAlways",
        "kSecUseSyncBubbleKeychain": "u_SyncBubbleKeychain", "kSecUseCallerName": "u_CallerName",
        "kSecUseTokenRawItems": "u_TokenRawItems", "kSecUseCertificatesWithMatchIssuers": "u_CertWithIssuers",
        "kSecClassAppleSharePassword": "apls", "kSecSharedPassword": "spwd", "kSecAttrAccessibleUntilReboot": "f",
    ]
}
