/// An item that `import` lays beside a login, because an item has one value (decisions.md,
/// "Command line"): a generic password of the same place, its account with a word behind it.
enum Sibling: String, CaseIterable {
    case oneTimeSecret = "(otp)"
    case note = "(note)"

    func account(of login: String) -> String { login.isEmpty ? rawValue : "\(login) \(rawValue)" }

    func isOne(_ item: StoredItem) -> Bool {
        item.account == rawValue || item.account.hasSuffix(" \(rawValue)")
    }

    /// What lies beside a login, named as it was found.
    static func all(of login: StoredItem, in keychain: CommandKeychain) throws(CommandFailure) -> [StoredItem] {
        guard !allCases.contains(where: { $0.isOne(login) }) else { return [] }
        var found: [StoredItem] = []
        for sibling in allCases {
            let name = ItemName(
                kind: .generic, service: login.siteName, account: sibling.account(of: login.account))
            found += try keychain.find(name).filter { $0.group == login.group }
        }
        return found
    }
}
