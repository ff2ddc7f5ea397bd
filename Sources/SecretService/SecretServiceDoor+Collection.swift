internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus
internal import SecretServiceReach

/// org.freedesktop.Secret.Collection and org.freedesktop.Secret.Item
extension SecretServiceDoor {
    func answer(_ call: BusCall, of collection: SecretCollection) throws(BusError) -> [BusValue] {
        switch (call.member, call.arguments.count) {
        case ("SearchItems", 1):
            let (open, closed) = try search(try lookup(call.arguments[0]), in: [collection])
            return [.paths(open + closed)]
        case ("CreateItem", 3): return try createItem(call, in: collection)
        case ("Delete", 0):
            do throws(BusError) { try delete(collection) } catch {
                guard error == .isLocked, try isLocked() else { throw error }
                return [.path(try askPerson(before: .delete(collection.path), for: call))]
            }
            return [.path(.none)]
        default: throw BusError(.unknownMethod, "a collection has no method \(call.member) like that")
        }
    }

    /// With all its items. One that is not there any more is gone.
    func delete(_ collection: SecretCollection) throws(BusError) {
        guard collection.name != SecretCollection.session, collection.name != SecretCollection.login else {
            let why =
                collection.name == SecretCollection.login
                ? "`latchkey` keeps its items there too" : "it is everybody's, and ends with the session"
            throw BusError(.notSupported, "the collection \(collection.name) stays: \(why)")
        }
        try refuseWhileLocked()
        try refuseBeyondReach(collection)
        try translating { () throws(KeychainError) in try book.remove(collection) }
        toldCollections.removeAll { $0.name == collection.name }
        tellDeletion(of: collection)
        tellCollections()
    }

    private func createItem(_ call: BusCall, in collection: SecretCollection) throws(BusError) -> [BusValue] {
        guard let properties = call.arguments[0].propertyPairs, let secret = TransferredSecret(call.arguments[1]),
            let mayReplace = call.arguments[2].flag
        else { throw .arguments(of: call.member, "a{sv}\(TransferredSecret.signature)b") }
        let session = try session(at: secret.session, for: call)
        var content = SecretItems.Content(
            label: nil, attributes: LookupAttributes.none, value: try session.value(secret),
            contentType: secret.contentType == SecretItem.plainText ? nil : secret.contentType)
        var given: LookupAttributes?
        var schema = LookupSchema.generic
        for (name, value) in properties {
            switch name {
            case "\(SecretServiceNames.item).Label":
                guard let label = value.text else { throw .arguments(of: "Label", "s") }
                content.label = label
            case "\(SecretServiceNames.item).Attributes": given = try lookup(value)
            // The schema, as libgnome-keyring and its heirs say it.
            case "\(SecretServiceNames.item).Type":
                guard let type = value.text else { throw .arguments(of: "Type", "s") }
                schema = type
            default: try refuseProperty(name, value, of: SecretServiceNames.item)
            }
        }
        content.attributes = try (given ?? .none).under(schema)
        // What names no attributes is another item, whatever else has none.
        let replace = mayReplace && given?.isEmpty == false
        try refuseBeyondReach(content.attributes ?? .none)
        let (item, isNew) = try translating { () throws(KeychainError) in
            try items.store(content, in: collection.name, replacing: replace) { [reach] in reach.has($0) }
        }
        tellItems(of: collection, isNew ? "ItemCreated" : "ItemChanged", item.path)
        return [.path(item.path), .path(.none)]
    }

    /// That it is not locked is passed over, which programs say (go-keychain), and the dates of a
    /// collection, as gnome-keyring has it (gkd-secret-property.c). What else cannot be set, and
    /// any other name, makes nothing.
    func refuseProperty(_ name: String, _ value: BusValue, of interface: String) throws(BusError) {
        switch name {
        case "\(interface).Locked":
            guard let isLocked = value.flag else { throw .arguments(of: "Locked", "b") }
            if isLocked { throw .readOnly(name) }
        case "\(SecretServiceNames.collection).Created", "\(SecretServiceNames.collection).Modified":
            guard interface == SecretServiceNames.collection else { throw .property(name) }
            guard case .uint64 = value else { throw .arguments(of: name, "t") }
        case "\(interface).Created", "\(interface).Modified": throw .readOnly(name)
        default: throw .property(name)
        }
    }

    func tellItems(of collection: SecretCollection, _ what: String, _ item: ObjectPath) {
        noteTold(what, item, in: collection)
        emit(what, of: SecretServiceNames.collection, at: collection.path, [.path(item)])
        let modified = noteChange(in: collection)
        if what == "ItemChanged" {
            tellContent(of: SecretServiceNames.collection, at: collection.path, [modified])
        } else {
            tellList(of: collection)
        }
    }

    /// - Returns: the collection's property that says so.
    func noteChange(in collection: SecretCollection) -> (String, BusValue) {
        let now = AttributeMap.unixSeconds(of: clock.wallClock)
        book.itemsChanged(in: collection.name, at: now)
        return ("Modified", .uint64(max(collection.modified, now)))
    }

    /// Nobody is told twice, by what is heard of the keychain as well.
    private func noteTold(_ what: String, _ item: ObjectPath, in collection: SecretCollection) {
        let element = item.elements(below: collection.path)?.first
        guard let reference = element.flatMap({ SecretItem.reference(ofElement: $0) }) else { return }
        switch what {
        case "ItemCreated": followed.insert(reference, in: collection.name)
        case "ItemDeleted":
            followed.remove(reference, from: collection.name)
            told.forget(item)
        default: noteChange(of: item, reference, in: collection)
        }
    }

    /// Read before it is told: what another changes from now on is another change.
    private func noteChange(of item: ObjectPath, _ reference: PersistentReference, in collection: SecretCollection) {
        guard told.has(item) else { return }
        do throws(KeychainError) {
            let found = try items.items([(reference, collection.name)], .description)
            if let present = found.first { told.note(present) } else { told.toldChange(of: item) }
        } catch { told.toldChange(of: item) }
    }

    /// Items of a collection that are told again at once with each that comes or goes: the list
    /// of a longer one would cost each store what the collection is long, so that it is told
    /// after a while (``LongLists``). That it is another alone cannot be said: it has libsecret
    /// 0.20.5 read a list that is not there.
    private static let mostListed = 128
    /// Beyond so many nobody is told: a list would take a MiB of every client, and of us more.
    static let longestList = 8192

    /// Clients that keep the list of a collection (Seahorse) take it from this alone.
    private func tellList(of collection: SecretCollection) {
        // Who stores many pays for finding out once in a while that they are many.
        guard !reach.isNarrowed, !longLists.areToTell(collection) else { return }
        do throws(KeychainError) {
            let all = try items.references(in: collection.name, atMost: Self.mostListed + 1)
            if all.count <= Self.mostListed { return tell(all, of: collection) }
            if !longLists.await(collection) { try tellWholeList(of: collection) }
        } catch { return }
    }

    private func tellWholeList(of collection: SecretCollection) throws(KeychainError) {
        // So many of each class.
        let all = try items.references(in: collection.name, atMost: Self.longestList + 1)
        if all.count <= Self.longestList { tell(all, of: collection) }
    }

    func tell(_ all: [[UInt8]], of collection: SecretCollection) {
        let paths = all.map { SecretItem.path(of: $0, in: collection.name) }
        tellChange(
            of: SecretServiceNames.collection, at: collection.path,
            [("Items", .paths(paths)), ("Modified", .uint64(book.modified(of: collection.name)))])
    }

    /// The lists that have waited long enough.
    func tellLongLists() {
        tellingEverybody {
            longLists.tell { collection in
                do throws(KeychainError) {
                    try tellWholeList(of: collection)
                    return true
                } catch { return false }
            }
        }
    }

    // MARK: Items

    func answer(_ call: BusCall, of place: ItemObject) throws(BusError) -> [BusValue] {
        switch (call.member, call.arguments.count) {
        case ("GetSecret", 1):
            guard let path = call.arguments[0].objectPath else { throw .arguments(of: call.member, "o") }
            return [try secret(of: place, for: try session(at: path, for: call))]
        case ("SetSecret", 1):
            guard let secret = TransferredSecret(call.arguments[0]) else {
                throw .arguments(of: call.member, TransferredSecret.signature)
            }
            let value = try session(at: secret.session, for: call).value(secret)
            let item = try item(at: place, or: .noObject(place.path))
            guard !item.isClosed else { throw .isLocked }
            let isOther = item.row.attributes.hasLookup && item.contentType != secret.contentType
            let content = SecretItems.Content(value: value, contentType: isOther ? secret.contentType : nil)
            try change(item, at: place, to: content)
            return []
        case ("Delete", 0):
            if try isLocked(place.collection) { throw .isLocked }
            try refuseBeyondReach(place)
            try translating { () throws(KeychainError) in
                try items.remove(place.reference, in: place.collection.name)
            }
            tellItems(of: place.collection, "ItemDeleted", place.path)
            return [.path(.none)]
        default: throw BusError(.unknownMethod, "an item has no method \(call.member) like that")
        }
    }

    /// Its attributes with another schema, as Type names it.
    func change(_ place: ItemObject, toType type: String) throws(BusError) {
        let item = try item(at: place, or: .noObject(place.path))
        guard !item.isClosed else { throw .isLocked }
        let others = item.attributes.pairs.filter { $0.name != LookupSchema.attribute }
        try change(place, to: try (LookupAttributes(others) ?? .none).under(type))
    }

    /// Type is one of them.
    func change(_ place: ItemObject, to attributes: LookupAttributes) throws(BusError) {
        try refuseBeyondReach(attributes)
        try change(place, to: SecretItems.Content(attributes: attributes))
        tellContent(
            of: SecretServiceNames.item, at: place.path,
            [
                ("Attributes", .texts(attributes.pairs.map { ($0.name, $0.value) })),
                ("Type", .string(attributes[LookupSchema.attribute] ?? LookupSchema.generic)),
            ])
    }

    /// What names it may have it stand elsewhere.
    func change(_ place: ItemObject, to content: SecretItems.Content) throws(BusError) {
        let item = try item(at: place, or: .noSuchObject(place.path))
        guard !item.isClosed else { throw .isLocked }
        try change(item, at: place, to: content)
    }

    private func change(
        _ item: SecretItem, at place: ItemObject, to content: SecretItems.Content
    ) throws(BusError) {
        var content = content
        // What is said again is no change, by whose date searches are put in order.
        if content.label == item.row.attributes[.label]?.string { content.label = nil }
        if content.attributes == item.row.attributes.lookup { content.attributes = nil }
        if content.changes.isEmpty {
            // gnome-keyring tells of it all the same.
            return emit(
                "ItemChanged", of: SecretServiceNames.collection, at: place.collection.path, [.path(place.path)])
        }
        try translating { () throws(KeychainError) in try items.change(item, to: content) }
        tellItems(of: place.collection, "ItemChanged", place.path)
    }
}

extension BusError {
    /// What is made with a property that is none, or that nobody sets, would be another thing than
    /// was meant: found by nothing, say, where it was to be Attributes.
    static func property(_ name: String) -> BusError {
        BusError(.invalidArguments, "\(name) is no property to make it with: names begin with their interface")
    }

    static func readOnly(_ name: String) -> BusError {
        BusError(.invalidArguments, "\(name) is read-only: nothing is made with it")
    }

    static let tooManyAttributes = BusError(
        .limitsExceeded, "there are more than \(LookupAttributes.most) attributes, the schema among them")
}

extension LookupAttributes {
    /// The same, with this schema where they name none: gnome-keyring says one of every item.
    func under(_ schema: String) throws(BusError) -> LookupAttributes {
        guard let whole = withSchema(schema) else { throw .tooManyAttributes }
        return whole
    }
}
