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
    /// The server of an internet password, of which `service` is the host.
    var server: InternetAddress?

    var displayName: String { StoredItem.displayName(server?.name ?? service, account) }

    func existing(in keychain: CommandKeychain) throws(CommandFailure) -> StoredItem? {
        if let wholeServer, let only = try keychain.onlyOne(onServer: wholeServer, account: account) { return only }
        // What a program stored in the very place is replaced as well.
        return try keychain.existing(kind, place: place, account: account)
    }

    /// The host where nothing narrower is said of the server.
    private var wholeServer: String? { server.flatMap { $0.parts.isEmpty ? $0.host : nil } }

    private var place: [AttributeCode: RawValue] { server?.attributes ?? [kind.nameCode: .string(service)] }

    /// Tells a person what will be replaced, while it can still be called off.
    func announce(in keychain: CommandKeychain, _ console: any Console) throws(CommandFailure) {
        guard console.errorIsTerminal, let before = try existing(in: keychain) else { return }
        let title = before.label.map { " \"\(PrintableText.escaped($0))\"" } ?? ""
        let parts = before.placeInServer.map(PrintableText.escaped).joined(separator: ", ")
        let place = parts.isEmpty ? "" : " (\(parts))"
        let date = before.modified?.text.map { ", last changed \($0)" } ?? ""
        console.note("This replaces the secret of \(before.displayName)\(place)\(title)\(date).")
    }

    private func outcome(
        _ secret: SharedSecret, in keychain: CommandKeychain
    ) throws(CommandFailure) -> CommandKeychain.StoreOutcome {
        if let wholeServer, let only = try keychain.onlyOne(onServer: wholeServer, account: account) {
            try keychain.store(secret, in: only, attributes: attributes)
            return .replaced
        }
        // An addition would lay another item beside it, which no name tells from this one.
        if let before = keychain.onlySynchronizable(kind, place: place, account: account) {
            try keychain.store(secret, in: before, attributes: attributes)
            return .replaced
        }
        return try keychain.store(secret, kind: kind, place: place, account: account, attributes: attributes)
    }

    func store(
        _ secret: SharedSecret, in keychain: CommandKeychain, _ console: any Console
    ) throws(CommandFailure) {
        let outcome = try outcome(secret, in: keychain)
        if json {
            let line = JSONValue.object([
                ("service", .string(service)), ("account", .string(account)), ("kind", .string(kind.text)),
                ("replaced", .bool(outcome == .replaced)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        if outcome == .added, kind == .generic,
            keychain.glimpse(.internet, service: service, account: account).contains(where: \.isOfPerson)
        {
            console.note(
                "An internet password of \(displayName) is there as well, and keeps its secret; with --internet "
                    + "that one is replaced.")
        }
        guard console.errorIsTerminal else { return }
        switch outcome {
        case .replaced: console.note("Replaced.")
        case .added:
            console.note("Stored.")
            guard try keychain.list(service: nil).items.count == 1 else { return }
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
