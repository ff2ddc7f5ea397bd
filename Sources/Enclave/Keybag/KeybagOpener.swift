internal import KeychainModel
internal import KeychainPlatform

/// Who has the keybag opened.
enum KeybagOpener {
    /// A daemon, for the store that it comes for.
    case daemon(ExpectedStore)
    /// A person with the bytes of a recovery code, for whichever store is there; none is made.
    case person(code: SharedSecret)

    /// - Parameter code: as it was shown.
    /// - Throws: `errSecParam` for what is no recovery code.
    static func person(typing code: SharedSecret) throws(KeychainError) -> KeybagOpener {
        guard let bytes = RecoveryCode.parse(code.bytes) else { throw .parameter(.malformed(key: "recovery code")) }
        return .person(code: SharedSecret(bytes))
    }

    var makesStore: Bool {
        switch self {
        case .daemon(.anyOrNew): true
        case .daemon(.named), .person: false
        }
    }

    var code: SharedSecret? {
        switch self {
        case .daemon: nil
        case .person(let code): code
        }
    }

    /// Where a person's code did not open what nothing else opens, it is wrong.
    func refusal(by error: KeybagError) -> KeychainError {
        code != nil && error.isOfProtectors ? EnclaveCore.wrong : error.asKeychainError
    }

    func accepts(_ store: StoreID) -> Bool {
        switch self {
        case .daemon(let expected): expected.accepts(store)
        case .person: true
        }
    }
}
