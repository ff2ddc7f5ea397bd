internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Storing a secret, and saying what that did: what `set` and `note` share.
struct SecretStoring {
    let kind: PasswordKind
    let service: String
    let account: String
    let attributes: [(AttributeCode, RawValue)]
    let json: Bool

    var displayName: String { StoredItem.displayName(service, account) }

    func existing(in keychain: CommandKeychain) throws(CommandFailure) -> StoredItem? {
        try keychain.existing(kind, service: service, account: account)
    }

    /// Tells a person what will be replaced, while it can still be called off.
    func announce(in keychain: CommandKeychain, _ console: any Console) throws(CommandFailure) {
        guard console.errorIsTerminal, let before = try existing(in: keychain) else { return }
        let title = before.label.map { " \"\(PrintableText.escaped($0))\"" } ?? ""
        let date = before.modified?.text.map { ", last changed \($0)" } ?? ""
        console.note("This replaces the secret of \(displayName)\(title)\(date).")
    }

    func store(
        _ secret: SharedSecret, in keychain: CommandKeychain, _ console: any Console
    ) throws(CommandFailure) {
        let outcome = try keychain.store(
            secret, kind: kind, service: service, account: account, attributes: attributes)
        if json {
            let line = JSONValue.object([
                ("service", .string(service)), ("account", .string(account)), ("kind", .string(kind.text)),
                ("replaced", .bool(outcome == .replaced)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        guard console.errorIsTerminal else { return }
        switch outcome {
        case .replaced: console.note("Replaced.")
        case .added:
            console.note("Stored.")
            guard try keychain.list(service: nil).count == 1 else { return }
            console.note(try Protection(keychain.status(), keychain.session).sentence)
        }
    }
}

extension CommandFailure {
    static func secretAsArgument(_ form: String) -> CommandFailure {
        CommandFailure(
            .usage, "a secret is never given as an argument, where every process of the machine can read it",
            "Pipe it in, or leave it out and type it at the prompt: \(form)")
    }
}
