internal import KeychainModel
internal import KeychainProtocol

/// What lies beside a login and goes along when that gets another name or place.
///
/// It goes first: whoever is interrupted finds the login under its old name, and the same
/// command again brings it after what lies beside it.
struct SiblingMove {
    private struct Step {
        let item: StoredItem
        let now: StoredItem
    }

    private let steps: [Step]
    /// What stays, because another login of the old name has it beside it, too.
    let shared: [StoredItem]

    init(_ login: StoredItem, to moved: StoredItem, in keychain: CommandKeychain) {
        guard moved.siteName != login.siteName || moved.account != login.account else {
            (steps, shared) = ([], [])
            return
        }
        // What programs of the Secret Service find by attributes of its own is not ours to rename.
        let siblings = Sibling.all(of: login, in: keychain).filter { $0.lookup == nil }
        guard !siblings.isEmpty, !Self.hasAnother(login, in: keychain) else {
            (steps, shared) = ([], siblings)
            return
        }
        shared = []
        steps = siblings.map { item in
            var now = item
            now.take(.service, .string(moved.siteName))
            now.take(.account, .string(Sibling.account(of: item, beside: login.account, then: moved.account)))
            return Step(item: item, now: now)
        }
    }

    var moved: [StoredItem] { steps.map(\.now) }

    /// Moves all of it, then does what moves the login; where that fails all is as before.
    ///
    /// - Throws: before anything moves, where an item has one of the new names.
    func perform(
        in keychain: CommandKeychain, then moveLogin: () throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        for step in steps {
            let taken = keychain.glimpse(.generic, service: step.now.service, account: step.now.account)
            guard !taken.contains(where: { $0.group == step.item.group }) else {
                throw CommandFailure(
                    .usage,
                    "\(step.item.displayName) goes along, and another item has its new name; nothing was changed",
                    "Move that one or remove it first, or choose another name.")
            }
        }
        var done: [Step] = []
        do throws(CommandFailure) {
            for step in steps {
                try keychain.change(step.item, to: Self.names(of: step.now))
                done.append(step)
            }
            try moveLogin()
        } catch {
            for step in done.reversed() { try Self.putBack(step, in: keychain, after: error) }
            throw error
        }
    }

    private static func putBack(
        _ step: Step, in keychain: CommandKeychain, after failure: CommandFailure
    ) throws(CommandFailure) {
        do throws(CommandFailure) { try keychain.change(step.now, to: names(of: step.item)) } catch {
            throw CommandFailure(
                failure.status, failure.lines[0],
                "\(step.item.displayName) is already called as it would have been then, and could not be put back.")
        }
    }

    private static func names(of item: StoredItem) -> [(AttributeCode, RawValue)] {
        [(.service, .string(item.service)), (.account, .string(item.account))]
    }

    private static func hasAnother(_ login: StoredItem, in keychain: CommandKeychain) -> Bool {
        let kinds: [(PasswordKind, String)] =
            [(.generic, login.siteName)] + (login.kind == .internet ? [(.internet, login.service)] : [])
        return kinds.contains { kind, service in
            keychain.glimpse(kind, service: service, account: login.account).contains {
                $0.siteName == login.siteName && $0.group == login.group && !$0.isSame(as: login)
            }
        }
    }
}
