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
    func items(
        _ held: HeldItems, _ shelf: ItemShelf, _ flaws: inout [ImportedDocument.Flaw]
    ) -> [PlannedItem] {
        var planned: [(index: Int, item: PlannedItem)] = []
        for (group, members) in Dictionary(grouping: services.indices, by: { group(of: services[$0].collection) }) {
            var known: [(index: Int, lookup: LookupAttributes)] = []
            for index in members.sorted(by: isEarlier) {
                do throws(LookupFlaw) { known.append((index, try Self.lookup(services[index]))) } catch {
                    flaws.append(.init(services[index].place, error.rawValue))
                }
            }
            var places = ServicePlaces(held.rows(in: group), in: group)
            let twins = Dictionary(grouping: known, by: \.lookup.encoded).mapValues { $0.map(\.index) }
            let rows = twins.reduce(into: [Int: HeldItems.Row]()) { rows, twins in
                let found = match(twins.value, places.held(twins.key), group, shelf)
                rows.merge(found) { first, _ in first }
            }
            for (index, lookup) in known {
                let (kind, place) =
                    rows[index].map { ($0.kind, $0.names) } ?? places.free(for: lookup, label: services[index].label)
                planned.append((index, Self.item(services[index], kind, place, lookup, group)))
            }
        }
        return planned.sorted { $0.index < $1.index }.map(\.item)
    }

    /// Which of the keychain's each of those of the very same attributes is.
    private func match(
        _ twins: [Int], _ held: [HeldItems.Row], _ group: AccessGroup?, _ shelf: ItemShelf
    ) -> [Int: HeldItems.Row] {
        let rows = ServiceMatch.rows(for: twins.map { services[$0] }, held) { row in
            // One that does not open has no value to be known by; it may be the same by its date.
            do throws(KeychainError) {
                return try shelf.value(row.kind, row.attributes, in: group)
                    .map { $0 ?? SharedSecret(SecretBytes(count: 0)) }
            } catch { return nil }
        }
        return Dictionary(uniqueKeysWithValues: rows.map { (twins[$0.key], $0.value) })
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

/// Where the items of one access group stand, and where new ones may: at the first place of
/// their attributes that is free. The second item of the very same attributes, and each after
/// it, gets one with a number.
private struct ServicePlaces {
    private let held: [[UInt8]: [HeldItems.Row]]
    private var taken: Set<ItemPlace>
    /// The number of the last one of these attributes.
    private var numbers: [[UInt8]: Int]
    private let group: AccessGroup?

    init(_ rows: [HeldItems.Row], in group: AccessGroup?) {
        held = Dictionary(grouping: rows.filter { $0.attributes.lookup != nil }) { row in
            row.attributes.lookup?.encoded ?? []
        }
        taken = Set(rows.map(\.place))
        numbers = held.mapValues { _ in 1 }
        self.group = group
    }

    func held(_ lookup: [UInt8]) -> [HeldItems.Row] { held[lookup] ?? [] }

    mutating func free(for lookup: LookupAttributes, label: String) -> (PasswordKind, AttributeMap) {
        while true {
            let last = numbers[lookup.encoded] ?? 0
            numbers[lookup.encoded] = last + 1
            let all = SecretServiceItems.ItemPlace.candidates(for: lookup, label: label) { "\(last + 1)" }
                .compactMap(Self.attributes)
            let candidates = last == 0 ? all.dropLast() : all.suffix(1)
            let free = candidates.first { kind, attributes in
                taken.insert(ItemPlace(kind, attributes, in: group)).inserted
            }
            if let free { return free }
        }
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
