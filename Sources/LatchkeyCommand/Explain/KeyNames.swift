internal import KeychainModel
internal import KeychainProtocol

/// The names by which programmers know keys and values of a dictionary, and back.
enum KeyNames {
    /// The constant for a key; the key itself where there is none.
    static func constant(_ key: String) -> String {
        if let name = otherKeys[key] { return name }
        guard let code = AttributeCode(key) else { return key }
        for itemClass in ItemClass.stored {
            if let attribute = Schema.of(itemClass)[code] { return constant(of: attribute) }
        }
        return key
    }

    /// The key for a constant's name, or for a key itself.
    static func key(_ name: String) -> String? {
        if let other = otherKeys.first(where: { $0.value == name || $0.key == name }) { return other.key }
        for itemClass in ItemClass.stored {
            for attribute in Schema.of(itemClass).attributes
            where constant(of: attribute) == name || "\(attribute.code)" == name { return "\(attribute.code)" }
        }
        return nil
    }

    /// An attribute of a class by its constant, the constant without kSecAttr, or its code.
    static func attribute(_ name: String, of itemClass: ItemClass) -> SchemaAttribute? {
        Schema.of(itemClass).attributes.first {
            constant(of: $0) == name || $0.name == name || "\($0.code)" == name
        }
    }

    /// The constant for a value that is one; nil for any other.
    static func constantValue(_ text: String, of key: String) -> String? { values[key]?[text] }

    /// What a constant among the values stands for.
    static func value(_ name: String, of key: String) -> String? {
        values[key]?.first { $0.value == name }?.key
    }

    private static func constant(of attribute: SchemaAttribute) -> String {
        attribute.name.hasPrefix("kSec") ? attribute.name : "kSecAttr\(attribute.name)"
    }

    /// Constants+Query.swift of KeychainServices (a test compares them).
    static let otherKeys: [String: String] = [
        "class": "kSecClass", "m_Limit": "kSecMatchLimit", "m_Policy": "kSecMatchPolicy",
        "m_ItemList": "kSecMatchItemList", "m_SearchList": "kSecMatchSearchList", "m_Issuers": "kSecMatchIssuers",
        "m_EmailAddressIfPresent": "kSecMatchEmailAddressIfPresent", "m_SubjectContains": "kSecMatchSubjectContains",
        "m_SubjectStartsWith": "kSecMatchSubjectStartsWith", "m_SubjectEndsWith": "kSecMatchSubjectEndsWith",
        "m_SubjectWholeString": "kSecMatchSubjectWholeString",
        "m_HostOrSubdomainOfHost": "kSecMatchHostOrSubdomainOfHost",
        "m_CaseInsensitive": "kSecMatchCaseInsensitive", "m_DiacriticInsensitive": "kSecMatchDiacriticInsensitive",
        "m_WidthInsensitive": "kSecMatchWidthInsensitive", "m_TrustedOnly": "kSecMatchTrustedOnly",
        "m_ValidOnDate": "kSecMatchValidOnDate", "r_Data": "kSecReturnData", "r_Attributes": "kSecReturnAttributes",
        "r_Ref": "kSecReturnRef", "r_PersistentRef": "kSecReturnPersistentRef", "v_Data": "kSecValueData",
        "v_Ref": "kSecValueRef", "v_PersistentRef": "kSecValuePersistentRef", "u_ItemList": "kSecUseItemList",
        "u_Keychain": "kSecUseKeychain", "nleg": "kSecUseDataProtectionKeychain",
        "u_UserIndependentKeychain": "kSecUseUserIndependentKeychain", "u_OpPrompt": "kSecUseOperationPrompt",
        "u_NoAuthUI": "kSecUseNoAuthenticationUI", "u_AuthCtx": "kSecUseAuthenticationContext",
        "u_AuthUI": "kSecUseAuthenticationUI",
    ]

    private static let values: [String: [String: String]] = [
        "class": [
            "genp": "kSecClassGenericPassword", "inet": "kSecClassInternetPassword", "cert": "kSecClassCertificate",
            "keys": "kSecClassKey", "idnt": "kSecClassIdentity",
        ],
        "m_Limit": ["m_LimitOne": "kSecMatchLimitOne", "m_LimitAll": "kSecMatchLimitAll"],
        "sync": ["syna": "kSecAttrSynchronizableAny"],
        "pdmn": [
            "ak": "kSecAttrAccessibleWhenUnlocked", "ck": "kSecAttrAccessibleAfterFirstUnlock",
            "dk": "kSecAttrAccessibleAlways", "aku": "kSecAttrAccessibleWhenUnlockedThisDeviceOnly",
            "cku": "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly",
            "dku": "kSecAttrAccessibleAlwaysThisDeviceOnly",
            "akpu": "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly",
        ],
        "u_AuthUI": [
            "u_AuthUIA": "kSecUseAuthenticationUIAllow", "u_AuthUIF": "kSecUseAuthenticationUIFail",
            "u_AuthUIS": "kSecUseAuthenticationUISkip",
        ],
    ]
}
