package import KeychainModel

/// One of several searches of the Secret Service (``KeychainTransport/searchEach(_:)``): all
/// items of a group that match, local ones alone where no reference names the item, and none
/// that needs a person, as far as that can be told: of what is locked it cannot. What a
/// dictionary would say is said by types, because every lookup of every program makes several
/// of them (ARCHITECTURE.md, section 10).
package struct ItemSearch: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// Those of a class that have the attributes; `excludingLookups`: of these, those
        /// without a lookup attribute, which a person or a program of SecItem named.
        case all(ItemClass, having: AttributeMap, excludingLookups: Bool)
        case item(PersistentReference)
    }

    /// What is told of an item.
    package enum Extent: UInt64, Sendable, Hashable {
        /// That it is there, by its reference; also of what is locked. Of what is open when it was
        /// changed (`mdat`), by which answers are put in order.
        case presence = 1
        /// Its attributes; of what is locked that it is there.
        case description = 2
        /// Its value, and of its attributes `look` and `desc`, which say how it is to be
        /// handed over. What is locked fails the search with -25308.
        case value = 3
        /// Value and attributes; likewise.
        case everything = 4

        var returns: ReturnTypes {
            switch self {
            case .presence, .description: [.persistentReference, .attributes]
            case .value, .everything: [.persistentReference, .attributes, .data]
            }
        }

        package var tellsClosed: Bool { self == .presence || self == .description }

        var shown: Query.ShownAttributes {
            switch self {
            case .presence: .only([.modificationDate])
            case .value: .only([.lookup, "desc"])
            case .description, .everything: .all
            }
        }
    }

    package let subject: Subject
    package let group: AccessGroup
    package let extent: Extent

    /// The attributes by which the Secret Service looks for items.
    package static let findable: [AttributeCode] = [.lookup, .service, .server, .account]

    /// nil for an attribute that no item is found by here, or a value that its column cannot
    /// hold.
    package init?(
        _ itemClass: ItemClass, having attributes: AttributeMap, in group: AccessGroup, telling extent: Extent,
        excludingLookups: Bool = false
    ) {
        let schema = Schema.of(itemClass)
        guard !excludingLookups || schema[.lookup] != nil else { return nil }
        for (code, value) in attributes.entries {
            guard Self.findable.contains(code), let attribute = schema[code], Self.suits(value, attribute) else {
                return nil
            }
        }
        subject = .all(itemClass, having: attributes, excludingLookups: excludingLookups)
        (self.group, self.extent) = (group, extent)
    }

    package init(_ reference: PersistentReference, in group: AccessGroup, telling extent: Extent) {
        subject = .item(reference)
        (self.group, self.extent) = (group, extent)
    }

    private static func suits(_ value: AttributeValue, _ attribute: SchemaAttribute) -> Bool {
        switch (value, attribute.kind) {
        case (.data(let bytes), .lookup): LookupAttributes.isEncoding(bytes)
        case (.string, .blob), (.string, .string): true
        default: false
        }
    }

    package var itemClass: ItemClass {
        switch subject {
        case .all(let itemClass, _, _): itemClass
        case .item(let reference): reference.itemClass
        }
    }

    package var query: Query {
        let target: Query.Target
        switch subject {
        case .all(let itemClass, _, _): target = .itemClass(itemClass)
        case .item(let reference): target = .reference(reference)
        }
        return Query(
            for: target, having: attributes, in: group, returning: extent.returns, tellingClosed: extent.tellsClosed,
            excludingLookups: excludesLookups, showing: extent.shown)
    }

    /// The same for a daemon that knows no such call; it finds also what has lookup
    /// attributes, and shows all of them. Of what is locked a row has no attributes there, so
    /// that they are always asked for.
    var dictionary: QueryDictionary {
        var pairs: [(String, RawValue)] = [
            ("m_Limit", .string("m_LimitAll")), ("r_Attributes", .bool(true)), ("r_PersistentRef", .bool(true)),
            ("u_AuthUI", .string("u_AuthUIS")), ("class", .string(itemClass.rawValue)),
        ]
        switch subject {
        case .all(_, let attributes, _):
            pairs.append(("agrp", .string(group.name)))
            for (code, value) in attributes.entries { pairs.append((code.description, RawValue(value))) }
        case .item(let reference):
            pairs.append(("u_LatchkeyGroup", .string(group.name)))
            pairs.append(("v_PersistentRef", .data(reference.bytes)))
        }
        if extent.returns.contains(.data) { pairs.append(("r_Data", .bool(true))) }
        if extent.tellsClosed { pairs.append(("u_LatchkeyClosed", .bool(true))) }
        return QueryDictionary(pairs)
    }
}

extension RawValue {
    fileprivate init(_ value: AttributeValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .data(let bytes): self = .data(bytes)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .date(let seconds): self = .date(seconds)
        }
    }
}

// MARK: On the wire

extension ItemSearch {
    /// From the fields of a message (Protos/latchkey_wire.proto, ItemSearch); nil for what no
    /// version of ours writes.
    init?(
        itemClass: String, group: String, attributes: AttributeMap, persistentReference: [UInt8], extent: UInt64,
        excludesLookups: Bool
    ) {
        guard let itemClass = ItemClass(rawValue: itemClass), itemClass != .identity,
            let extent = Extent(rawValue: extent)
        else { return nil }
        let group = AccessGroup(group)
        if persistentReference.isEmpty {
            self.init(
                itemClass, having: attributes, in: group, telling: extent, excludingLookups: excludesLookups)
        } else {
            guard attributes.isEmpty, !excludesLookups, let reference = PersistentReference(bytes: persistentReference),
                case .identifier = reference.target, reference.itemClass == itemClass
            else { return nil }
            self.init(reference, in: group, telling: extent)
        }
    }

    /// Attributes, where there are any.
    var attributes: AttributeMap {
        if case .all(_, let attributes, _) = subject { attributes } else { AttributeMap() }
    }

    var excludesLookups: Bool {
        if case .all(_, _, let excludesLookups) = subject { excludesLookups } else { false }
    }

    /// Empty where none names the item.
    var persistentReference: [UInt8] {
        if case .item(let reference) = subject { reference.bytes } else { [] }
    }
}
