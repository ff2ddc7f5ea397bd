package import KeychainModel
package import KeychainPlatform

/// git's credentials in the keychain (FORMATS.md, "Items of git and docker").
package struct GitCredentials {
    private let keychain: HelperKeychain
    /// Seconds since 1970-01-01T00:00:00Z.
    private let now: Int64
    /// What a person should know, for standard error.
    package private(set) var notes: [String] = []

    package init(_ keychain: HelperKeychain, clock: any KeychainClock) {
        self.keychain = keychain
        now = Int64(clock.wallClock.rounded(.down)) + Self.secondsFrom1970To2001
    }

    private static let secondsFrom1970To2001: Int64 = 978_307_200

    // MARK: get

    /// nil where there is nothing to say.
    package mutating func get(_ request: GitCredentialRequest) throws(KeychainError) -> SharedSecret? {
        var ended: GitAnswer?
        for match in try certainMatches(request).sorted(by: GitMatch.isBetter(for: request)) {
            if case .authorization = match.kind, !request.understandsTypes { continue }
            guard isSayable(match.account), isSayable(match.kind.attribute), let held = try held(match) else {
                continue
            }
            guard let expiry = held.extras.expiry, expiry <= now else {
                return GitAnswer(username: match.username, secret: held.secret, extras: held.extras).text
            }
            // git itself, from 2.40 on, gives the rest to the helpers behind us.
            ended = ended ?? GitAnswer(username: match.username, secret: nil, extras: held.extras)
        }
        if let ended { return ended.text }
        try noteOtherPaths(request)
        return nil
    }

    /// A login of the site's that a browser had is none of git's, so that git has to say the path of what a
    /// person stored with one.
    private mutating func noteOtherPaths(_ request: GitCredentialRequest) throws(KeychainError) {
        guard request.place.path == nil else { return }
        let request = request.inLowerCase ?? request
        let other = try keychain.items(ofEach: wanted(request)).joined().first { item in
            item.origin == .person && !item.path.isEmpty
                && GitMatch(item, request.of(path: item.path)) != nil
        }
        guard let other else { return }
        // It may have come from a file of somebody else's, and goes to a terminal.
        let isPlain = other.path.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        notes.append(
            "what a person stored for that server is for \(isPlain ? other.path : "a path") alone, which git did not "
                + "ask for; `latchkey set --internet HOST ACCOUNT` stores it for all of it.")
    }

    // MARK: store

    package mutating func store(_ request: GitCredentialRequest) throws(KeychainError) {
        // An empty one is one: where a ticket proves who asks, git stores neither name nor password.
        guard let secret = request.secret, !request.isEphemeral else { return }
        let account: String
        switch (request.username, secret.kind) {
        case (let name?, _): account = name
        case (nil, .authorization): account = ""
        // As git's own helpers: without a name it is no credential.
        case (nil, .password): return
        }
        if let expiry = request.extras.expiry, expiry <= now { return }
        let spelled = request.of(account)
        // What is new stands under the host in lower case.
        let wanted = spelled.inLowerCase ?? spelled
        var refusal: KeychainError?
        for _ in 0..<Self.mostAttempts {
            let known = try matches(spelled).filter { $0.kind == secret.kind }
                .sorted(by: GitMatch.isBetter(for: wanted))
            do throws(KeychainError) {
                if try isThere(secret, wanted, among: known) { return }
                let places = known.filter { $0.isPlace(of: wanted) }
                guard places.isEmpty else { return try write(secret, wanted.extras, over: places) }
                return try add(secret, wanted, account)
            } catch {
                // Another git was quicker: what is there now is looked at anew.
                guard error.status == .duplicateItem || error.status == .itemNotFound else { throw error }
                refusal = error
            }
        }
        if let refusal { throw refusal }
    }

    private static let mostAttempts = 8

    /// Whether it is there alike, and given before all others; what is new about its end and its
    /// token is kept then.
    private mutating func isThere(
        _ secret: GitSecret, _ request: GitCredentialRequest, among known: [GitMatch]
    ) throws(KeychainError) -> Bool {
        for match in known {
            guard let held = try held(match) else { continue }
            guard held.secret.value.bytes.isEqual(to: secret.value.bytes) else {
                // One that has ended is given to nobody.
                if let end = held.extras.expiry, end <= now { continue }
                // That one is given first, and did not work where git has just stored another: stored
                // once more, this one is. Else a person would be asked for it again and again.
                return false
            }
            if held.extras.isEqual(to: request.extras) { return true }
            guard match.item.origin == .git, held.isPlain else { continue }
            let extras = request.extras.isEmpty ? lasting(held.extras) : request.extras
            if !held.extras.isEqual(to: extras) { try keep(extras, of: match.item, with: secret) }
            return true
        }
        return false
    }

    private static let creator = (AttributeCode("crtr"), RawValue.integer(ItemOrigin.creators[.git] ?? 0))

    /// Over each that stands there, in whatever spelling of the host: one that is left would be
    /// given once the new one is erased.
    private mutating func write(
        _ secret: GitSecret, _ extras: GitExtras, over places: [GitMatch]
    ) throws(KeychainError) {
        for match in places {
            var extras = extras
            if extras.isEmpty, let held = try held(match), held.isPlain,
                held.secret.value.bytes.isEqual(to: secret.value.bytes)
            {
                extras = lasting(held.extras)
            }
            try keychain.change(match.item, to: secret.value, [Self.creator])
            try keep(extras, of: match.item, with: secret)
        }
    }

    /// What stays of an end and a token where the password is stored once more by a git that knows
    /// neither, and says nothing of them: that it is stored at all says that it has not ended.
    private func lasting(_ held: GitExtras) -> GitExtras {
        guard let end = held.expiry, end <= now else { return held }
        var lasting = GitExtras()
        lasting.refreshToken = held.refreshToken
        return lasting
    }

    private func add(
        _ secret: GitSecret, _ request: GitCredentialRequest, _ account: String
    ) throws(KeychainError) {
        let label = (AttributeCode.label, RawValue.string("Git: \(request.place.address)"))
        var refusal: KeychainError?
        for (itemClass, place) in places(of: request, secret.kind, account) {
            do throws(KeychainError) {
                try keychain.add(secret.value, itemClass, place + [Self.creator, label])
                guard !request.extras.isEmpty else { return }
                let isNew = { (match: GitMatch) in match.kind == secret.kind && match.isPlace(of: request) }
                guard let match = try matches(request).first(where: isNew) else { return }
                return try keep(request.extras, of: match.item, with: secret)
            } catch {
                guard error.status == .duplicateItem else { throw error }
                refusal = error
                if try matches(request).contains(where: { $0.isPlace(of: request) }) { throw error }
            }
        }
        if let refusal { throw refusal }
    }

    /// Where it may stand: the second where another program's item has the first.
    private func places(
        of request: GitCredentialRequest, _ kind: GitSecret.Kind, _ account: String
    ) -> [(ItemClass, [(AttributeCode, RawValue)])] {
        let owner = (AttributeCode.account, RawValue.string(account))
        let type: [(AttributeCode, RawValue)] = kind == .password ? [] : [("atyp", .string(kind.attribute))]
        let internet = request.place.attributes.map { [(ItemClass.internetPassword, $0 + [owner] + type)] } ?? []
        // No other program has items of these types, and only HTTP has such types.
        guard kind == .password else { return internet }
        return internet + [(.genericPassword, [(.service, .string(request.place.address)), owner])]
    }

    // MARK: erase

    /// Takes away what git stored and what matches, also by its secret where one is said:
    /// a password that was refused is not the newer one that may be there by now.
    package mutating func erase(_ request: GitCredentialRequest) throws(KeychainError) {
        for match in try certainMatches(request) {
            if let secret = request.secret {
                guard let held = try held(match), held.secret.value.bytes.isEqual(to: secret.value.bytes) else {
                    continue
                }
            }
            guard match.item.origin == .git else {
                notes.append(
                    "what a person stored stays; `latchkey rm` removes it, and `latchkey set` replaces it.")
                continue
            }
            try keychain.remove(match.item)
            for beside in try beside(match.item) { try keychain.remove(beside) }
        }
    }

    // MARK: Looking

    /// The same, for whoever would say that there is nothing: git, told so, asks for the password,
    /// and stores it over what may come back.
    ///
    /// - Throws: where nothing is found, and what matches may be among damaged items.
    private func certainMatches(_ request: GitCredentialRequest) throws(KeychainError) -> [GitMatch] {
        let found = try matches(request)
        if found.isEmpty { _ = try keychain.items(ofEach: wanted(request), isCertain: true) }
        return found
    }

    /// git says a host as somebody typed it; it is stored in lower case, which is the same (RFC
    /// 3986, section 3.2.2). git-credential-libsecret stores it as typed.
    private func matches(_ request: GitCredentialRequest) throws(KeychainError) -> [GitMatch] {
        guard let lower = request.inLowerCase else { return try matches(asSpelled: request) }
        return try matches(asSpelled: lower) + matches(asSpelled: request)
    }

    private func wanted(_ request: GitCredentialRequest) -> [HelperKeychain.Wanted] {
        let owner: [(AttributeCode, RawValue)] = request.username.map { [(.account, .string($0))] } ?? []
        var wanted: [HelperKeychain.Wanted] = []
        if request.place.attributes != nil {
            wanted.append(.init(.internetPassword, [(.server, .string(request.place.server.host))] + owner))
        }
        return wanted
            + GitMatch.services(for: request).map { .init(.genericPassword, [(.service, .string($0))] + owner) }
    }

    private func matches(asSpelled request: GitCredentialRequest) throws(KeychainError) -> [GitMatch] {
        let all = try keychain.items(ofEach: wanted(request)).joined().compactMap { GitMatch($0, request) }
        var found = all.filter { $0.item.itemClass == .internetPassword }
        let generic = all.filter { $0.item.itemClass == .genericPassword }
        // What a person named after the server may be for something else, where there is a
        // password for the server itself.
        found += found.isEmpty ? generic : generic.filter { $0.item.origin == .git }
        return found.isEmpty ? try filedElsewhere(request) : found
    }

    /// What git-credential-libsecret stored where its place was taken, or had no host.
    private func filedElsewhere(_ request: GitCredentialRequest) throws(KeychainError) -> [GitMatch] {
        guard let lookup = request.lookup else { return [] }
        return try keychain.items(ofEach: [.init(.genericPassword, [(.lookup, .data(lookup.encoded))])])[0]
            .compactMap { GitMatch(filedElsewhere: $0, request) }
    }

    /// What an item holds; nil where git cannot be told of it.
    private mutating func held(_ match: GitMatch) throws(KeychainError) -> HeldCredential? {
        let item = match.item
        let wanted = item.origin == .git ? wantedBeside(item) : nil
        guard let (value, beside) = try keychain.value(of: item, and: wanted) else { return nil }
        // What git stored empty is meant so; of a person it is no password.
        guard item.origin == .git || value.bytes.count > 0 else { return nil }
        guard let held = HeldCredential(value, of: match) else {
            notes.append("an item of that server has several lines or a byte 0, which git cannot be told.")
            return nil
        }
        guard item.origin == .git, held.isPlain else { return held }
        let extras = try extras(of: item, with: held.secret, in: beside)
        return HeldCredential(secret: held.secret, extras: extras, isPlain: true)
    }

    /// A name with a line of its own would be read as another key.
    private mutating func isSayable(_ account: String) -> Bool {
        guard account.utf8.contains(where: { $0 == UInt8(ascii: "\n") || $0 == 0 }) else { return true }
        notes.append("an account of that server has several lines or a byte 0, which git cannot be told.")
        return false
    }

    // MARK: Beside the password

    /// The item with the end and the token of a password.
    private func beside(_ item: HelperItem) throws(KeychainError) -> [HelperItem] {
        try keychain.items(ofEach: [wantedBeside(item)])[0]
    }

    private func wantedBeside(_ item: HelperItem) -> HelperKeychain.Wanted {
        .init(
            .genericPassword, [(.service, .string(GitMatch.serviceBeside(item))), (.account, .string(item.account))])
    }

    /// Those of another password belong to nothing.
    private func extras(
        of item: HelperItem, with secret: GitSecret, in beside: [HelperItem]
    ) throws(KeychainError) -> GitExtras {
        guard let beside = beside.first else { return GitExtras() }
        let value = try keychain.value(of: beside)
        do throws(CredentialLines.Flaw) {
            let lines = try CredentialLines(value)
            // Earlier versions wrote no check: there, what is older than the last change is another's.
            let isOfSecret = try lines.text(GitExtras.checkKey).map { $0 == secret.check }
            return isOfSecret ?? (beside.modified >= item.modified) ? GitExtras(lines) : GitExtras()
        } catch { return GitExtras() }
    }

    private func keep(_ extras: GitExtras, of item: HelperItem, with secret: GitSecret) throws(KeychainError) {
        let before = try beside(item)
        guard !extras.isEmpty else {
            for old in before { try keychain.remove(old) }
            return
        }
        let lines = extras.lines(with: secret)
        if let there = before.first { return try keychain.change(there, to: lines, []) }
        try keychain.add(
            lines, .genericPassword,
            [
                (.service, .string(GitMatch.serviceBeside(item))), (.account, .string(item.account)),
                ("crtr", .integer(ItemOrigin.creators[.git] ?? 0)),
                (.label, .string("Git: expiry and refresh token")),
            ])
    }
}
