public import Foundation

// Values of kSecAttrAccessible: when an item opens. Values are Apple's
// (SecItem.h, SecItemConstants.c). Nothing changes the strings, so sharing them
// is safe.

/// While the keychain is unlocked (`ak`). The default.
@safe nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

/// From the first unlock until restart; for programs that work in the
/// background (`ck`).
@safe nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

/// At all times, also while locked (`dk`). Deprecated by Apple: nothing
/// protects it.
@safe nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"

/// While unlocked, and only as long as a passcode is set; never leaves this
/// machine (`akpu`). Gone for good when the passcode is removed.
@safe nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// While unlocked; never opens on another machine (`aku`).
@safe nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

/// From the first unlock until restart; never opens on another machine (`cku`).
@safe nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

/// At all times; never opens on another machine (`dku`). Deprecated by Apple:
/// nothing protects it.
@safe nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
