internal import KeychainModel
internal import KeychainProtocol
internal import MessageBus

/// org.freedesktop.Secret.Service
extension SecretServiceDoor {
    func answerService(_ call: BusCall) throws(BusError) -> [BusValue] {
        switch (call.member, call.arguments.count) {
        case ("OpenSession", _): return try openSession(call)
        case ("SearchItems", 1):
            let wanted = try lookup(call.arguments[0])
            let (open, closed) = try search(wanted, in: try collections())
            return [.paths(open), .paths(closed)]
        case ("GetSecrets", 2): return try secrets(call)
        case ("Unlock", 1): return try unlock(call)
        case ("Lock", 1): return try lock(call)
        case ("LockService", 0):
            _ = try lockKeychain()
            return []
        case ("ChangeLock", 1): throw BusError(.notSupported, "`latchkey passcode change` changes the passcode")
        case ("ReadAlias", 1):
            guard let alias = call.arguments[0].text else { throw .arguments(of: call.member, "s") }
            let name = try translating { () throws(KeychainError) in try book.collection(of: alias) }
            let reached = name.flatMap { reach.has(collection: $0) ? $0 : nil }
            return [.path(reached.map { SecretCollection.path(of: $0) } ?? .none)]
        case ("SetAlias", 2): return try setAlias(call)
        case ("CreateCollection", 2): return try createCollection(call)
        default: throw BusError(.unknownMethod, "the service has no method \(call.member) like that")
        }
    }

    func collections() throws(BusError) -> [SecretCollection] {
        try translating { () throws(KeychainError) in try book.all() }.filter { reach.has(collection: $0.name) }
    }

    /// Bytes of the attributes of a call, names and values; more than an item that is stored
    /// can have.
    private static let mostAttributeBytes = 1 << 20

    func lookup(_ value: BusValue) throws(BusError) -> LookupAttributes {
        guard let pairs = value.textPairs else { throw BusError(.invalidArguments, "attributes are a{ss}") }
        guard pairs.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.mostAttributeBytes else {
            throw BusError(.limitsExceeded, "the attributes are longer than a MiB together")
        }
        guard pairs.count <= LookupAttributes.most else { throw .tooManyAttributes }
        guard let attributes = LookupAttributes(pairs.map { .init(name: $0.name, value: $0.value) }) else {
            throw BusError(.invalidArguments, "an attribute is there twice")
        }
        return attributes
    }

    func paths(_ call: BusCall) throws(BusError) -> [ObjectPath] {
        guard let paths = call.arguments.first?.objectPaths else { throw .arguments(of: call.member, "ao") }
        return paths
    }

    /// Paths of the items that answer, open ones first.
    func search(
        _ wanted: LookupAttributes, in collections: [SecretCollection]
    ) throws(BusError) -> (open: [ObjectPath], closed: [ObjectPath]) {
        var open: [ObjectPath] = []
        var closed: [ObjectPath] = []
        let found = try translating { () throws(KeychainError) in
            try items.search(wanted, in: collections.map(\.name), described: reach.isNarrowed)
        }
        for item in found where reach.has(item) {
            if item.isClosed { closed.append(item.path) } else { open.append(item.path) }
        }
        return (open, closed)
    }

    // MARK: Values

    /// Items that do not open, or are gone by now, are left out (0.2, "GetSecrets").
    private func secrets(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard let paths = call.arguments[0].objectPaths, let path = call.arguments[1].objectPath else {
            throw .arguments(of: call.member, "aoo")
        }
        let session = try session(at: path, for: call)
        var places: [(path: ObjectPath, place: ItemObject)] = []
        // Once each: an answer has each path once.
        for path in Set(paths) {
            if case .item(let place)? = try translating({ () throws(KeychainError) in try target(of: path) }) {
                places.append((path, place))
            }
        }
        let found = try items(at: try reached(of: places.map(\.place)))
        var secrets: [BusValue] = []
        for (path, place) in places {
            guard let item = found[place.reference], reach.has(item) else { continue }
            let secret = try session.secret(item.value, contentType: item.contentType)
            secrets.append(.entry(.path(path), secret))
        }
        return [.array(of: "{o\(TransferredSecret.signature)}", secrets)]
    }

    /// What is not the caller's is not opened for it, and not recorded as read.
    private func reached(of places: [ItemObject]) throws(BusError) -> [ItemObject] {
        guard reach.isOfSchemas else { return places }
        let found = try translating { () throws(KeychainError) in
            try items.items(places.map { ($0.reference, $0.collection.name) }, .description)
        }
        let reached = Set(found.filter { reach.has($0) }.map(\.reference))
        return places.filter { reached.contains($0.reference) }
    }

    /// Those that open, with their values.
    private func items(at places: [ItemObject]) throws(BusError) -> [PersistentReference: SecretItem] {
        let wanted = places.map { (reference: $0.reference, collection: $0.collection.name) }
        let found = try translating { () throws(KeychainError) in
            do throws(KeychainError) {
                return try items.items(wanted, values)
            } catch {
                guard error.status != .notAvailable else { throw error }
                guard wanted.count > 1 else { return [] }
                // Which of them does not open shows where each is alone.
                var found: [SecretItem] = []
                for one in wanted { found += try ifItOpens(one) }
                return found
            }
        }
        return Dictionary(found.map { ($0.reference, $0) }) { first, _ in first }
    }

    /// What policies look at is asked for where there is one.
    private var values: ItemSearch.Extent { reach.isNarrowed ? .everything : .value }

    private func ifItOpens(
        _ place: (reference: PersistentReference, collection: String)
    ) throws(KeychainError) -> [SecretItem] {
        do throws(KeychainError) { return try items.items([place], values) } catch {
            guard error.status != .notAvailable else { throw error }
            return []
        }
    }

    /// (oayays)
    func secret(of place: ItemObject, for session: TransferSession) throws(BusError) -> BusValue {
        if reach.isOfSchemas { _ = try item(at: place, or: .noSuchObject(place.path)) }
        let item = try item(at: place, values, or: .noSuchObject(place.path))
        return try session.secret(item.value, contentType: item.contentType)
    }

    // MARK: Collections

    private func createCollection(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard let properties = call.arguments[0].propertyPairs, let alias = call.arguments[1].text else {
            throw .arguments(of: call.member, "a{sv}s")
        }
        let label = try label(in: properties)
        if !alias.isEmpty { try refuseUnlessAlias(alias) }
        do throws(BusError) {
            return [.path(try createCollection(labelled: label, alias: alias)), .path(.none)]
        } catch {
            guard error == .isLocked, try isLocked() else { throw error }
            guard label.utf8.count <= Self.mostWaitingBytes, alias.utf8.count <= Self.mostWaitingBytes else {
                throw BusError(.limitsExceeded, "a label or an alias is longer than 64 KiB")
            }
            return [.path(.none), .path(try askPerson(before: .create(label: label, alias: alias), for: call))]
        }
    }

    /// As a label can have (docs/secret-service-clients.md).
    private static let mostWaitingBytes = 64 << 10

    /// Of an alias that has one there is one already.
    func createCollection(labelled label: String, alias: String) throws(BusError) -> ObjectPath {
        // Another service of the same keychain may have made or deleted one.
        book.forget()
        try refuseBeyondReach(alias: alias)
        if !alias.isEmpty,
            let present = try translating({ () throws(KeychainError) in try book.collection(of: alias) }),
            try collections().contains(where: { $0.name == present })
        {
            return SecretCollection.path(of: present)
        }
        try refuseWhileLocked()
        let (made, isOurs) = try translating { () throws(KeychainError) in
            let made = try book.make(labelled: label)
            return alias.isEmpty ? (made, true) : try book.claim(alias, for: made)
        }
        guard isOurs else { return made.path }
        toldCollections.append(made)
        emit("CollectionCreated", of: SecretServiceNames.service, at: SecretServiceNames.root, [.path(made.path)])
        tellCollections()
        return made.path
    }

    /// None where none is said.
    func label(in properties: [(name: String, value: BusValue)]) throws(BusError) -> String {
        let name = "\(SecretServiceNames.collection).Label"
        for other in properties where other.name != name {
            try refuseProperty(other.name, other.value, of: SecretServiceNames.collection)
        }
        guard let given = properties.last(where: { $0.name == name }) else { return "" }
        guard let label = given.value.text else { throw .arguments(of: "Label", "s") }
        return label
    }

    /// What was done is done, also where the keychain does not answer any more.
    func tellCollections() {
        do throws(KeychainError) {
            // As everybody is told: signals name paths, also to whom they are not there.
            let paths = try book.all().map(\.path)
            tellChange(of: SecretServiceNames.service, at: SecretServiceNames.root, [("Collections", .paths(paths))])
        } catch {}
    }

    private func refuseUnlessAlias(_ text: String) throws(BusError) {
        guard SecretCollection.isElement(text), text != SecretCollection.session else {
            throw BusError(.invalidArguments, "an alias has letters, digits and underscores alone; session is taken")
        }
    }

    private func setAlias(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard let alias = call.arguments[0].text, let path = call.arguments[1].objectPath else {
            throw .arguments(of: call.member, "so")
        }
        try refuseUnlessAlias(alias)
        try refuseBeyondReach(alias: alias)
        let name = try nameForAlias(path)
        if try isLocked() {
            // What changes nothing waits for nobody.
            let present = try translating { () throws(KeychainError) in try book.collection(of: alias) }
            guard present == name else { throw .isLocked }
            return []
        }
        try translating { () throws(KeychainError) in try book.set(alias, to: name) }
        return []
    }

    /// The name of a collection that an alias may stand for; nil: for none.
    private func nameForAlias(_ path: ObjectPath) throws(BusError) -> String? {
        if path == .none { return nil }
        guard case .collection(let collection)? = try translating({ () throws(KeychainError) in try target(of: path) })
        else { throw .noSuchObject(path) }
        guard collection.name != SecretCollection.session else {
            throw BusError(.invalidArguments, "what is there ends with the session")
        }
        return collection.name
    }

    // MARK: Telling

    /// What a label or attributes have become; to nobody where not everybody may know.
    func tellContent(of interface: String, at path: ObjectPath, _ properties: [(String, BusValue)]) {
        if !reach.isNarrowed { tellChange(of: interface, at: path, properties) }
    }

    func tellChange(of interface: String, at path: ObjectPath, _ properties: [(String, BusValue)]) {
        emit(
            "PropertiesChanged", of: SecretServiceNames.properties, at: path,
            [.string(interface), .properties(properties), .array(of: "s", [])])
    }
}
