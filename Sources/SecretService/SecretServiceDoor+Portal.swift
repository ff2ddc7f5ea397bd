internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus

/// org.freedesktop.impl.portal.Secret: a secret for each sandboxed application, with which
/// it encrypts a store of its own (XDG Desktop Portal, "Secret").
///
/// xdg-desktop-portal names the application, and is believed, as by gnome-keyring: whoever
/// else is on the bus could ask in any application's name. The secrets are items of a group
/// that is no collection, so that no client finds them by a search.
extension SecretServiceDoor {
    private static let secretSize = 64
    private static let service = "org.freedesktop.portal.Secret"

    func answerPortal(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard call.member == "RetrieveSecret" else {
            throw BusError(.unknownMethod, "there is no method \(call.member) like that")
        }
        guard call.arguments.count == 4, call.arguments[0].objectPath != nil, let application = call.arguments[1].text,
            case .descriptor(let receiver) = call.arguments[2], call.arguments[3].propertyPairs != nil
        else { throw .arguments(of: call.member, "osha{sv}") }
        let secret = try translating { () throws(KeychainError) in try portalSecret(of: application) }
        try hand(secret, to: receiver)
        // 0: success.
        return [.uint32(0), .properties([])]
    }

    /// Whatever its other end does, no client waits for it.
    private func hand(_ secret: SharedSecret, to receiver: Descriptor) throws(BusError) {
        do throws(SystemCallError) { try receiver.writeIntoPipeNow(secret.bytes) } catch {
            throw BusError(.failed, "the secret cannot be handed over (\(error))")
        }
    }

    private func value(of place: [(String, RawValue)]) throws(KeychainError) -> SharedSecret? {
        do throws(KeychainError) {
            let query = QueryDictionary(place + [("r_Data", .bool(true)), ("u_AuthUI", .string("u_AuthUIF"))])
            return try keychain.perform(KeychainRequest(.copy, query: query)).rows.first?.value
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Made when it is asked for first.
    private func portalSecret(of application: String) throws(KeychainError) -> SharedSecret {
        let place: [(String, RawValue)] = [
            ("class", .string("genp")), ("agrp", .string(AccessGroup.secretService.name)),
            ("svce", .string(Self.service)),
            ("acct", .string(application)),
        ]
        if let present = try value(of: place) { return present }
        let made = SharedSecret(SecretBytes.random(count: Self.secretSize))
        // Debian 12's xdg-desktop-portal calls programs in no sandbox by no name; they share one.
        let whose = application.isEmpty ? "programs in no sandbox" : application
        let labelled: [(String, RawValue)] = [("labl", .string("Secret of \(whose)")), ("v_Data", .secret)]
        do throws(KeychainError) {
            _ = try keychain.perform(KeychainRequest(.add, query: QueryDictionary(place + labelled), value: made))
            return made
        } catch {
            guard error.status == .duplicateItem, let present = try value(of: place) else { throw error }
            return present
        }
    }
}
