internal import KeychainModel
internal import KeychainProtocol
internal import MessageBus
internal import SecretServiceReach

/// org.freedesktop.DBus.Properties and Introspectable
extension SecretServiceDoor {
    func properties(_ call: BusCall, of target: Target) throws(BusError) -> [BusValue] {
        guard let interface = call.arguments.first?.text else { throw .arguments(of: call.member, "s") }
        switch (call.member, call.arguments.count) {
        case ("GetAll", 1): return [.properties(try all(of: target, interface, for: call.sender))]
        case ("Get", 2):
            guard let name = call.arguments[1].text else { throw .arguments(of: call.member, "ss") }
            if name == "Locked" { looked(call.sender) }
            return [.variant(try property(name, of: target, interface, for: call.sender))]
        case ("Set", 3):
            guard let name = call.arguments[1].text, let value = call.arguments[2].content else {
                throw .arguments(of: call.member, "ssv")
            }
            try set(name, of: target, interface, to: value)
            return []
        default: throw BusError(.unknownMethod, "there is no method \(call.member) like that")
        }
    }

    private func property(
        _ name: String, of target: Target, _ interface: String, for reader: String
    ) throws(BusError) -> BusValue {
        // Not the others with it: one of them is as long as the collection.
        if case .collection(let collection) = target, isMeant(interface, SecretServiceNames.collection) {
            switch name {
            case "Label": return .string(collection.label)
            case "Locked": return .boolean(try isLocked(collection))
            case "Created": return .uint64(collection.created)
            case "Modified": return .uint64(collection.modified)
            default: break
            }
        }
        guard let found = try all(of: target, interface, for: reader).first(where: { $0.0 == name }) else {
            throw BusError(.unknownProperty, "there is no property \(interface).\(name)")
        }
        return found.1
    }

    private func isMeant(_ interface: String, _ known: String) -> Bool { interface == known || interface.isEmpty }

    private func all(
        of target: Target, _ interface: String, for reader: String
    ) throws(BusError) -> [(String, BusValue)] {
        switch target {
        case .service where isMeant(interface, SecretServiceNames.service):
            // Who asks which there are hears of those that others have just made.
            book.renew()
            return [("Collections", .paths(try collections().map(\.path)))]
        case .collection(let collection) where isMeant(interface, SecretServiceNames.collection):
            return [
                ("Items", .paths(try list(of: collection, for: reader))), ("Label", .string(collection.label)),
                ("Locked", .boolean(try isLocked(collection))), ("Created", .uint64(collection.created)),
                ("Modified", .uint64(collection.modified)),
            ]
        case .item(let place) where isMeant(interface, SecretServiceNames.item): return try all(of: place, for: reader)
        // The portal's own version of the interface (XDG Desktop Portal, "Secret").
        case .portal where isMeant(interface, SecretServiceNames.portal): return [("version", .uint32(1))]
        case .branch, .session, .service, .collection, .item, .prompt, .portal, .portalRequest:
            // Interfaces without properties, and those of others, have none.
            return []
        }
    }

    private func all(of place: ItemObject, for reader: String) throws(BusError) -> [(String, BusValue)] {
        willRead(reader, of: place.collection)
        let item = try item(at: place, or: .noObject(place.path))
        told.note(item)
        return Self.properties(of: item)
    }

    static func properties(of item: SecretItem) -> [(String, BusValue)] {
        [
            ("Locked", .boolean(item.isClosed)),
            ("Attributes", .texts(item.isClosed ? [] : item.attributes.pairs.map { ($0.name, $0.value) })),
            ("Type", .string(item.isClosed ? "" : item.attributes[LookupSchema.attribute] ?? LookupSchema.generic)),
            ("Label", .string(item.label)), ("Created", .uint64(item.created)), ("Modified", .uint64(item.modified)),
        ]
    }

    private func set(
        _ name: String, of target: Target, _ interface: String, to value: BusValue
    ) throws(BusError) {
        switch target {
        case .collection(let collection) where name == "Label" && isMeant(interface, SecretServiceNames.collection):
            guard let label = value.text else { throw .arguments(of: "Label", "s") }
            if try isLocked(collection) { throw .isLocked }
            try translating { () throws(KeychainError) in try book.write(label, of: collection.name) }
            toldCollections = toldCollections.map { $0.name == collection.name ? $0.labelled(label) : $0 }
            tellContent(of: SecretServiceNames.collection, at: collection.path, [("Label", .string(label))])
            emit(
                "CollectionChanged", of: SecretServiceNames.service, at: SecretServiceNames.root,
                [.path(collection.path)])
        case .item(let place) where name == "Label" && isMeant(interface, SecretServiceNames.item):
            guard let label = value.text else { throw .arguments(of: "Label", "s") }
            try change(place, to: SecretItems.Content(label: label))
            tellContent(of: SecretServiceNames.item, at: place.path, [("Label", value)])
        case .item(let place) where name == "Attributes" && isMeant(interface, SecretServiceNames.item):
            try change(place, to: try lookup(value).under(LookupSchema.generic))
        case .item(let place) where name == "Type" && isMeant(interface, SecretServiceNames.item):
            guard let type = value.text else { throw .arguments(of: "Type", "s") }
            try change(place, toType: type)
        default: throw BusError(.propertyReadOnly, "\(interface).\(name) cannot be set")
        }
    }
}
