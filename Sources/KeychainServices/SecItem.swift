public import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Adds an item.
///
/// - Parameters:
///   - attributes: kSecClass, attributes, kSecValueData (at most 64 MiB; an
///     attribute at most 64 KiB, all attributes together 1 MiB) and what is to
///     be returned (kSecReturn…).
///   - result: receives what kSecReturn… asked for, nil if nothing was; may be nil.
///     As on Apple's systems its memory may be uninitialized, and an object that a
///     variable held before is not released: set it to nil before it is used again.
///     A call that fails leaves it alone.
/// - Returns: errSecSuccess once the item is durable on disk;
///   errSecDuplicateItem where the primary key is taken; errSecParam for a
///   malformed dictionary; errSecNoSuchAttr for an attribute of another class;
///   errSecMissingEntitlement for a group this program does not have;
///   errSecInteractionNotAllowed while the protection class is locked;
///   errSecDataTooLarge above a limit; errSecNotAvailable where no keychain
///   answers within 5 seconds (whether the item was stored is then not known).
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe Door.call(result) { () throws(KeychainError) in
        var door = DoorDictionary(carriesValue: true)
        try door.take(attributes)
        return try door.perform(
            KeychainRequest(.add, query: door.dictionary, value: door.value))
    }
}

/// Finds items and returns what kSecReturn… asks for.
///
/// - Parameters:
///   - query: class and attributes to match by equality, kSecMatchLimit (default
///     one), kSecReturn…; or kSecValuePersistentRef alone.
///   - result: receives an object (limit one) or an array; may be nil. Its memory: as
///     for ``SecItemAdd(_:_:)``.
/// - Returns: errSecSuccess; errSecItemNotFound where nothing that this program
///   may see matches; errSecInteractionNotAllowed where a match is locked;
///   otherwise as ``SecItemAdd(_:_:)``.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe Door.call(result) { () throws(KeychainError) in
        var door = DoorDictionary(carriesValue: false)
        try door.take(query)
        return try door.perform(KeychainRequest(.copy, query: door.dictionary))
    }
}

/// Changes every item that matches, all of them or none.
///
/// - Parameters:
///   - query: as for ``SecItemCopyMatching(_:_:)`` without kSecMatch… and
///     kSecReturn… keys.
///   - attributesToUpdate: attributes and kSecValueData; any other key is
///     errSecNoSuchAttr.
/// - Returns: errSecSuccess once the change is durable; errSecItemNotFound where
///   nothing matches; errSecDuplicateItem where two items would become alike;
///   otherwise as ``SecItemAdd(_:_:)``.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    unsafe Door.call(nil) { () throws(KeychainError) in
        var door = DoorDictionary(carriesValue: false)
        try door.take(query)
        var changes = DoorDictionary(carriesValue: true)
        try changes.take(attributesToUpdate)
        return try door.perform(
            KeychainRequest(.update, query: door.dictionary, changes: changes.dictionary, value: changes.value))
    }
}

/// Deletes every item that matches.
///
/// A synchronizable item leaves a tombstone; kSecUseTombstones decides otherwise.
/// kSecReturn… keys are ignored; kSecMatchLimitAll and kSecMatchLimitOne are
/// taken as the macOS file keychain takes them (COMPATIBILITY.md).
///
/// - Returns: errSecSuccess once the deletion is durable, also for items whose
///   class is locked; errSecItemNotFound where nothing matches.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    unsafe Door.call(nil) { () throws(KeychainError) in
        var door = DoorDictionary(carriesValue: false)
        try door.take(query)
        return try door.perform(KeychainRequest(.delete, query: door.dictionary))
    }
}

extension DoorDictionary {
    /// Through the caller's context where there is one.
    fileprivate func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        if let context { return try context.perform(request) }
        return try CurrentKeychain.transport().perform(request)
    }
}

/// What the four calls share: run, hand out, answer with a number.
enum Door {
    /// The result is stored as a function of C stores it, whatever the memory held
    /// before: that may be uninitialized.
    static func call(
        _ result: UnsafeMutablePointer<CFTypeRef?>?, _ body: () throws(KeychainError) -> KeychainAnswer
    ) -> OSStatus {
        do throws(KeychainError) {
            let answer = try body()
            if let result = unsafe result { unsafe result.initialize(to: DoorResult.object(for: answer)) }
            return Status.success.rawValue
        } catch {
            return error.status.rawValue
        }
    }
}
