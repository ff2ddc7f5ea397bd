/// When an item can be opened (kSecAttrAccessible); the raw value is the stored
/// tag (spec section 7).
public enum ProtectionClass: String, Sendable, CaseIterable {
    /// While the keychain is unlocked. The default.
    case whenUnlocked = "ak"
    /// From the first unlock until restart, for programs that work in the
    /// background.
    case afterFirstUnlock = "ck"
    /// At all times, also while locked. Deprecated by Apple: nothing protects
    /// it.
    case always = "dk"
    /// While unlocked; never opens on another machine.
    case whenUnlockedThisDeviceOnly = "aku"
    /// From the first unlock until restart; never opens on another machine.
    case afterFirstUnlockThisDeviceOnly = "cku"
    /// At all times; never opens on another machine. Deprecated by Apple.
    case alwaysThisDeviceOnly = "dku"
    /// While unlocked and as long as a passcode is set; never opens on another
    /// machine. Without a passcode an item is refused with `errSecAuthFailed`.
    case whenPasscodeSetThisDeviceOnly = "akpu"

    /// Apple's number of the class (spec section 7); it names the class key in
    /// the keybag and in associated data.
    package var number: UInt8 {
        switch self {
        case .whenUnlocked: 6
        case .afterFirstUnlock: 7
        case .always: 8
        case .whenUnlockedThisDeviceOnly: 9
        case .afterFirstUnlockThisDeviceOnly: 10
        case .alwaysThisDeviceOnly: 11
        case .whenPasscodeSetThisDeviceOnly: 12
        }
    }

    package init?(number: UInt8) {
        switch number {
        case Self.whenUnlocked.number: self = .whenUnlocked
        case Self.afterFirstUnlock.number: self = .afterFirstUnlock
        case Self.always.number: self = .always
        case Self.whenUnlockedThisDeviceOnly.number: self = .whenUnlockedThisDeviceOnly
        case Self.afterFirstUnlockThisDeviceOnly.number: self = .afterFirstUnlockThisDeviceOnly
        case Self.alwaysThisDeviceOnly.number: self = .alwaysThisDeviceOnly
        case Self.whenPasscodeSetThisDeviceOnly.number: self = .whenPasscodeSetThisDeviceOnly
        default: return nil
        }
    }

    /// By its number: the compiler's own hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
