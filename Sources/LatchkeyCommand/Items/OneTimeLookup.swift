internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import OneTimePasswords

/// What `get --otp` does: the code for this moment from an item's secret.
struct OneTimeLookup {
    let name: ItemName

    /// The code, and the item from which it was made.
    struct Answer: Sendable {
        let item: StoredItem
        let code: SharedSecret
        let secondsLeft: Int
    }

    func answer(in keychain: CommandKeychain, at clock: any KeychainClock) throws(CommandFailure) -> Answer {
        try Self.answer(from: item(in: keychain), in: keychain, at: clock)
    }

    /// The same from an item that was found.
    static func answer(
        from item: StoredItem, in keychain: CommandKeychain, at clock: any KeychainClock
    ) throws(CommandFailure) -> Answer {
        let secret = try keychain.value(of: item)
        let password: OneTimePassword
        do throws(OneTimePassword.Fault) {
            // Beside a login also a bare secret is meant; elsewhere it may be a password.
            if isSibling(item), !OneTimePassword.isAddress(secret.bytes) {
                password = try OneTimePassword(base32: secret.bytes)
            } else {
                password = try OneTimePassword(address: secret.bytes)
            }
        } catch {
            throw CommandFailure(
                .usage, "no code can be made from this item: \(error.explanation)", error.advice)
        }
        let code = password.code(at: Int64(clock.wallClock.rounded(.down)) + secondsFrom1970To2001)
        return Answer(item: item, code: code.characters, secondsLeft: code.secondsLeft)
    }

    private static let secondsFrom1970To2001: Int64 = 978_307_200

    /// The item beside the one that is named, else that one itself.
    private func item(in keychain: CommandKeychain) throws(CommandFailure) -> StoredItem {
        let advice = "Name one account: latchkey get --otp SERVICE ACCOUNT"
        guard let account = name.account else {
            let found = try keychain.find(name, besidesLogins: true)
            let siblings = found.filter(Self.isSibling)
            let candidates = siblings.isEmpty ? found : siblings
            guard let item = candidates.first else { throw .noItem }
            guard candidates.count == 1 else { throw .several(candidates, accountGiven: false, then: advice) }
            return Self.beside(item, in: keychain) ?? item
        }
        var beside = name
        // What narrows the login says nothing of what lies beside it.
        beside.parts = ItemParts()
        beside.account = Sibling.oneTimeSecret.account(of: account)
        let siblings = try keychain.find(beside)
        guard siblings.count < 2 else { throw .several(siblings, accountGiven: true, then: advice) }
        if let sibling = siblings.first { return sibling }
        let login = try keychain.findOne(name, advice: advice)
        return Self.beside(login, in: keychain) ?? login
    }

    private static func beside(_ login: StoredItem, in keychain: CommandKeychain) -> StoredItem? {
        guard login.kind == .internet, !isSibling(login) else { return nil }
        let found = Sibling.oneTimeSecret.beside(login, in: keychain)
        return found.count == 1 ? found[0] : nil
    }

    private static func isSibling(_ item: StoredItem) -> Bool { Sibling.oneTimeSecret.isOne(item) }
}
