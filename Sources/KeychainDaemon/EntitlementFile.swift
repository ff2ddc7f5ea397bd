package import KeychainModel

/// Reads the property list that `latchkey temp --entitlements` names.
package enum EntitlementFile {
    /// - Throws: -50 for a file that is not a property list with a dictionary, and for one
    ///   whose entitlements have values of another type: Apple's programs count such as absent
    ///   (spec section 5), but a file is written to grant something.
    package static func entitlements(in bytes: [UInt8]) throws(KeychainError) -> Entitlements {
        guard let list = InfoPropertyList.dictionary(bytes) else {
            throw .parameter(.malformed(key: "the entitlements file"))
        }
        var result = Entitlements()
        result.keychainAccessGroups = try strings("keychain-access-groups", list)
        result.associatedApplicationIdentifiers = try strings(
            "com.apple.developer.associated-application-identifier", list)
        let identifier: String? = try value("application-identifier", list)
        let macIdentifier: String? = try value("com.apple.application-identifier", list)
        result.applicationIdentifier = identifier ?? macIdentifier
        result.applicationGroups = try strings("com.apple.security.application-groups", list)
        let isAppClip: Bool? = try value("com.apple.developer.on-demand-install-capable", list)
        result.isAppClip = isAppClip ?? false
        result.flags = Set(list.filter { $0.value as? Bool == true }.keys)
        return result
    }

    private static func strings(_ key: String, _ list: [String: Any]) throws(KeychainError) -> [String] {
        let words: [String]? = try value(key, list)
        return words ?? []
    }

    /// nil: it is not there.
    private static func value<Value>(_ key: String, _ list: [String: Any]) throws(KeychainError) -> Value? {
        guard let value = list[key] else { return nil }
        guard let typed = value as? Value else { throw .parameter(.malformed(key: key)) }
        return typed
    }
}
