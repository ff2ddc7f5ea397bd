internal import KeychainModel
internal import KeychainPlatform

/// The login password as a slot: it opens everything that the passcode opens, and changes
/// nothing but its own slot. Attempts with it count as those with the passcode do.
extension EnclaveCore {
    /// - Throws: `errSecParam`, reason `protectorRefused`, where there is no such slot.
    func loginDerivation() throws(KeychainError) -> PasscodeParameters {
        guard let slot = keybag.body.slot(.login), let parameters = LoginParameters(encoded: slot.parameters) else {
            throw .slot("no login password opens it")
        }
        return parameters.derivation
    }

    /// One slot anew; what is locked stays locked.
    mutating func changeLogin(_ derived: DerivedSecrets) throws(KeybagError) {
        guard let old = derived.credential, let new = derived.new,
            let derivation = PasscodeParameters(encoded: new.parameters)
        else { throw .unreadable(.slotRefuses) }
        let next = try keybag.rewrappingLogin(
            from: old.slotSecret, to: LoginSlot.place(for: new.slotSecret, derivation))
        try write(next)
        forgetFinger()
        // Who agreed may not be who agrees from now on.
        book.forgetAgreements()
    }
}
