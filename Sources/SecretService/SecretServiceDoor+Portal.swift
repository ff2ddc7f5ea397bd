internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus
internal import PersonPrompt
internal import SecretServiceReach

/// RetrieveSecret with its arguments.
struct PortalCall {
    let call: BusCall
    /// What the portal calls the request, and closes it by.
    let handle: ObjectPath
    let application: String
    let receiver: Descriptor

    /// What a portal's programs are told (XDG Desktop Portal, "org.freedesktop.portal.Request").
    enum Response: UInt32 {
        case success = 0
        case cancelled = 1

        var values: [BusValue] { [.uint32(rawValue), .properties([])] }
    }

    init(_ call: BusCall) throws(BusError) {
        guard call.arguments.count == 4, let handle = call.arguments[0].objectPath,
            let application = call.arguments[1].text, case .descriptor(let receiver) = call.arguments[2],
            call.arguments[3].propertyPairs != nil
        else { throw .arguments(of: call.member, "osha{sv}") }
        (self.call, self.handle, self.application, self.receiver) = (call, handle, application, receiver)
    }
}

/// org.freedesktop.impl.portal.Secret: a secret for each sandboxed application, with which
/// it encrypts a store of its own (XDG Desktop Portal, "Secret").
///
/// xdg-desktop-portal names the application, and is believed, as by gnome-keyring: whoever
/// else is on the bus could ask in any application's name. The secrets are items of a group
/// that is no collection, so that no client finds them by a search.
extension SecretServiceDoor {
    private static let secretSize = 64
    private static let service = "org.freedesktop.portal.Secret"

    /// Where the keychain is locked a person is asked first, on the portal's display: programs
    /// in sandboxes cannot ask for that themselves. The answer waits for it.
    ///
    /// - Returns: nil: it comes later.
    /// - Throws: IsLocked where nobody can be asked.
    func answerPortal(_ call: BusCall) throws(BusError) -> [BusValue]? {
        guard call.member == "RetrieveSecret" else {
            throw BusError(.unknownMethod, "there is no method \(call.member) like that")
        }
        let wanted = try PortalCall(call)
        do throws(BusError) { return try give(wanted) } catch {
            guard error == .isLocked else { throw error }
            try askPerson(for: wanted)
            return nil
        }
    }

    private func give(_ wanted: PortalCall) throws(BusError) -> [BusValue] {
        let secret = try portalSecret(of: wanted.application)
        try hand(secret, to: wanted.receiver)
        return PortalCall.Response.success.values
    }

    private func askPerson(for wanted: PortalCall) throws(BusError) {
        let call = wanted.call
        guard let process = call.caller.process, PromptReach.canAsk(for: process) else { throw .isLocked }
        let prompt = try prompts.make(for: call.sender, call.caller, .portal(wanted))
        try prompts.show(prompt, for: call.sender)
    }

    /// The keychain may be open, or the person did not want it.
    func answerAfterPrompt(_ wanted: PortalCall) {
        answer(wanted.call) { () throws(BusError) in
            do throws(BusError) { return try give(wanted) } catch {
                guard error == .isLocked else { throw error }
                return PortalCall.Response.cancelled.values
            }
        }
    }

    /// The program does not want it any more (XDG Desktop Portal, "org.freedesktop.impl.portal.Request").
    func answer(_ call: BusCall, ofRequest path: ObjectPath) throws(BusError) -> [BusValue] {
        guard call.member == "Close", call.arguments.isEmpty else {
            throw BusError(.unknownMethod, "a request has no method \(call.member) like that")
        }
        guard let prompt = prompts.prompt(ofRequest: path, of: call.sender) else { throw .noObject(path) }
        try prompts.dismiss(prompt, for: call.sender)
        return []
    }

    /// Whatever its other end does, no client waits for it.
    private func hand(_ secret: SharedSecret, to receiver: Descriptor) throws(BusError) {
        do throws(SystemCallError) { try receiver.writeNow(secret.bytes) } catch {
            throw BusError(.failed, "the secret cannot be handed over (\(error))")
        }
    }

    /// nil where it is certain that there is none: what is set aside may be it.
    private func value(of place: [(String, RawValue)]) throws(KeychainError) -> SharedSecret? {
        do throws(KeychainError) {
            let query = QueryDictionary(place + [("r_Data", .bool(true)), ("u_AuthUI", .string("u_AuthUIF"))])
            return try keychain.perform(KeychainRequest(.copy, query: query)).rows.first?.value
        } catch {
            guard error.status == .itemNotFound, error.reason == .nothingMatches else { throw error }
            return nil
        }
    }

    private static func place(of application: String, in group: AccessGroup) -> [(String, RawValue)] {
        [
            ("class", .string("genp")), ("agrp", .string(group.name)), ("svce", .string(service)),
            ("acct", .string(application)),
        ]
    }

    /// As much as a pipe takes at once (PIPE_BUF).
    private static let sizes = 1...4096

    /// What an application has encrypted its store with, where a person has brought it from another
    /// keychain: gnome-keyring's item of no other attribute than `app_id` (its
    /// daemon/dbus/gkd-secret-portal.c), imported; ours, exported and imported. What was changed last is first.
    ///
    /// - Throws: IsLocked where one of them is closed; AccessDenied where the policy keeps one from
    ///   whoever calls. Nothing new is made then.
    private func imported(for application: String) throws(BusError) -> SharedSecret? {
        guard !application.isEmpty else { return nil }
        if let wanted = LookupAttributes([.init(name: "app_id", value: application)]) {
            let found = try translating { () throws(KeychainError) in
                let collections = try book.all().map(\.name).filter { $0 != SecretCollection.session }
                return try items.search(wanted, in: collections)
            }
            for item in found {
                guard !item.isClosed else { throw .isLocked }
                guard item.attributes.pairs.allSatisfy({ ["app_id", LookupSchema.attribute].contains($0.name) }) else {
                    continue
                }
                guard reach.has(collection: item.collection), reach.has(item) else {
                    throw BusError(.accessDenied, "the policy keeps the secret that was imported for \(application)")
                }
                let secret = try translating { () throws(KeychainError) in
                    try items.item(item.reference, in: item.collection, .value)?.value
                }
                if let secret, Self.sizes.contains(secret.bytes.count) { return secret }
            }
        }
        let secret = try translating { () throws(KeychainError) in
            try value(of: Self.place(of: application, in: .latchkey))
        }
        return secret.flatMap { Self.sizes.contains($0.bytes.count) ? $0 : nil }
    }

    /// Made when it is asked for first.
    private func portalSecret(of application: String) throws(BusError) -> SharedSecret {
        let place = Self.place(of: application, in: .secretService)
        if let present = try translating({ () throws(KeychainError) in try value(of: place) }) { return present }
        let made = try imported(for: application) ?? SharedSecret(SecretBytes.random(count: Self.secretSize))
        // Debian 12's xdg-desktop-portal calls programs in no sandbox by no name; they share one.
        let whose = application.isEmpty ? "programs in no sandbox" : application
        let labelled: [(String, RawValue)] = [("labl", .string("Secret of \(whose)")), ("v_Data", .secret)]
        return try translating { () throws(KeychainError) in
            do throws(KeychainError) {
                _ = try keychain.perform(KeychainRequest(.add, query: QueryDictionary(place + labelled), value: made))
                return made
            } catch {
                guard error.status == .duplicateItem, let present = try value(of: place) else { throw error }
                return present
            }
        }
    }
}
