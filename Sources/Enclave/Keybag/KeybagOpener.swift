internal import KeychainModel
internal import KeychainPlatform

/// Who has the keybag opened.
enum KeybagOpener {
    /// A daemon, for the store that it comes for.
    case daemon(ExpectedStore)
    /// A person with the bytes of a recovery code, for whichever store is there; none is made.
    case person(code: SharedSecret)
    /// The same, who accepts the folder whatever the counter of a TPM says of it.
    ///
    /// - Parameter givingUp: nothing counts from then on; else a counter that is not there is
    ///   a reason to refuse it.
    case accepting(code: SharedSecret, givingUp: Bool)

    /// - Parameter code: as it was shown.
    /// - Throws: `errSecParam` for what is no recovery code.
    static func person(typing code: SharedSecret) throws(KeychainError) -> KeybagOpener {
        .person(code: try parsed(code))
    }

    /// As ``person(typing:)``.
    static func accepting(typing code: SharedSecret, givingUp: Bool) throws(KeychainError) -> KeybagOpener {
        .accepting(code: try parsed(code), givingUp: givingUp)
    }

    private static func parsed(_ code: SharedSecret) throws(KeychainError) -> SharedSecret {
        guard let bytes = RecoveryCode.parse(code.bytes) else { throw .parameter(.malformed(key: "recovery code")) }
        return SharedSecret(bytes)
    }

    var makesStore: Bool {
        switch self {
        case .daemon(.anyOrNew): true
        case .daemon(.named), .person, .accepting: false
        }
    }

    var code: SharedSecret? {
        switch self {
        case .daemon: nil
        case .person(let code), .accepting(let code, _): code
        }
    }

    /// Where a person's code did not open what nothing else opens, it is wrong.
    func refusal(by error: KeybagError) -> KeychainError {
        code != nil && (error.isOfProtectors || error == .unreadable(.slotRefuses))
            ? EnclaveCore.wrong : error.asKeychainError
    }

    func accepts(_ store: StoreID) -> Bool {
        switch self {
        case .daemon(let expected): expected.accepts(store)
        case .person, .accepting: true
        }
    }
}
