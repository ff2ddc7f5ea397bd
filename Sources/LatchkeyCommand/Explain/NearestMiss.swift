internal import KeychainModel
internal import KeychainProtocol

/// Why a call ended as it did, found out by asking how many items would match if
/// it had asked for less. Looks at attributes alone, never at a value.
struct NearestMiss {
    let record: CallRecord
    /// Answers a census; not the keychain that the call itself used.
    let keychain: any KeychainTransport

    /// Sentences for a person; empty where there is nothing to add.
    func lines() throws(KeychainError) -> [String] {
        guard let error = record.error else { return [] }
        switch (error.status, error.reason) {
        case (.itemNotFound, _): return try missed()
        case (.duplicateItem, _): return try taken()
        case (_, .attributeNotOfClass(let key)): return [Self.belongs(key, itemClass)]
        case (_, .groupNotEntitled): return [ownGroupsLine]
        default: return []
        }
    }

    private var query: QueryDictionary { record.request.query }

    private var itemClass: ItemClass? {
        if case .string(let text) = query["class"] { ItemClass(rawValue: text) } else { nil }
    }

    // MARK: Nothing found

    private func missed() throws(KeychainError) -> [String] {
        guard let itemClass else { return [] }
        let conditions = conditions
        let all = try census(conditions)
        if let line = elsewhere(all) { return [line] }
        let anySync = try census(conditions.filter { $0.key != .text("sync") } + [Self.anySync])
        if let count = own(anySync) {
            let synchronizes = query["sync"] == nil || query["sync"] == .bool(false)
            return [
                synchronizes
                    ? "\(Self.items(count)) \(count == 1 ? "matches and is" : "match and are") synchronizable; a search sees those only with kSecAttrSynchronizable (kSecAttrSynchronizableAny for both)"
                    : "\(Self.items(count)) \(count == 1 ? "matches" : "match") but for kSecAttrSynchronizable"
            ]
        }
        let dropped = conditions.filter { $0.key != .text("sync") }
        if let line = try without(1, of: dropped) { return [line] }
        if let line = try without(2, of: dropped) { return [line] }
        let total = own(try census([Self.anySync])) ?? 0
        return [
            "nothing is near: \(Self.items(total)) of \(Self.name(itemClass)) \(total == 1 ? "is" : "are") in the groups that were tried"
        ]
    }

    /// Items that match in a group that was not tried.
    private func elsewhere(_ counts: [GroupCount]) -> String? {
        guard let found = counts.first(where: { !tried.contains($0.group.name) }) else { return nil }
        let what =
            "\(Self.items(found.items)) \(found.items == 1 ? "matches" : "match") in the access group \(found.group.name)"
        if found.group.isNamed(by: record.groups + record.nameableGroups) {
            return "\(what), which the call did not ask for (kSecAttrAccessGroup)"
        }
        return "\(what), which this program is not entitled to. An item stays in the group it was added to: "
            + "a program whose entitlements, bundle identifier or path change loses sight of it, and the item is not gone. "
            + ownGroupsLine
    }

    private var ownGroupsLine: String {
        "this program's groups: " + (record.groups.isEmpty ? "none" : record.groups.joined(separator: ", "))
    }

    private func without(_ number: Int, of conditions: [QueryDictionary.Entry]) throws(KeychainError) -> String? {
        for left in Self.combinations(number, of: conditions.count) {
            let kept = conditions.indices.filter { !left.contains($0) }.map { conditions[$0] }
            guard let count = own(try census(kept + sync)) else { continue }
            let names = left.map { Self.constant(conditions[$0].key) }
            var line =
                "\(Self.items(count)) \(count == 1 ? "matches" : "match") all but \(names.joined(separator: " and "))"
            if names.contains("kSecAttrGeneric") {
                line += ". kSecAttrGeneric is compared in a search, and makes no item unique"
            }
            return line
        }
        return nil
    }

    /// Which conditions to leave out: single ones, or pairs.
    private static func combinations(_ number: Int, of count: Int) -> [[Int]] {
        guard number == 2 else { return (0..<count).map { [$0] } }
        // With many conditions pairs are too many to ask for one by one.
        guard count <= 8 else { return [] }
        return (0..<count).flatMap { first in (first..<count).dropFirst().map { [first, $0] } }
    }

    // MARK: Already there

    private func taken() throws(KeychainError) -> [String] {
        guard let itemClass else { return [] }
        let primary = Schema.of(itemClass).primaryKey.map(\.code)
        let address = Self.address(of: query, itemClass)
        let given = conditions.filter { entry in !primary.contains { .text("\($0)") == entry.key } }
        var differing: [String] = []
        for entry in given where own(try census(address + [entry])) == nil {
            differing.append(Self.constant(entry.key))
        }
        let names = primary.filter { query["\($0)"] != nil }.map { KeyNames.constant("\($0)") }
        var lines = [
            "an item of \(Self.name(itemClass)) is one by "
                + Self.unique(itemClass).joined(separator: ", ")
                + (names.isEmpty ? "" : "; one with the same \(names.joined(separator: ", ")) is there")
        ]
        if !differing.isEmpty {
            let verb = differing.count == 1 ? "makes" : "make"
            lines.append(
                "it differs in \(differing.joined(separator: ", ")), which \(verb) no item unique: change the one that is there with SecItemUpdate, or another attribute of its key"
            )
        }
        return lines
    }

    /// The key of the item that an add of this dictionary makes, but for its group.
    static func address(of query: QueryDictionary, _ itemClass: ItemClass) -> [QueryDictionary.Entry] {
        Schema.of(itemClass).primaryKey.compactMap { attribute in
            guard attribute.code != .accessGroup, attribute.code != .multiUser else { return nil }
            let value = query["\(attribute.code)"] ?? attribute.defaultValue.map { RawValue($0) }
            return value.map { Self.entry("\(attribute.code)", $0) }
        }
    }

    /// What makes an item of a class one, but for what the keychain sets itself.
    private static func unique(_ itemClass: ItemClass) -> [String] {
        Schema.of(itemClass).primaryKey
            .filter { $0.entitlement == nil && ![.multiUser, .tokenID].contains($0.code) && "\($0.code)" != "vwht" }
            .map { KeyNames.constant("\($0.code)") }
    }

    // MARK: An attribute of another class

    private static func belongs(_ key: String, _ itemClass: ItemClass?) -> String {
        let code = KeyNames.key(key) ?? key
        let owners = ItemClass.stored.filter { owner in AttributeCode(code).map { Schema.of(owner)[$0] != nil } ?? false
        }
        guard !owners.isEmpty else { return "no class of items has \(KeyNames.constant(code))" }
        return "\(KeyNames.constant(code)) is an attribute of \(owners.map(name).joined(separator: ", ")), not of "
            + (itemClass.map(name) ?? "this class")
    }

    // MARK: Counting

    /// The attributes that the call asked for.
    private var conditions: [QueryDictionary.Entry] {
        query.entries.filter { entry in
            guard case .text(let key) = entry.key else { return false }
            return key.utf16.count == 4 && !["agrp", "accc", "nleg"].contains(key)
        }
    }

    private var sync: [QueryDictionary.Entry] { conditions.filter { $0.key == .text("sync") } }

    private static let anySync = entry("sync", .string("syna"))

    private static func entry(_ key: String, _ value: RawValue) -> QueryDictionary.Entry {
        QueryDictionary([(key, value)]).entries[0]
    }

    private func census(_ conditions: [QueryDictionary.Entry]) throws(KeychainError) -> [GroupCount] {
        var asked = QueryDictionary([("m_Limit", .string("m_LimitAll"))])
        if let itemClass = query["class"] { asked.append(.text("class"), itemClass) }
        asked.entries += conditions
        return try keychain.perform(KeychainRequest(.census, query: asked)).census
    }

    /// The groups in which the call looked.
    private var tried: [String] {
        if case .string(let group) = query["agrp"] { [group] } else { record.groups }
    }

    private func own(_ counts: [GroupCount]) -> Int? {
        let total = counts.reduce(0) { $0 + (tried.contains($1.group.name) ? $1.items : 0) }
        return total > 0 ? total : nil
    }

    // MARK: Words

    private static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

    private static func name(_ itemClass: ItemClass) -> String {
        KeyNames.constantValue(itemClass.rawValue, of: "class") ?? itemClass.rawValue
    }

    private static func constant(_ key: QueryDictionary.Key) -> String {
        if case .text(let text) = key { KeyNames.constant(text) } else { "a key that is no string" }
    }
}
