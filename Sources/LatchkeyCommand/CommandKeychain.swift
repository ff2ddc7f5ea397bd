package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol

/// The keychain as the command line uses it: every call names the access group
/// `latchkey`, where this program may, or reaches as far as a person said.
package struct CommandKeychain: Sendable {
    package let session: SessionInformation
    package let transport: any KeychainTransport
    package let reach: ItemReach
    private let group: String?
    private var behalf: KeychainRequest.Behalf

    /// Says hello; after that nobody looks into this process any more.
    static func open(
        _ options: StoreOptions, reach: ItemReach = .own, in surroundings: Surroundings
    ) throws(CommandFailure) -> CommandKeychain {
        try open(dataDirectory: options.dataDirectory, reach: reach, in: surroundings)
    }

    package static func open(
        dataDirectory: String?, reach: ItemReach = .own, in surroundings: Surroundings
    ) throws(CommandFailure) -> CommandKeychain {
        try open(reach: reach, in: surroundings) { surroundings.keychain(dataDirectory.map(surroundings.absolute)) }
    }

    package static func open(
        reach: ItemReach = .own, in surroundings: Surroundings, by way: () -> any KeychainTransport
    ) throws(CommandFailure) -> CommandKeychain {
        surroundings.shield.raise()
        let transport = way()
        let session = try asking { () throws(KeychainError) in try transport.session() }
        surroundings.shield.close()
        return try CommandKeychain(transport, session, reach)
    }

    /// Several ways to the same keychain, for threads that ask at once. All say
    /// hello before this process closes itself.
    package static func open(
        _ count: Int, dataDirectory: String?, reach: ItemReach = .own, in surroundings: Surroundings
    ) throws(CommandFailure) -> [CommandKeychain] {
        surroundings.shield.raise()
        var keychains: [CommandKeychain] = []
        for _ in 0..<count {
            let transport = surroundings.keychain(dataDirectory.map(surroundings.absolute))
            let session = try asking { () throws(KeychainError) in try transport.session() }
            keychains.append(try CommandKeychain(transport, session, reach))
        }
        surroundings.shield.close()
        return keychains
    }

    private init(
        _ transport: any KeychainTransport, _ session: SessionInformation, _ reach: ItemReach
    ) throws(CommandFailure) {
        self.transport = transport
        self.session = session
        self.reach = reach
        let own = AccessGroup.latchkey.name
        let isOurs = { name in session.groups.contains(name) || AccessGroup(name).isNamed(by: session.nameableGroups) }
        switch reach {
        case .own:
            // A temporary keychain with entitlements may not have our group: then the
            // first of its list is used, as for every other program.
            (group, behalf) = (isOurs(own) ? own : nil, .program)
        case .group(let name): (group, behalf) = (name, isOurs(name) ? .program : .person)
        case .everyGroup: (group, behalf) = (nil, .person)
        }
        if case .person = behalf { try requireDeputies() }
    }

    /// The same with every call in a person's name, who has to agree to it.
    package func withPresence() throws(CommandFailure) -> CommandKeychain {
        try requireDeputies()
        var other = self
        other.behalf = .person
        return other
    }

    /// - Throws: where the daemon is older than such calls, and would answer them as any other.
    private func requireDeputies() throws(CommandFailure) {
        guard session.protocolVersion < ProtocolVersion.deputies else { return }
        throw CommandFailure(KeychainError(.notAvailable, reason: .versionMismatch))
    }

    /// A call on items, as far as this reaches.
    ///
    /// - Parameter isOneOfSeveral: what a person agrees to in one of these counts in the
    ///   others, so that whoever finds an item and then reads it is asked once.
    package func perform(
        _ request: KeychainRequest, isOneOfSeveral: Bool = false
    ) throws(KeychainError) -> KeychainAnswer {
        var request = request
        request.behalf = behalf
        request.isInContext = isOneOfSeveral
        return try transport.perform(request)
    }

    // MARK: Looking

    /// The items of the first kind that has any of that name, by service and account. What
    /// `import` laid beside a login is not meant where the login is there and no account is
    /// named: the name says the login.
    ///
    /// - Parameter besidesLogins: it is what is looked for.
    /// - Throws: also where the item that is meant may be among damaged ones: another
    ///   kind's of that name is not it.
    func find(_ name: ItemName, besidesLogins: Bool = false) throws(CommandFailure) -> [StoredItem] {
        var siblings: [StoredItem] = []
        for kind in name.kinds {
            for spelling in name.spellings(of: kind) {
                do throws(KeychainError) {
                    let found = try items(kind, service: spelling.service, account: name.account)
                        .filter { spelling.parts.include($0) && name.parts.include($0) }
                    if besidesLogins || name.account != nil, !found.isEmpty { return found }
                    siblings += found.filter(Sibling.isAny)
                    let logins = found.filter { !Sibling.isAny($0) }
                    guard logins.isEmpty else {
                        return logins + siblings.filter { !Sibling.isBesideAny(of: logins, $0) }
                    }
                } catch {
                    guard error.status == .itemNotFound, error.reason == .nothingMatches else {
                        throw CommandFailure(error)
                    }
                }
            }
        }
        return siblings
    }

    /// Programs of the Secret Service find one item by all of its lookup attributes, and
    /// replace it by them.
    ///
    /// - Throws: where another item of the group has them already.
    func refuseSecond(_ lookup: LookupAttributes, beside item: StoredItem) throws(CommandFailure) {
        var query: [(String, RawValue)] = [
            ("\(AttributeCode.lookup)", .data(lookup.encoded)), ("u_AuthUI", .string("u_AuthUIS")),
        ]
        if group == nil, let own = item.group { query.append(("agrp", .string(own))) }
        var found: [StoredItem] = []
        for kind in PasswordKind.allCases {
            do throws(KeychainError) {
                found += try items(kind, service: nil, account: nil, query)
            } catch {
                guard error.status == .itemNotFound else { throw CommandFailure(error) }
            }
        }
        let isAnother = { (other: StoredItem) in
            other.group == item.group && other.lookup == lookup && !other.isSame(as: item)
        }
        if found.contains(where: isAnother) { throw .nameIsTaken }
    }

    /// The only item of that name; none and several are failures that say so.
    func findOne(
        _ name: ItemName, advice: String, choosing: PartChoice = .options
    ) throws(CommandFailure) -> StoredItem {
        let found = try find(name)
        guard let item = found.first else { throw .noItem }
        guard found.count == 1 else {
            throw .several(found, accountGiven: name.account != nil, then: advice, choosing: choosing)
        }
        return item
    }

    /// All items of both kinds (of one service), sorted by names; without those that
    /// ask for a person, whom a list is no reason to disturb.
    func list(service: String?) throws(CommandFailure) -> Inventory {
        var found: [StoredItem] = []
        var mayLackItems: Bool?
        for kind in PasswordKind.allCases {
            let spellings = service.map { ItemSpelling.all(of: $0, kind).map { Optional($0) } } ?? [nil]
            for spelling in spellings {
                let (items, reason) = try undisturbed(kind, service: spelling?.service, account: nil)
                found += items.filter { spelling?.parts.include($0) ?? true }
                if let reason { mayLackItems = reason == .mayBeSetAside }
            }
        }
        return Inventory(
            items: found.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) },
            mayLackItems: mayLackItems ?? self.mayLackItems())
    }

    /// All that can be shown.
    struct Inventory {
        let items: [StoredItem]
        /// As ``CommandKeychain/mayLackItems()``.
        let mayLackItems: Bool
    }

    /// The items of a kind, without those that ask for a person; where there are none, why.
    private func undisturbed(
        _ kind: PasswordKind, service: String?, account: String?
    ) throws(CommandFailure) -> ([StoredItem], whyNone: Reason?) {
        do throws(KeychainError) {
            return (try items(kind, service: service, account: account, [("u_AuthUI", .string("u_AuthUIS"))]), nil)
        } catch {
            if error.status == .itemNotFound { return ([], error.reason) }
            throw CommandFailure(error)
        }
    }

    /// The internet password that is meant where a server and an account are said and nothing
    /// narrower: the only one, or the one of the whole server; nil where there is none. What git,
    /// docker or a program of the Secret Service stored is not meant: they take it away again.
    ///
    /// - Throws: where there are several, none of the whole server.
    func onlyOne(onServer host: String, account: String) throws(CommandFailure) -> StoredItem? {
        let found = try undisturbed(.internet, service: host, account: account).0.filter(\.isOfPerson)
        guard found.count > 1 else { return found.first }
        if let whole = found.first(where: \.isOfWholeServer) { return whole }
        throw .several(found, accountGiven: true, then: "", choosing: .address)
    }

    /// What can be seen of that name without asking a person; nothing where it cannot be
    /// looked for. For what is only said beside something else.
    func glimpse(_ kind: PasswordKind, service: String, account: String?) -> [StoredItem] {
        do throws(CommandFailure) { return try undisturbed(kind, service: service, account: account).0 } catch {
            return []
        }
    }

    /// Whether items may be among what was set aside as damaged, or were lost with a file, and
    /// nobody has accepted that: a list that lacks them looks like any other. False where it
    /// cannot be told.
    package func mayLackItems() -> Bool {
        let letters = String(UInt64.random(in: .min ... .max), radix: 36)
        let query: [(String, RawValue)] = [
            ("class", .string(ItemClass.genericPassword.rawValue)), ("r_Attributes", .bool(true)),
            // What nobody stores: why it is not found is what is asked.
            ("svce", .string("latchkey: nothing \(letters)")),
        ]
        do throws(KeychainError) {
            _ = try transport.perform(KeychainRequest(.copy, query: QueryDictionary(query)))
            return false
        } catch {
            switch error.reason {
            case .mayBeSetAside, .stillSalvaging: return true
            default: return false
            }
        }
    }

    /// - Throws: `errSecItemNotFound` where there are none.
    private func items(
        _ kind: PasswordKind, service: String?, account: String?, _ more: [(String, RawValue)] = []
    ) throws(KeychainError) -> [StoredItem] {
        let query = search(kind, service: service, account: account) + [("m_Limit", .string("m_LimitAll"))] + more
        let answer = try perform(KeychainRequest(.copy, query: QueryDictionary(query)), isOneOfSeveral: true)
        return answer.rows.map { StoredItem(kind, $0.attributes) }.sorted { $0.account < $1.account }
    }

    private func search(_ kind: PasswordKind, service: String?, account: String?) -> [(String, RawValue)] {
        var query = base(kind) + [("sync", .string("syna")), ("r_Attributes", .bool(true))]
        if let service { query.append(("\(kind.nameCode)", .string(service))) }
        if let account { query.append(("acct", .string(account))) }
        return query
    }

    /// What every query of a kind begins with: its class, and the group.
    package func base(_ kind: PasswordKind) -> [(String, RawValue)] {
        var query: [(String, RawValue)] = [("class", .string(kind.itemClass.rawValue))]
        if let group { query.append(("agrp", .string(group))) }
        return query
    }

    /// The same in a group that the command line does not work in otherwise.
    package func base(_ kind: PasswordKind, in other: AccessGroup) -> [(String, RawValue)] {
        [("class", .string(kind.itemClass.rawValue)), ("agrp", .string(other.name))]
    }

    /// The groups whose items the command line shows.
    var observed: ChangeScope { group.map { .named([AccessGroup($0)]) } ?? .searched }

    /// The value of a generic password in one call, which is what scripts wait
    /// for; nil where ``find(_:)`` has to tell what there is.
    ///
    /// Only where service and account are named, which are one item: of several that
    /// match, a search for values leaves out those that do not open, and the rest
    /// would seem to be what was meant. A synchronizable item beside it makes two, and
    /// so does another group.
    func secret(_ name: ItemName) throws(CommandFailure) -> SharedSecret? {
        try row(name, withAttributes: false)?.1
    }

    /// The same with the item as it was when its value was read.
    func itemAndSecret(_ name: ItemName) throws(CommandFailure) -> (StoredItem, SharedSecret)? {
        try row(name, withAttributes: true)
    }

    private func row(
        _ name: ItemName, withAttributes: Bool
    ) throws(CommandFailure) -> (StoredItem, SharedSecret)? {
        guard name.firstKind == .generic, name.parts.isEmpty, let account = name.account, reach != .everyGroup else {
            return nil
        }
        // Entry by entry: each type of array is looked up at its first use, which is this.
        var query = QueryDictionary()
        query.append(.text("class"), .string(ItemClass.genericPassword.rawValue))
        if let group { query.append(.text("agrp"), .string(group)) }
        query.append(.text("sync"), .string("syna"))
        query.append(.text("svce"), .string(name.service))
        query.append(.text("acct"), .string(account))
        query.append(.text("r_Data"), .bool(true))
        if withAttributes { query.append(.text("r_Attributes"), .bool(true)) }
        query.append(.text("m_Limit"), .integer(2))
        do throws(KeychainError) {
            let rows = try perform(KeychainRequest(.copy, query: query)).rows
            guard rows.count == 1 else { return nil }
            return (StoredItem(.generic, rows[0].attributes), rows[0].value ?? Self.noValue)
        } catch {
            // Others are met again where it is told what there is; a person is asked once.
            switch error.status {
            case .notAvailable, .userCanceled: throw CommandFailure(error)
            case .interactionNotAllowed:
                if case .nobodyToAsk = error.reason { throw CommandFailure(error) }
                return nil
            default: return nil
            }
        }
    }

    /// An item without data has an empty value.
    private static var noValue: SharedSecret { SharedSecret(SecretBytes(count: 0)) }

    /// The value of an item.
    func value(of item: StoredItem) throws(CommandFailure) -> SharedSecret {
        let query = exactly(item) + [("r_Data", .bool(true))]
        let answer = try asking { () throws(KeychainError) in
            try perform(KeychainRequest(.copy, query: QueryDictionary(query)), isOneOfSeveral: true)
        }
        return answer.rows.first?.value ?? Self.noValue
    }

    func exactly(_ item: StoredItem) -> [(String, RawValue)] {
        [("class", .string(item.kind.itemClass.rawValue))] + item.exactQuery
    }

    // MARK: Changing

    enum StoreOutcome: Sendable, Hashable {
        case added
        case replaced
    }

    /// Adds an item, or gives the one that is there already the new value.
    ///
    /// - Parameter place: the service, or the server with what else makes an item of it one.
    func store(
        _ value: SharedSecret, kind: PasswordKind, place: [AttributeCode: RawValue], account: String,
        attributes: [(AttributeCode, RawValue)]
    ) throws(CommandFailure) -> StoreOutcome {
        let address = address(kind, place, account: account)
        let secret: [(String, RawValue)] = [("v_Data", .secret)] + attributes.map { ("\($0)", $1) }
        do throws(KeychainError) {
            _ = try perform(KeychainRequest(.add, query: QueryDictionary(address + secret), value: value))
            return .added
        } catch {
            guard error.status == .duplicateItem else { throw CommandFailure(error) }
        }
        _ = try asking { () throws(KeychainError) in
            try perform(
                KeychainRequest(
                    .update, query: QueryDictionary(address), changes: QueryDictionary(secret), value: value))
        }
        return .replaced
    }

    /// Gives an item that was found a new value.
    func store(
        _ value: SharedSecret, in item: StoredItem, attributes: [(AttributeCode, RawValue)]
    ) throws(CommandFailure) {
        let secret: [(String, RawValue)] = [("v_Data", .secret)] + attributes.map { ("\($0)", $1) }
        do throws(KeychainError) {
            _ = try perform(
                KeychainRequest(
                    .update, query: QueryDictionary(exactly(item)), changes: QueryDictionary(secret), value: value))
        } catch {
            if error.status == .itemNotFound { throw .changedMeanwhile }
            throw CommandFailure(error)
        }
    }

    /// The item that ``store(_:kind:place:account:attributes:)`` would replace.
    func existing(
        _ kind: PasswordKind, place: [AttributeCode: RawValue], account: String
    ) throws(CommandFailure) -> StoredItem? {
        let query = address(kind, place, account: account) + [("r_Attributes", .bool(true))]
        do throws(KeychainError) {
            let rows = try perform(KeychainRequest(.copy, query: QueryDictionary(query))).rows
            return rows.first.map { StoredItem(kind, $0.attributes) }
        } catch {
            if error.status == .itemNotFound { return nil }
            throw CommandFailure(error)
        }
    }

    /// The item of a place and account that is synchronizable, where none is there that is
    /// not; nil also where that cannot be seen without asking a person.
    func onlySynchronizable(
        _ kind: PasswordKind, place: [AttributeCode: RawValue], account: String
    ) -> StoredItem? {
        let eitherWay = place.merging([.synchronizable: .string("syna")]) { $1 }
        let query =
            address(kind, eitherWay, account: account)
            + [("r_Attributes", .bool(true)), ("m_Limit", .string("m_LimitAll")), ("u_AuthUI", .string("u_AuthUIS"))]
        do throws(KeychainError) {
            let found = try perform(KeychainRequest(.copy, query: QueryDictionary(query))).rows
                .map { StoredItem(kind, $0.attributes) }
            // Without a group of ours an addition goes into the first of the program's.
            let own = found.filter { group != nil || $0.group == session.groups.first }
            return own.count == 1 && own[0].isSynchronizable ? own[0] : nil
        } catch { return nil }
    }

    /// Gives an item other attributes, all of them or none: also its names, which moves it.
    ///
    /// - Parameter lookup: what programs of the Secret Service find it by, where that changes
    ///   too: what one of them has changed meanwhile is not overwritten.
    func change(
        _ item: StoredItem, whileFoundBy lookup: LookupAttributes? = nil, to changes: [(AttributeCode, RawValue)]
    ) throws(CommandFailure) {
        let found = lookup.map { [("\(AttributeCode.lookup)", RawValue.data($0.encoded))] } ?? []
        let request = KeychainRequest(
            .update, query: QueryDictionary(exactly(item) + found),
            changes: QueryDictionary(changes.map { ("\($0)", $1) }))
        do throws(KeychainError) { _ = try perform(request) } catch {
            switch error.status {
            case .duplicateItem: throw .nameIsTaken
            case .itemNotFound: throw .changedMeanwhile
            default: throw CommandFailure(error)
            }
        }
    }

    /// The item that an add makes, and no other: attributes that are not given
    /// are their defaults, so that an update leaves neighbours alone.
    private func address(
        _ kind: PasswordKind, _ place: [AttributeCode: RawValue], account: String
    ) -> [(String, RawValue)] {
        let given = place.merging([.account: .string(account)]) { $1 }
        let rest = kind.keyAttributes.compactMap { attribute -> (String, RawValue)? in
            guard attribute.code != .accessGroup else { return nil }
            let value = given[attribute.code] ?? attribute.defaultValue.map { RawValue($0) }
            return value.map { ("\(attribute.code)", $0) }
        }
        return base(kind) + rest
    }

    /// Removes one item; false where it is gone already.
    func remove(_ item: StoredItem) throws(CommandFailure) -> Bool {
        do throws(KeychainError) {
            _ = try perform(KeychainRequest(.delete, query: QueryDictionary(exactly(item))))
            return true
        } catch {
            if error.status == .itemNotFound { return false }
            throw CommandFailure(error)
        }
    }

    // MARK: State

    package func status() throws(CommandFailure) -> KeychainStatus {
        let answer = try asking { () throws(KeychainError) in try transport.perform(KeychainRequest(.status)) }
        guard let status = answer.status else {
            throw CommandFailure(KeychainError(.internalComponent, reason: .internalFault(what: "no status came")))
        }
        return status
    }
}
