public import Foundation
internal import KeychainModel
public import KeychainServices

/// Damage on purpose, to see what a program makes of it.
extension TestKeychain {
    /// Damages the sealed bytes of every item that matches, as a failing disk
    /// would. To calls the items are then as if they were not there.
    ///
    /// - Parameter query: as for SecItemCopyMatching, without kSecReturn… keys;
    ///   without kSecClass it looks in generic and internet passwords. The items
    ///   must be in the groups of ``entitlements``.
    /// - Returns: how many items were damaged.
    /// - Throws: ``TestKeychainError`` where the store cannot be written.
    /// - Warning: What is damaged is lost.
    @discardableResult
    public func insecureCorruptItems(matching query: CFDictionary) throws(TestKeychainError) -> Int {
        let classes = query[kSecClass] == nil ? [kSecClassGenericPassword, kSecClassInternetPassword] : [nil]
        var count = 0
        for itemClass in classes {
            let found = withScope { references(matching: query, of: itemClass) }
            try insecureCorruptItems(found)
            count += found.count
        }
        return count
    }

    private func references(matching query: CFDictionary, of itemClass: CFString?) -> [Data] {
        let search = query.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        if let itemClass { search[kSecClass] = itemClass }
        if search[kSecAttrSynchronizable] == nil { search[kSecAttrSynchronizable] = kSecAttrSynchronizableAny }
        search[kSecMatchLimit] = kSecMatchLimitAll
        search[kSecReturnPersistentRef] = kCFBooleanTrue
        var result: CFTypeRef?
        // An attribute of the other class is no match there.
        guard unsafe SecItemCopyMatching(search, &result) == errSecSuccess else { return [] }
        return (result as? NSArray)?.compactMap { $0 as? Data } ?? []
    }

    /// - Warning: What is damaged is lost.
    package func insecureCorruptItems(_ references: [Data]) throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in
            try StoreSabotage(machine.engine()).insecureCorruptItems(references)
        }
    }

    /// Damages the key that seals the attributes of every item of a protection
    /// class.
    ///
    /// - Parameter accessible: one of the kSecAttrAccessible… constants.
    /// - Throws: ``TestKeychainError``, errSecParam for anything else.
    /// - Warning: Every item of the class is lost.
    public func insecureCorruptMetadataKey(of accessible: CFString) throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in
            guard let protectionClass = ProtectionClass(rawValue: accessible as String) else {
                throw .parameter(.malformed(key: "kSecAttrAccessible"))
            }
            try StoreSabotage(machine.engine()).insecureCorruptMetadataKey(of: protectionClass)
        }
    }

    /// Overwrites the database; every call then finds it damaged.
    ///
    /// - Throws: ``TestKeychainError`` where the keychain is closed.
    /// - Warning: Every item is lost.
    public func insecureCorruptDatabase() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.insecureCorruptDatabase() }
    }

    /// Stops the engine and starts it anew over what it stored, as a restart of
    /// the computer does. No call may be under way.
    ///
    /// - Throws: ``TestKeychainError`` where the store no longer opens, or the keychain is closed.
    public func restart() throws(TestKeychainError) {
        try TestKeychainError.translating { () throws(KeychainError) in try machine.restart() }
    }
}
