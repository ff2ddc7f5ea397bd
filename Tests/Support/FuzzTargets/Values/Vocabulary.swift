import KeychainModel

/// The keys and texts that mean something in a caller's dictionary.
enum Vocabulary {
    static let keys: [String] =
        [
            "class", "v_Data", "v_PersistentRef", "v_Ref", "m_Limit", "m_HostOrSubdomainOfHost", "m_Issuers",
            "m_Policy",
            "m_EmailAddressIfPresent", "m_ValidOnDate", "m_TrustedOnly", "m_CaseInsensitive", "r_Data", "r_Attributes",
            "r_Ref", "r_PersistentRef", "u_OpPrompt", "u_CallerName", "u_NoAuthUI", "u_AuthUI", "u_AuthCtx",
            "u_CredRef",
            "u_ItemList", "u_Tomb", "u_SystemKeychain", "u_SystemKeychainAlways", "u_SyncBubbleKeychain",
            "u_TokenRawItems", "u_UserIndependentKeychain", "u_CertWithIssuers", "f_Other",
        ] + codes

    private static let codes: [String] = {
        var seen: [String] = []
        for itemClass in ItemClass.allCases {
            for attribute in Schema.of(itemClass).attributes where !seen.contains("\(attribute.code)") {
                seen.append("\(attribute.code)")
            }
        }
        return seen
    }()

    static let texts: [String] =
        ItemClass.allCases.map(\.rawValue) + ProtectionClass.allCases.map(\.rawValue) + [
            "f", "m_LimitOne", "m_LimitAll", "syna", "u_AuthUIA", "u_AuthUIF", "u_AuthUIS", "group.a", "group.b", "0",
            "1", "-5", "http", "com.apple.token", "*", "latchkey", "", "e\u{301}", "\u{212A}",
        ]

    /// Entitlements that open attributes.
    static let entitlements: Set<String> = Set(
        ItemClass.allCases.flatMap { Schema.of($0).attributes.compactMap(\.entitlement) })
}
