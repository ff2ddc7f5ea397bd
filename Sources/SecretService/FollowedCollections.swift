internal import KeychainModel

/// Collections of which somebody who is still on the bus has read something: of these alone
/// clients are told what others than this service do to them.
struct FollowedCollections {
    private var readers: [String: Set<String>] = [:]
    /// What was told of those whose lists somebody has read.
    private var lists: [String: KnownItems] = [:]

    /// Connections that are remembered of each collection; of more, those that are follow it.
    private static let mostReaders = 4096
    /// Items of all lists together, a MiB: of what is beyond nobody is told.
    private static let mostItems = 65_536

    /// The daemon tells of 256 groups at the most (`WireChanges`): of more collections nobody is
    /// told, and of these all the same.
    private static let mostCollections = 192

    /// - Returns: whether it is followed from now on and was not before.
    mutating func note(_ reader: String, of collection: String) -> Bool {
        guard collection != SecretCollection.session else { return false }
        let isNew = readers[collection] == nil
        if isNew, readers.count >= Self.mostCollections { return false }
        if readers[collection, default: []].count < Self.mostReaders { readers[collection, default: []].insert(reader) }
        return isNew
    }

    /// - Returns: whether there is a collection that nobody follows any more.
    mutating func forget(_ reader: String) -> Bool {
        let before = readers.count
        for collection in readers.keys { readers[collection]?.remove(reader) }
        readers = readers.filter { !$0.value.isEmpty }
        lists = lists.filter { readers[$0.key] != nil }
        return readers.count < before
    }

    /// A collection that is no more.
    mutating func drop(_ collection: String) { (readers[collection], lists[collection]) = (nil, nil) }

    var names: [String] { Array(readers.keys) }

    func has(_ collection: String) -> Bool { readers[collection] != nil }

    // MARK: Lists

    func hasList(of collection: String) -> Bool { lists[collection] != nil }

    /// What clients are told from now on is what comes to these, or goes.
    mutating func keep(_ items: KnownItems, of collection: String) {
        let others = lists.reduce(0) { $0 + ($1.key == collection ? 0 : $1.value.count) }
        lists[collection] = readers[collection] != nil && others + items.count <= Self.mostItems ? items : nil
    }

    /// It has become too long.
    mutating func dropList(of collection: String) { lists[collection] = nil }

    func list(of collection: String) -> KnownItems? { lists[collection] }

    /// Of which everybody was just told.
    mutating func insert(_ item: PersistentReference, in collection: String) { lists[collection]?.insert(item) }
    mutating func remove(_ item: PersistentReference, from collection: String) { lists[collection]?.remove(item) }
}
