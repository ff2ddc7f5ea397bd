internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus

/// org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface: how scripts without a display
/// unlock gnome-keyring, with a password of their own (spec, "Linux interoperability", 1).
///
/// The password is the keychain's passcode. It comes over the bus in a session's cipher or
/// plainly, lies in locked memory here, and goes to the enclave alone. A wrong one counts as
/// a failed attempt, and the next ones wait as at any prompt.
extension SecretServiceDoor {
    func answerMasterPassword(_ call: BusCall) throws(BusError) -> [BusValue] {
        switch (call.member, call.arguments.count) {
        case ("UnlockWithMasterPassword", 2):
            _ = try collection(named: call.arguments[0])
            try unlock(with: try password(call.arguments[1], call))
            return []
        case ("ChangeWithMasterPassword", 3):
            _ = try collection(named: call.arguments[0])
            let (old, new) = (try password(call.arguments[1], call), try password(call.arguments[2], call))
            try translatingPassword { () throws(KeychainError) in try person().changePasscode(from: old, to: new) }
            return []
        case ("CreateWithMasterPassword", 2): return [.path(try createOpened(call))]
        case ("ChangeWithPrompt", 1):
            throw BusError(.notSupported, "`latchkey passcode change` changes the passcode")
        default: throw BusError(.unknownMethod, "there is no method \(call.member) like that")
        }
    }

    private func collection(named value: BusValue) throws(BusError) -> SecretCollection {
        guard let path = value.objectPath else { throw BusError(.invalidArguments, "a collection is an object path") }
        guard case .collection(let found)? = try translating({ () throws(KeychainError) in try target(of: path) })
        else {
            throw .noSuchObject(path)
        }
        return found
    }

    private func password(_ value: BusValue, _ call: BusCall) throws(BusError) -> SharedSecret {
        guard let secret = TransferredSecret(value) else {
            throw .arguments(of: call.member, TransferredSecret.signature)
        }
        return try session(at: secret.session, for: call).value(secret)
    }

    /// Looks at the password also where everything is open: whoever asks hears whether it is
    /// the right one. (gnome-keyring 42 then answers without looking.) Where there is no
    /// passcode there is nothing to open.
    private func unlock(with password: SharedSecret) throws(BusError) {
        guard try device().hasPasscode else { return }
        try translatingPassword { () throws(KeychainError) in try person().unlock(with: .passcode(password)) }
        lockChanged(toOpen: true)
    }

    /// A collection has no password of its own: one that is asked for has to be the keychain's.
    private func createOpened(_ call: BusCall) throws(BusError) -> ObjectPath {
        guard let properties = call.arguments[0].propertyPairs else {
            throw .arguments(of: call.member, "a{sv}\(TransferredSecret.signature)")
        }
        let label = try label(in: properties)
        let password = try password(call.arguments[1], call)
        guard try device().hasPasscode else {
            throw BusError(
                .notSupported,
                "a collection has no password of its own, and the keychain has no passcode; `latchkey passcode set` sets one"
            )
        }
        try unlock(with: password)
        return try createCollection(labelled: label, alias: "")
    }

    private func device() throws(BusError) -> DeviceState {
        let state = try translating { () throws(KeychainError) in
            try keychain.perform(KeychainRequest(.device)).device
        }
        guard let state else { throw BusError(.failed, "the keychain does not say how it is") }
        return state
    }

    private func translatingPassword(_ body: () throws(KeychainError) -> Void) throws(BusError) {
        do throws(KeychainError) { try body() } catch {
            guard error.status == .authFailed else { throw Self.busError(error) }
            // gnome-keyring's name for it, which its clients look for.
            throw BusError(name: "org.gnome.keyring.Error.Denied", text: error.reason.explanation)
        }
    }
}
