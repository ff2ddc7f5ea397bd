package import KeychainModel
internal import KeychainPlatform

/// docker's credentials in the keychain (FORMATS.md, "Items of git and docker").
package struct DockerCredentials {
    private let keychain: HelperKeychain

    package init(_ keychain: HelperKeychain) { self.keychain = keychain }

    package struct Found: Sendable {
        let username: String
        let secret: SharedSecret
    }

    /// nil where there is none.
    package func get(_ server: DockerServer) throws(KeychainError) -> Found? {
        for item in try certainMatches(server) where !item.account.isEmpty {
            do throws(KeychainError) {
                return Found(username: item.account, secret: try keychain.value(of: item))
            } catch { guard error.status == .itemNotFound else { throw error } }
        }
        return nil
    }

    /// In place of what docker had for the server, whoever's it was: it has one login a
    /// registry.
    package func store(_ request: DockerCredentialRequest) throws(KeychainError) {
        var refusal: KeychainError?
        for _ in 0..<Self.mostAttempts {
            let before = try matches(request.server).filter { $0.origin == .docker }
            do throws(KeychainError) {
                if let same = before.first(where: { $0.account.hasSameBytes(as: request.username) }) {
                    try keychain.change(same, to: request.secret, Self.marks(request))
                } else {
                    try add(request)
                }
                for other in before where !other.account.hasSameBytes(as: request.username) {
                    try keychain.remove(other)
                }
                if try leavesOne(request.server) { return }
                refusal = KeychainError(.notAvailable, reason: .busy)
            } catch {
                // Another docker was quicker: what is there now is looked at anew.
                guard error.status == .duplicateItem || error.status == .itemNotFound else { throw error }
                refusal = error
            }
        }
        if let refusal { throw refusal }
    }

    private static let mostAttempts = 8

    /// Two that store different users' logins at once see nothing of each other before, and what
    /// one removes the other may have stored again meanwhile. So whoever has removed something
    /// looks again: nobody's last word is a removal.
    ///
    /// - Returns: whether there is one; where there is none it has to be stored again.
    private func leavesOne(_ server: DockerServer) throws(KeychainError) -> Bool {
        while true {
            let there = try matches(server).filter { $0.origin == .docker }
            let newest = there.max { one, other in
                one.modified == other.modified
                    ? one.reference.lexicographicallyPrecedes(other.reference) : one.modified < other.modified
            }
            guard there.count > 1 else { return newest != nil }
            for item in there where item.reference != newest?.reference { try keychain.remove(item) }
        }
    }

    private func add(_ request: DockerCredentialRequest) throws(KeychainError) {
        let owner = (AttributeCode.account, RawValue.string(request.username))
        var places: [(ItemClass, [(AttributeCode, RawValue)])] = [
            (.genericPassword, [(.service, .string(request.server.url)), owner])
        ]
        // Under https also where no scheme is said: what `latchkey set --internet` stores of a
        // server has none, and is a person's.
        let place = request.server.place.map {
            ServerPlace(scheme: $0.scheme ?? "https", server: $0.server, path: $0.path)
        }
        if let there = place?.attributes { places.insert((.internetPassword, there + [owner]), at: 0) }
        var refusal: KeychainError?
        for (itemClass, place) in places {
            do throws(KeychainError) {
                return try keychain.add(request.secret, itemClass, place + Self.marks(request))
            } catch {
                guard error.status == .duplicateItem else { throw error }
                refusal = error
                if try matches(request.server).contains(where: { $0.origin == .docker }) { throw error }
            }
        }
        if let refusal { throw refusal }
    }

    /// Whose it is, and the attributes by which docker-credential-secretservice finds and
    /// lists it (docker-credential-helpers, secretservice/secretservice.c).
    private static func marks(_ request: DockerCredentialRequest) -> [(AttributeCode, RawValue)] {
        let lookup = LookupAttributes([
            .init(name: "xdg:schema", value: ItemOrigin.dockerSchema), .init(name: "docker_cli", value: "1"),
            .init(name: "label", value: "Docker Credentials"), .init(name: "server", value: request.server.url),
            .init(name: "username", value: request.username),
        ])
        // Its label is what docker-credential-secretservice lists as the server.
        return [creator, (.label, .string(request.server.url)), (.lookup, .data((lookup ?? .none).encoded))]
    }

    private static var creator: (AttributeCode, RawValue) { ("crtr", .integer(ItemOrigin.creators[.docker] ?? 0)) }

    /// Takes away what docker stored; what a person stored stays.
    package func erase(_ server: DockerServer) throws(KeychainError) {
        for item in try certainMatches(server) where item.origin == .docker { try keychain.remove(item) }
    }

    /// The accounts of docker's own, by server.
    package func list() throws(KeychainError) -> [(url: String, username: String)] {
        let schema = LookupAttributes([.init(name: "xdg:schema", value: ItemOrigin.dockerSchema)]) ?? .none
        let wanted = [ItemClass.internetPassword, .genericPassword].flatMap { itemClass in
            [[Self.creator], [(AttributeCode.lookup, RawValue.data(schema.encoded))]].map { attributes in
                HelperKeychain.Wanted(itemClass, attributes)
            }
        }
        var accounts: [String: String] = [:]
        var found = try keychain.items(ofEach: wanted)
        if found.allSatisfy(\.isEmpty) { found = try keychain.items(ofEach: wanted, isCertain: true) }
        for item in found.joined() where item.origin == .docker {
            accounts[DockerServer.url(of: item)] = item.account
        }
        return accounts.sorted { $0.key < $1.key }.map { (url: $0.key, username: $0.value) }
    }

    /// The same, for whoever would say that there is nothing.
    ///
    /// - Throws: where nothing is found, and what matches may be among damaged items.
    private func certainMatches(_ server: DockerServer) throws(KeychainError) -> [HelperItem] {
        let found = try matches(server)
        if found.isEmpty { _ = try keychain.items(ofEach: wanted(server), isCertain: true) }
        return found
    }

    private func wanted(_ server: DockerServer) -> [HelperKeychain.Wanted] {
        var wanted: [HelperKeychain.Wanted] = []
        if let place = server.place {
            wanted.append(.init(.internetPassword, [(.server, .string(place.server.host))]))
        }
        for service in [server.url, server.place?.server.text].compactMap({ $0 }) {
            wanted.append(.init(.genericPassword, [(.service, .string(service))]))
        }
        let lookup = LookupAttributes([
            .init(name: "xdg:schema", value: ItemOrigin.dockerSchema), .init(name: "server", value: server.url),
        ])
        if let lookup { wanted.append(.init(.genericPassword, [(.lookup, .data(lookup.encoded))])) }
        return wanted
    }

    /// docker's own before a person's, of those what has the path before what has none, then what was
    /// changed last.
    private func matches(_ server: DockerServer) throws(KeychainError) -> [HelperItem] {
        var known: Set<[UInt8]> = []
        return try keychain.items(ofEach: wanted(server)).joined().filter { item in
            let isMeant =
                item.origin == .docker
                ? DockerServer.url(of: item).hasSameBytes(as: server.url) : server.isMeant(by: item)
            return isMeant && known.insert(item.reference).inserted
        }.sorted { one, other in
            func rank(_ item: HelperItem) -> Int { item.origin == .docker ? 0 : server.isPath(of: item) ? 1 : 2 }
            return rank(one) == rank(other) ? one.modified > other.modified : rank(one) < rank(other)
        }
    }
}
