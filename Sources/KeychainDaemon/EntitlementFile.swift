package import KeychainModel

/// Reads the property list that `latchkey temp --entitlements` names.
package enum EntitlementFile {
    /// - Throws: -50 for a file that is not a property list with a dictionary.
    package static func entitlements(in bytes: [UInt8]) throws(KeychainError) -> Entitlements {
        guard let list = InfoPropertyList.dictionary(bytes) else {
            throw .parameter(.malformed(key: "the entitlements file"))
        }
        var result = Entitlements()
        result.keychainAccessGroups = strings(list["keychain-access-groups"])
        result.associatedApplicationIdentifiers = strings(
            list["com.apple.developer.associated-application-identifier"])
        result.applicationIdentifier =
            list["application-identifier"] as? String ?? list["com.apple.application-identifier"] as? String
        result.applicationGroups = strings(list["com.apple.security.application-groups"])
        result.isAppClip = list["com.apple.developer.on-demand-install-capable"] as? Bool ?? false
        result.flags = Set(list.filter { $0.value as? Bool == true }.keys)
        return result
    }

    /// A value that is no array, or holds anything but strings, counts as absent
    /// as a whole (spec section 5).
    private static func strings(_ value: Any?) -> [String] { value as? [String] ?? [] }
}
