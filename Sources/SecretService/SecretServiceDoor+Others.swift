internal import KeychainModel
internal import KeychainProtocol
internal import MessageBus

/// What others do to the keychain: `latchkey`, git's and docker's helpers, programs of SecItem,
/// another service. Clients are told of it as of what comes over the bus.
///
/// Which collections there are is followed always; items are, of the collections of which a
/// client that is still there has read something (``FollowedCollections``).
extension SecretServiceDoor {
    /// What is followed besides the items of collections: which collections there are.
    static let groupOfCollections = AccessGroup.secretService

    private func unfollow() {
        itemFollower?.keep(Set(followed.names.map { SecretCollection.group(of: $0) } + [Self.groupOfCollections]))
    }

    /// Before it reads of a collection.
    func willRead(_ reader: String, of collection: SecretCollection) {
        guard followed.note(reader, of: collection.name) else { return }
        itemFollower?.follow(collection.group, from: position(of: collection.group))
    }

    /// nil: the keychain does not say so.
    private func position(of group: AccessGroup) -> ChangePosition? {
        do throws(KeychainError) {
            return try keychain.perform(KeychainRequest(.changePosition(.named([group])))).changes?.position
        } catch { return nil }
    }

    /// - Parameter references: all there are, which somebody was told.
    func toldList(_ references: [[UInt8]], of collection: SecretCollection) {
        // What was told to others before is not known to them to be another now.
        guard followed.has(collection.name), !followed.hasList(of: collection.name),
            references.count <= Self.longestList
        else { return }
        followed.keep(KnownItems(references), of: collection.name)
    }

    func readerEnded(_ reader: String) {
        if followed.forget(reader) { unfollow() }
    }

    // MARK: What was heard

    func takeWhatOthersChanged() {
        for (group, change) in itemFollower?.changes() ?? [:] { untold[group, default: []].formUnion(change) }
        if !untold.isEmpty, !pace.await() { tellWhatOthersChanged() }
    }

    func tellWhatOthersChanged() {
        let changes = untold
        untold = [:]
        pace.measure {
            tellingEverybody {
                for (group, change) in changes {
                    do throws(KeychainError) { try tell(change, of: group) } catch {
                        // A keychain that does not answer is asked again.
                        untold[group, default: []].formUnion(change)
                    }
                }
            }
        }
        if !untold.isEmpty { _ = pace.await() }
    }

    private func tell(_ change: ItemFollower.Change, of group: AccessGroup) throws(KeychainError) {
        guard group != Self.groupOfCollections else { return try tellCollectionsOfOthers() }
        guard let name = followed.names.first(where: { SecretCollection.group(of: $0) == group }),
            let collection = try book.collection(named: name)
        else { return }
        try tellItems(of: collection, after: change)
    }

    // MARK: Collections

    private func tellCollectionsOfOthers() throws(KeychainError) {
        book.forget()
        let (now, before) = (try book.all(), toldCollections)
        toldCollections = now
        let came = now.filter { one in !before.contains { $0.name == one.name } }
        let gone = before.filter { one in !now.contains { $0.name == one.name } }
        for collection in came {
            emit(
                "CollectionCreated", of: SecretServiceNames.service, at: SecretServiceNames.root,
                [.path(collection.path)])
        }
        for collection in gone { tellDeletion(of: collection) }
        for collection in now
        where before.contains(where: { $0.name == collection.name && $0.label != collection.label }) {
            if try isEverybodys() {
                tellChange(
                    of: SecretServiceNames.collection, at: collection.path, [("Label", .string(collection.label))])
            }
            emit(
                "CollectionChanged", of: SecretServiceNames.service, at: SecretServiceNames.root,
                [.path(collection.path)])
        }
        guard !came.isEmpty || !gone.isEmpty else { return }
        tellChange(
            of: SecretServiceNames.service, at: SecretServiceNames.root, [("Collections", .paths(now.map(\.path)))])
    }

    func tellDeletion(of collection: SecretCollection) {
        longLists.forget(collection)
        followed.drop(collection.name)
        unfollow()
        emit("CollectionDeleted", of: SecretServiceNames.service, at: SecretServiceNames.root, [.path(collection.path)])
    }

    // MARK: Items

    /// More that came or went at once are told by the list alone.
    private static let mostToldSingly = 1024

    private func tellItems(
        of collection: SecretCollection, after change: ItemFollower.Change
    ) throws(KeychainError) {
        var (list, isOther): ([[UInt8]]?, Bool) = (nil, false)
        if change.contains(.members), let before = followed.list(of: collection.name) {
            let all = try items.references(in: collection.name, atMost: Self.longestList + 1)
            guard all.count <= Self.longestList else {
                followed.dropList(of: collection.name)
                return try tellItems(of: collection, after: change)
            }
            let now = KnownItems(all)
            followed.keep(now, of: collection.name)
            let (came, gone) = (now.without(before), before.without(now))
            tell("ItemCreated", came, of: collection)
            tell("ItemDeleted", gone, of: collection)
            list = came.isEmpty && gone.isEmpty ? nil : all
        }
        if change.contains(.content) || !followed.hasList(of: collection.name) {
            isOther = try tellReadItems(of: collection)
        }
        guard list != nil || isOther else { return }
        let modified = noteChange(in: collection)
        guard try isEverybodys() else { return }
        if let list { return tell(list, of: collection) }
        tellChange(of: SecretServiceNames.collection, at: collection.path, [modified])
    }

    private func tell(_ what: String, _ references: [[UInt8]], of collection: SecretCollection) {
        let paths = references.map { SecretItem.path(of: $0, in: collection.name) }
        for path in paths where what == "ItemDeleted" { told.forget(path) }
        for path in paths.prefix(Self.mostToldSingly) {
            emit(what, of: SecretServiceNames.collection, at: collection.path, [.path(path)])
        }
    }

    /// Of the items that clients have read, those that are others now, or gone.
    ///
    /// - Returns: whether there is any.
    private func tellReadItems(of collection: SecretCollection) throws(KeychainError) -> Bool {
        let places = told.paths(below: collection.path).compactMap { path in
            path.elements(below: collection.path)?.first.flatMap { SecretItem.reference(ofElement: $0) }
        }
        guard !places.isEmpty else { return false }
        var isOther = false
        let isEverybodys = try isEverybodys()
        let found = try items.items(places.map { ($0, collection.name) }, .description)
        let present = Dictionary(found.map { ($0.reference, $0) }) { first, _ in first }
        for reference in places {
            guard let item = present[reference] else {
                tell("ItemDeleted", [reference.bytes], of: collection)
                followed.remove(reference, from: collection.name)
                isOther = true
                continue
            }
            guard told.renew(item) else { continue }
            if isEverybodys { tellChange(of: SecretServiceNames.item, at: item.path, Self.properties(of: item)) }
            emit("ItemChanged", of: SecretServiceNames.collection, at: collection.path, [.path(item.path)])
            isOther = true
        }
        return isOther
    }
}
