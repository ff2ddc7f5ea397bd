internal import KeychainModel

/// The protection classes as people write and read them.
extension ProtectionClass {
    /// Apple's constant without its prefix, in small letters with hyphens.
    var commandName: String {
        switch self {
        case .whenUnlocked: "when-unlocked"
        case .afterFirstUnlock: "after-first-unlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "when-unlocked-this-device-only"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock-this-device-only"
        case .alwaysThisDeviceOnly: "always-this-device-only"
        case .whenPasscodeSetThisDeviceOnly: "when-passcode-set-this-device-only"
        }
    }

    /// By its command name, Apple's constant or its tag.
    init?(named text: String) {
        let tag = KeyNames.value(text, of: "\(AttributeCode.accessible)") ?? text
        guard let found = Self.allCases.first(where: { $0.commandName == text || $0.rawValue == tag }) else {
            return nil
        }
        self = found
    }

    /// What the class does here: none but when-passcode-set keeps a copy from opening elsewhere.
    var sentence: String { opening + copies }

    private var copies: String {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: ""
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly:
            "; never synchronized, but in backups and exports"
        case .whenPasscodeSetThisDeviceOnly: "; never synchronized, and brought back by no backup"
        }
    }

    private var opening: String {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: "opens while the keychain is unlocked"
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: "opens once the keychain has been unlocked"
        case .always, .alwaysThisDeviceOnly: "opens always"
        case .whenPasscodeSetThisDeviceOnly: "opens while the keychain is unlocked and has a passcode"
        }
    }
}
