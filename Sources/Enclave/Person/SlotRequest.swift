internal import KeychainPlatform
internal import KeychainProtocol

/// What a person wants of the slots: of what opens the keychain.
enum SlotRequest: Sendable {
    case list
    /// One that opens without a person what does not take one, that of the login password,
    /// or a finger.
    case add(NewSlot, passcode: SharedSecret)
    /// The keys below get a new generation, so that what the slot wrapped opens nothing
    /// that is written from then on.
    ///
    /// - Parameter code: the recovery code, needed where there is one.
    case remove([UInt8], passcode: SharedSecret, code: SharedSecret?)
    /// No finger opens anything from then on. Nothing on the disk did, so no key is new.
    case removeFingerprint(passcode: SharedSecret)

    var passcode: SharedSecret? {
        switch self {
        case .list: nil
        case .add(_, let passcode), .remove(_, let passcode, _), .removeFingerprint(let passcode): passcode
        }
    }
}

enum NewSlot: Sendable {
    /// Opens when the enclave starts.
    case tpm2(TPMAddress)
    /// Opens for whoever brings what is handed out now, once.
    case credential
    /// Opens everything for whoever logs in with this password; takes the place of the one
    /// that is there.
    case login(SharedSecret)
    /// A finger opens everything again after a lock; no secret is made for it.
    case fingerprint
}
