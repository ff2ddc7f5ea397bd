internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// A request as it comes over the wire: header and tail.
    static let request = FuzzTarget("request", seeds: { RequestSeeds.all + ConformanceSeeds.requests }) {
        bytes throws(Finding) in
        var source = ByteSource(bytes)
        let (header, tail) = source.message()
        let first: (number: UInt64, request: KeychainRequest)
        do throws(WireFault) {
            first = try KeychainRequest.decode(header: header, tail: SecretBytes(copying: tail))
        } catch {
            return
        }
        let request = first.request
        if case .copyEach(let searches) = request.operation {
            try claim((1...KeychainRequest.mostSearches).contains(searches.count), "\(searches.count) searches")
            for search in searches { RequestProperty.parse(KeychainRequest(.copy, query: search)) }
        }
        if case .searchEach(let searches) = request.operation {
            try claim((1...KeychainRequest.mostSearches).contains(searches.count), "\(searches.count) searches")
            for search in searches {
                try claim(search.query.explicitGroup == search.group, "a search outside its group")
                try claim(search.query.interaction == .skipped, "a search that asks somebody")
            }
        }
        if request.operation == .addItems {
            let values = request.items.flatMap { $0.value?.bytes.insecureArray() ?? [] }
            try claim(values == tail, "the values are not the tail")
            try claim((1...NewItem.mostTogether).contains(request.items.count), "\(request.items.count) items")
        } else if let value = request.value {
            try claim(value.bytes.insecureArray() == tail, "the value is not the tail")
        } else {
            try claim(tail.isEmpty, "\(tail.count) bytes that nobody announced were taken")
        }
        try RequestProperty.survivesItsEncoding(request, first.number, tail)
        RequestProperty.parse(request)
    }
}

enum RequestProperty {
    /// decode ∘ encode is the identity on what was decoded.
    static func survivesItsEncoding(_ request: KeychainRequest, _ number: UInt64, _ tail: [UInt8]) throws(Finding) {
        let encoded = request.encoded(number: number)
        do throws(WireFault) {
            let again = try KeychainRequest.decode(header: encoded, tail: SecretBytes(copying: tail))
            try check(
                again.request, request, again.number == number && again.request.encoded(number: number) == encoded)
        } catch {
            throw Finding("what was decoded does not decode again")
        }
    }

    private static func check(_ a: KeychainRequest, _ b: KeychainRequest, _ hasSameBytes: Bool) throws(WireFault) {
        guard a.operation == b.operation, a.isWrite == b.isWrite, a.behalf == b.behalf, a.served == b.served,
            a.items.count == b.items.count, hasSameBytes
        else {
            throw WireFault()
        }
    }

    /// What comes next to it: no trap may be reachable.
    static func parse(_ request: KeychainRequest) {
        for role in [QueryParser.Role.add, .copy, .updateQuery, .delete] {
            do throws(KeychainError) {
                let query = try QueryParser.parse(request.query, for: role, entitlements: Entitlements())
                try query.checkKeys(for: role)
                _ = try QueryParser.parseChanges(request.changes, of: query.itemClass, entitlements: Entitlements())
            } catch {
                _ = error.description
            }
        }
    }
}

/// Requests as our own client encodes them.
enum RequestSeeds {
    static let all: [[UInt8]] = [
        seed(KeychainRequest(.status)), seed(KeychainRequest(.deleteGroups(["group.a", "group.b"]))),
        seed(
            KeychainRequest(
                .copy, query: QueryDictionary(item + [("r_Data", .bool(true)), ("m_Limit", .string("m_LimitAll"))]))),
        seed(KeychainRequest(.delete, query: QueryDictionary(item))), inAPersonsName,
        seed(KeychainRequest(.add, query: QueryDictionary(item + [("v_Data", .secret)] + values), value: secret)),
        seed(
            KeychainRequest(
                .update, query: QueryDictionary(item),
                changes: QueryDictionary([("v_Data", .secret), ("labl", .string("new"))]),
                value: secret)),
        seed(
            KeychainRequest(
                .addItems,
                items: [
                    NewItem(QueryDictionary(item + [("v_Data", .secret)]), value: secret, created: 5),
                    NewItem(QueryDictionary(item), value: nil, modified: -1.5),
                    NewItem(QueryDictionary([("v_Data", .secret)]), value: secret),
                ])),
        searches, itemSearches,
        seed(KeychainRequest(.changePosition(.searched))),
        seed(
            KeychainRequest(
                .changes(
                    after: ChangePosition(history: Array(0..<16), number: 7),
                    in: .named([AccessGroup("group.a"), AccessGroup("group.b")])))),
    ]

    private static let item: [(String, RawValue)] = [
        ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("account")),
    ]

    private static var searches: [UInt8] {
        let other = QueryDictionary([("class", .string("inet"))])
        var request = KeychainRequest(.copyEach([QueryDictionary(item), other]))
        request.served = ServedProgram(path: "/usr/bin/git", process: 4711, evidence: .descriptor)
        return seed(request)
    }

    private static var itemSearches: [UInt8] {
        let pairs = LookupAttributes([.init(name: "server", value: "github.com"), .init(name: "user", value: "me")])
        var held = AttributeMap()
        held.append(.lookup, .data((pairs ?? .none).encoded))
        var other = AttributeMap()
        other.append(.server, .string("github.com"))
        let group = AccessGroup("login")
        let searches = [
            ItemSearch(.genericPassword, having: held, in: group, telling: .presence),
            ItemSearch(.internetPassword, having: other, in: group, telling: .description, excludingLookups: true),
            ItemSearch(
                PersistentReference(.genericPassword, .identifier(Array(0..<16))), in: group, telling: .value),
        ]
        return seed(KeychainRequest(.searchEach(searches.compactMap(\.self))))
    }

    private static var inAPersonsName: [UInt8] {
        var request = KeychainRequest(.copy, query: QueryDictionary(item))
        request.behalf = .person
        return seed(request)
    }

    private static let values: [(String, RawValue)] = [
        ("labl", .data([1, 2, 3])), ("crtr", .integer(-7)), ("type", .real(0.5)), ("cdat", .date(1)),
        ("UUID", .uuid(Array(0..<16))), ("m_Issuers", .array([.data([1]), .null, .array([.bool(true)])])),
        ("x", .dictionary), ("y", .foreign(type: "CGColor")),
        ("accc", .accessControl(AccessControl(unconstrained: .whenUnlocked))),
    ]

    private static let secret = SharedSecret(SecretBytes(copying: Array("secret".utf8)))

    private static func seed(_ request: KeychainRequest) -> [UInt8] {
        let values = request.items.flatMap { $0.value?.bytes.insecureArray() ?? [] }
        return ByteSink.message(request.encoded(number: 3), request.value?.bytes.insecureArray() ?? values)
    }
}
