/// An item that `import` lays beside a login, because an item has one value (decisions.md,
/// "Command line"): a generic password of the same place, its account with a word behind it.
enum Sibling: String, CaseIterable {
    case oneTimeSecret = "(otp)"
    case note = "(note)"

    func account(of login: String) -> String { login.isEmpty ? rawValue : "\(login) \(rawValue)" }

    func isOne(_ item: StoredItem) -> Bool {
        item.account == rawValue || item.account.hasSuffix(" \(rawValue)")
    }

    /// Whether it is called as one is, files too.
    static func isAny(_ item: StoredItem) -> Bool {
        allCases.contains { $0.isOne(item) } || isFile(item) { $0.hasPrefix(file) || $0.contains(" \(file)") }
    }

    /// Whether an item lies beside one of these, files too.
    static func isBesideAny(of logins: [StoredItem], _ item: StoredItem) -> Bool {
        logins.map(\.account).contains { login in
            allCases.contains { item.account == $0.account(of: login) }
                || isFile(item) { $0.hasPrefix(login.isEmpty ? file : "\(login) \(file)") }
        }
    }

    /// What was attached to a login has a name of its own behind that: "(file: NAME)".
    private static let file = "(file: "

    private static func isFile(_ item: StoredItem, where begins: (String) -> Bool) -> Bool {
        item.account.hasSuffix(")") && begins(item.account)
    }

    /// What lies beside a login, named as it was found; files too.
    static func all(of login: StoredItem, in keychain: CommandKeychain) -> [StoredItem] {
        guard !isAny(login) else { return [] }
        return keychain.glimpse(.generic, service: login.siteName, account: nil)
            .filter { $0.group == login.group && isBesideAny(of: [login], $0) }
    }

    /// What an item beside a login is called where that has another account: the words behind
    /// stay.
    static func account(of item: StoredItem, beside login: String, then account: String) -> String {
        let words = login.isEmpty ? item.account[...] : item.account.dropFirst(login.count + 1)
        return account.isEmpty ? String(words) : "\(account) \(words)"
    }

    /// Named after the login's whole place in a server, which a person need not say.
    func beside(_ login: StoredItem, in keychain: CommandKeychain) -> [StoredItem] {
        keychain.glimpse(.generic, service: login.siteName, account: account(of: login.account))
            .filter { $0.group == login.group }
    }
}
