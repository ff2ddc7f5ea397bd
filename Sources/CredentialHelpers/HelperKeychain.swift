package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol

/// The keychain as a helper uses it: the access group `latchkey`, and nobody is asked.
package struct HelperKeychain: Sendable {
    private let transport: any KeychainTransport
    private let group: String?

    /// Says hello; after that nobody looks into this process any more.
    ///
    /// - Parameter close: makes this process not dumpable: before the hello the daemon
    ///   has to look at it.
    package init(_ transport: any KeychainTransport, closing close: () -> Void) throws(KeychainError) {
        let session = try transport.session()
        close()
        let own = AccessGroup.latchkey
        // A temporary keychain with entitlements may not have our group: then the first
        // of its list is used, as for every other program.
        group = own.isNamed(by: session.groups) || own.isNamed(by: session.nameableGroups) ? own.name : nil
        self.transport = transport
    }

    private typealias Pairs = [(String, RawValue)]

    private func base(_ itemClass: ItemClass) -> Pairs {
        [("class", .string(itemClass.rawValue))] + (group.map { [("agrp", .string($0))] } ?? [])
    }

    // MARK: Looking

    /// Items of a class that have all of these attributes; without those that ask for a
    /// person, whom no helper disturbs.
    struct Wanted {
        let itemClass: ItemClass
        let attributes: [(AttributeCode, RawValue)]

        init(_ itemClass: ItemClass, _ attributes: [(AttributeCode, RawValue)]) {
            (self.itemClass, self.attributes) = (itemClass, attributes)
        }
    }

    /// What there is of each, by one call.
    ///
    /// - Parameter isCertain: whether it fails where one of them finds nothing and what it looks
    ///   for may lie among damaged items. Any damaged item of the keychain may be it: only whoever
    ///   would say that there is nothing asks so.
    func items(ofEach wanted: [Wanted], isCertain: Bool = false) throws(KeychainError) -> [[HelperItem]] {
        let searches = wanted.map { QueryDictionary(query($0)) }
        return try transport.copyEach(isCertain ? searches.map(\.certain) : searches)
            .map { $0.map { HelperItem($0) } }
    }

    private func query(_ wanted: Wanted) -> Pairs {
        base(wanted.itemClass) + Self.named(wanted.attributes) + [
            ("sync", .string("syna")), ("r_Attributes", .bool(true)), ("r_PersistentRef", .bool(true)),
            ("m_Limit", .string("m_LimitAll")), ("u_AuthUI", .string("u_AuthUIS")),
        ]
    }

    /// - Throws: `errSecItemNotFound` where it has gone meanwhile.
    func value(of item: HelperItem) throws(KeychainError) -> SharedSecret {
        let answer = try transport.perform(KeychainRequest(.copy, query: QueryDictionary(valueQuery(item))))
        return answer.rows.first?.value ?? SharedSecret(SecretBytes(count: 0))
    }

    /// The value with what stands beside the item, by one call; nil where the item has gone
    /// meanwhile.
    func value(
        of item: HelperItem, and beside: Wanted?
    ) throws(KeychainError) -> (value: SharedSecret, beside: [HelperItem])? {
        let searches = [QueryDictionary(valueQuery(item))] + (beside.map { [QueryDictionary(query($0))] } ?? [])
        let found = try transport.copyEach(searches)
        guard let row = found[0].first else { return nil }
        return (row.value ?? SharedSecret(SecretBytes(count: 0)), found.dropFirst().joined().map { HelperItem($0) })
    }

    private func valueQuery(_ item: HelperItem) -> Pairs {
        var query: Pairs = [
            ("class", .string(item.itemClass.rawValue)), ("v_PersistentRef", .data(item.reference)),
            ("r_Data", .bool(true)), ("u_AuthUI", .string("u_AuthUIF")),
        ]
        if let group { query.append(("u_LatchkeyGroup", .string(group))) }
        return query
    }

    // MARK: Changing

    /// - Throws: `errSecDuplicateItem` where its place is taken.
    func add(
        _ value: SharedSecret, _ itemClass: ItemClass, _ attributes: [(AttributeCode, RawValue)]
    ) throws(KeychainError) {
        let query = base(itemClass) + Self.named(attributes) + [("v_Data", .secret)]
        _ = try transport.perform(KeychainRequest(.add, query: QueryDictionary(query), value: value))
    }

    /// - Throws: `errSecItemNotFound` where it has gone meanwhile.
    func change(
        _ item: HelperItem, to value: SharedSecret, _ attributes: [(AttributeCode, RawValue)]
    ) throws(KeychainError) {
        let changes = Self.named(attributes) + [("v_Data", .secret)]
        _ = try transport.perform(
            KeychainRequest(
                .update, query: QueryDictionary(exactly(item)), changes: QueryDictionary(changes), value: value))
    }

    /// False where it has gone already.
    @discardableResult
    func remove(_ item: HelperItem) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            _ = try transport.perform(KeychainRequest(.delete, query: QueryDictionary(exactly(item))))
            return true
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return false
        }
    }

    private func exactly(_ item: HelperItem) -> Pairs {
        base(item.itemClass) + [("v_PersistentRef", .data(item.reference)), ("u_AuthUI", .string("u_AuthUIF"))]
    }

    private static func named(_ attributes: [(AttributeCode, RawValue)]) -> Pairs {
        attributes.map { ("\($0)", $1) }
    }
}
