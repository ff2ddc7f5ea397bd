internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyCommand
internal import LatchkeyImport
internal import SecretServiceItems
internal import SecretServiceReach

/// Which items of the keychain those of a Secret Service become: the same as if programs
/// had stored them by `latchkey secret-service` (FORMATS.md, "Items of the Secret Service").
struct ServiceItemPlan {
    private let services: [ServiceItem]
    private let collections: [ServiceCollection]

    init(_ services: [ServiceItem], _ collections: [ServiceCollection]) {
        (self.services, self.collections) = (services, collections)
    }

    /// nil: the command line's own, which is that of the collection "login". The default
    /// one of the source joins it: programs that name none store and look there.
    private func group(of name: String) -> AccessGroup? {
        let isOwn = name == CollectionName.login || collections.contains { $0.name == name && $0.isDefault }
        return isOwn ? nil : CollectionName.group(of: name)
    }

    private var others: [ServiceCollection] {
        let used = Set(services.map(\.collection))
        return collections.filter { used.contains($0.name) && group(of: $0.name) != nil }
    }

    var groups: [AccessGroup?] { others.map { group(of: $0.name) } }

    func addCollections(to shelf: ItemShelf) throws(CommandFailure) {
        for collection in others {
            do throws(KeychainError) { try shelf.add(collection) } catch { throw CommandFailure(error) }
        }
    }

    // MARK: Items

    /// In the order of the source; what cannot be an item of ours is named.
    func items(_ held: HeldItems, _ flaws: inout [ImportedDocument.Flaw]) -> [PlannedItem] {
        var planned: [(index: Int, item: PlannedItem)] = []
        for (group, members) in Dictionary(grouping: services.indices, by: { group(of: services[$0].collection) }) {
            var places = ServicePlaces(held.rows(in: group))
            for index in members.sorted(by: isEarlier) {
                let service = services[index]
                let attributes: LookupAttributes
                do throws(LookupFlaw) { attributes = try Self.lookup(service) } catch {
                    flaws.append(.init(service.place, error.rawValue))
                    continue
                }
                let (kind, place) = places.next(for: attributes, label: service.label)
                planned.append((index, Self.item(service, kind, place, attributes, group)))
            }
        }
        return planned.sorted { $0.index < $1.index }.map(\.item)
    }

    /// The same order in each run, whatever order the source has: of what was made in the same
    /// second a file gives another one first than the bus. Those of which nothing tells one from
    /// another may change places.
    private func isEarlier(_ one: Int, _ other: Int) -> Bool {
        func dates(_ index: Int) -> (Double, Double) { (services[index].created ?? 0, services[index].modified ?? 0) }
        func words(_ index: Int) -> (String, String) { (services[index].label, services[index].contentType) }
        if dates(one) != dates(other) { return dates(one) < dates(other) }
        if words(one) != words(other) { return words(one) < words(other) }
        let first = services[one].value.secret()
        let second = services[other].value.secret()
        let difference = (0..<min(first.count, second.count)).first { first[$0] != second[$0] }
        if let difference { return first[difference] < second[difference] }
        return first.count == second.count ? one < other : first.count < second.count
    }

    /// Why an item of another keyring cannot be one of ours.
    private enum LookupFlaw: String, Error {
        case collection = "the name of its collection has more than letters, digits and underscores"
        case tooMany = "it has more than 256 attributes, the schema among them"
        case twice = "it has an attribute twice"
    }

    private static func lookup(_ service: ServiceItem) throws(LookupFlaw) -> LookupAttributes {
        guard CollectionName.isElement(service.collection) else { throw .collection }
        guard service.attributes.count <= LookupAttributes.most else { throw .tooMany }
        let pairs = service.attributes.map { LookupAttributes.Pair(name: $0.name, value: $0.value) }
        guard let attributes = LookupAttributes(pairs) else { throw .twice }
        guard let whole = attributes.withSchema(LookupSchema.generic) else { throw .tooMany }
        return whole
    }

    private static func item(
        _ service: ServiceItem, _ kind: PasswordKind, _ place: AttributeMap, _ lookup: LookupAttributes,
        _ group: AccessGroup?
    ) -> PlannedItem {
        var attributes = place
        attributes[.label] = .string(service.label)
        attributes[.lookup] = .data(lookup.encoded)
        if service.contentType != ServiceItem.plainText { attributes["desc"] = .string(service.contentType) }
        return PlannedItem(
            kind: kind, group: group, attributes: attributes, value: service.value, role: .value,
            origin: service.place, created: service.created, modified: service.modified)
    }
}

/// Gives each set of lookup attributes its place in one access group: the one that it has
/// already, else the first that is free. The second item of the very same attributes gets a
/// place with its number, so that each finds its own in the next run.
private struct ServicePlaces {
    private var held: [[UInt8]: [HeldItems.Row]]
    private var taken: Set<ItemPlace>
    private var counts: [[UInt8]: Int] = [:]
    private let group: AccessGroup?

    init(_ rows: [HeldItems.Row]) {
        held = Dictionary(grouping: rows.filter { $0.attributes.lookup != nil }) { row in
            row.attributes.lookup?.encoded ?? []
        }
        taken = Set(rows.map(\.place))
        group = rows.first?.place.group
    }

    mutating func next(for lookup: LookupAttributes, label: String) -> (PasswordKind, AttributeMap) {
        let number = counts[lookup.encoded, default: 0] + 1
        counts[lookup.encoded] = number
        let candidates = SecretServiceItems.ItemPlace.candidates(for: lookup, label: label) { "\(number)" }
            .compactMap(Self.attributes)
        let numbered = candidates[candidates.count - 1]
        let same = held[lookup.encoded] ?? []
        if number > 1 { return numbered }
        // Those with a number are the others'.
        let plain = same.first { row in !isNumbered(row, like: numbered) }
        if let plain { return (plain.kind, plain.names) }
        let free = candidates.first { kind, attributes in
            taken.insert(ItemPlace(kind, attributes, in: group)).inserted
        }
        return free ?? numbered
    }

    /// Whether it stands where a number was added to the digest of the attributes.
    private func isNumbered(_ row: HeldItems.Row, like numbered: (PasswordKind, AttributeMap)) -> Bool {
        guard let account = row.attributes[.account]?.string, let pattern = numbered.1[.account]?.string,
            let dash = pattern.lastIndex(of: "-"), row.kind == numbered.0, let end = account.lastIndex(of: "-")
        else { return false }
        return account[..<end] == pattern[..<dash] && UInt16(account[end...].dropFirst()).map { $0 > 1 } ?? false
    }

    private static func attributes(_ place: SecretServiceItems.ItemPlace) -> (PasswordKind, AttributeMap)? {
        guard let kind = PasswordKind.allCases.first(where: { $0.itemClass == place.itemClass }) else { return nil }
        var attributes = AttributeMap()
        for (name, value) in place.attributes {
            guard let code = AttributeCode(name) else { return nil }
            switch value {
            case .string(let text): attributes[code] = .string(text)
            case .integer(let number): attributes[code] = .integer(number)
            default: return nil
            }
        }
        return (kind, attributes)
    }
}

extension HeldItems.Row {
    /// The attributes that make it the item that it is.
    fileprivate var names: AttributeMap {
        var names = AttributeMap()
        for attribute in kind.keyAttributes where attribute.code != .accessGroup {
            if let value = attributes[attribute.code] { names[attribute.code] = value }
        }
        return names
    }
}
