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
        case ("Unlock", 1): return try unlock(try paths(call))
        case ("Lock", 1): return try lock(try paths(call))
        case ("LockService", 0):
            throw BusError(.notSupported, "`latchkey lock` locks the keychain")
        case ("ChangeLock", 1): throw BusError(.notSupported, "`latchkey passcode change` changes the passcode")
        case ("ReadAlias", 1):
            guard let alias = call.arguments[0].text else { throw .arguments(of: call.member, "s") }
            let name = try translating { () throws(KeychainError) in try book.collection(of: alias) }
            return [.path(name.map { SecretCollection.path(of: $0) } ?? .none)]
        case ("SetAlias", 2): return try setAlias(call)
        case ("CreateCollection", 2): return try createCollection(call)
        default: throw BusError(.unknownMethod, "the service has no method \(call.member) like that")
        }
    }

    func collections() throws(BusError) -> [SecretCollection] {
        try translating { () throws(KeychainError) in try book.all() }
    }

    func lookup(_ value: BusValue) throws(BusError) -> LookupAttributes {
        guard let pairs = value.textPairs else { throw BusError(.invalidArguments, "attributes are a{ss}") }
        guard let attributes = LookupAttributes(pairs.map { .init(name: $0.name, value: $0.value) }) else {
            throw BusError(.invalidArguments, "a name is there twice, or there are more than \(LookupAttributes.most)")
        }
        return attributes
    }

    private func paths(_ call: BusCall) throws(BusError) -> [ObjectPath] {
        guard let paths = call.arguments.first?.objectPaths else { throw .arguments(of: call.member, "ao") }
        return paths
    }

    /// Paths of the items that answer, open ones first.
    func search(
        _ wanted: LookupAttributes, in collections: [SecretCollection]
    ) throws(BusError) -> (open: [ObjectPath], closed: [ObjectPath]) {
        var open: [ObjectPath] = []
        var closed: [ObjectPath] = []
        for collection in collections {
            let found = try translating { () throws(KeychainError) in
                try items.search(wanted, in: collection.name)
            }
            for item in found {
                if item.isClosed { closed.append(item.path) } else { open.append(item.path) }
            }
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
        var found: [BusValue] = []
        // Once each: an answer has each path once.
        for path in Set(paths) {
            guard case .item(let place)? = try translating({ () throws(KeychainError) in try target(of: path) }) else {
                continue
            }
            do throws(BusError) {
                found.append(.entry(.path(path), try secret(of: place, for: session)))
            } catch {
                guard error.name != BusError(.noMemory, "").name else { throw error }
            }
        }
        return [.array(of: "{o\(TransferredSecret.signature)}", found)]
    }

    /// (oayays)
    func secret(of place: ItemObject, for session: TransferSession) throws(BusError) -> BusValue {
        let item = try translating { () throws(KeychainError) in
            try items.item(place.reference, in: place.collection.name, withValue: true)
        }
        guard let item else { throw .noSuchObject(place.path) }
        return try session.secret(item.value, contentType: item.contentType)
    }

    // MARK: Locks

    /// What is open is; where something is not, `latchkey unlock` opens all of it.
    private func unlock(_ paths: [ObjectPath]) throws(BusError) -> [BusValue] {
        let (open, closed) = try present(paths)
        guard closed.isEmpty else { throw .isLocked }
        return [.paths(open), .path(.none)]
    }

    /// Those that are collections, aliases of one, or items.
    private func present(_ paths: [ObjectPath]) throws(BusError) -> (open: [ObjectPath], closed: [ObjectPath]) {
        var collections: [(path: ObjectPath, collection: SecretCollection)] = []
        for path in paths {
            let collection: SecretCollection
            switch try translating({ () throws(KeychainError) in try target(of: path) }) {
            case .collection(let named): collection = named
            case .item(let place): collection = place.collection
            default: continue
            }
            collections.append((path, collection))
        }
        guard !collections.isEmpty, try isLocked() else { return (collections.map(\.path), []) }
        let isOpen = { (collection: SecretCollection) in collection.name == SecretCollection.session }
        return (
            collections.filter { isOpen($0.collection) }.map(\.path),
            collections.filter { !isOpen($0.collection) }.map(\.path)
        )
    }

    /// The keychain has one lock, which programs do not turn by asking for a collection
    /// to be closed: whoever closes one would close every program's.
    private func lock(_ paths: [ObjectPath]) throws(BusError) -> [BusValue] {
        [.paths(try present(paths).closed), .path(.none)]
    }

    // MARK: Collections

    private func createCollection(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard let properties = call.arguments[0].propertyPairs, let alias = call.arguments[1].text else {
            throw .arguments(of: call.member, "a{sv}s")
        }
        let label = properties.first { $0.name == "\(SecretServiceNames.collection).Label" }?.value.text ?? ""
        if !alias.isEmpty,
            let present = try translating({ () throws(KeychainError) in try book.collection(of: alias) }),
            try collections().contains(where: { $0.name == present })
        {
            return [.path(SecretCollection.path(of: present)), .path(.none)]
        }
        try refuseWhileLocked()
        let made = try translating { () throws(KeychainError) in
            let made = try book.make(labelled: label)
            if !alias.isEmpty { try book.set(alias, to: made.name) }
            return made
        }
        bus.emit("CollectionCreated", of: SecretServiceNames.service, at: SecretServiceNames.root, [.path(made.path)])
        try tellCollections()
        return [.path(made.path), .path(.none)]
    }

    func tellCollections() throws(BusError) {
        let paths = try collections().map(\.path)
        tellChange(of: SecretServiceNames.service, at: SecretServiceNames.root, [("Collections", .paths(paths))])
    }

    private func setAlias(_ call: BusCall) throws(BusError) -> [BusValue] {
        guard let alias = call.arguments[0].text, let path = call.arguments[1].objectPath else {
            throw .arguments(of: call.member, "so")
        }
        guard SecretCollection.isElement(alias), alias != SecretCollection.session else {
            throw BusError(.invalidArguments, "an alias has letters, digits and underscores alone; session is taken")
        }
        try refuseWhileLocked()
        if path == .none {
            try translating { () throws(KeychainError) in try book.set(alias, to: nil) }
            return []
        }
        guard case .collection(let collection)? = try translating({ () throws(KeychainError) in try target(of: path) })
        else { throw .noSuchObject(path) }
        guard collection.name != SecretCollection.session else {
            throw BusError(.invalidArguments, "what is there ends with the session")
        }
        try translating { () throws(KeychainError) in try book.set(alias, to: collection.name) }
        return []
    }

    // MARK: Telling

    func tellChange(of interface: String, at path: ObjectPath, _ properties: [(String, BusValue)]) {
        bus.emit(
            "PropertiesChanged", of: SecretServiceNames.properties, at: path,
            [.string(interface), .properties(properties), .array(of: "s", [])])
    }
}
