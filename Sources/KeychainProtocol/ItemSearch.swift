package import KeychainModel

/// One of several searches of the Secret Service (``KeychainTransport/searchEach(_:)``): all
/// items of a group that match, local ones alone where no reference names the item, and none
/// that needs a person, as far as that can be told: of what is locked it cannot. What a dictionary would say is said by types, because every lookup
/// of every program makes several of them (ARCHITECTURE.md, section 10).
package struct ItemSearch: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// Those of a class that have the attributes.
        case all(ItemClass, having: AttributeMap)
        case item(PersistentReference)
    }

    package let subject: Subject
    package let group: AccessGroup
    package let returns: ReturnTypes
    /// Whether what is locked is told, by its reference alone and as closed; else it fails
    /// the search with -25308.
    package let tellsClosed: Bool
    /// Whether items that have at least one lookup attribute are left out: of those that a person named,
    /// or a program of SecItem, what stands for such attributes is looked at.
    package let excludesLookups: Bool
    /// Of the attributes that are asked for, these alone; empty: all.
    package let shown: [AttributeCode]

    /// The attributes by which the Secret Service looks for items.
    package static let findable: [AttributeCode] = [.lookup, .service, .server, .account]

    /// nil for an attribute that no item is found by here, a value that its column cannot
    /// hold, and where both values and what is locked are asked for.
    package init?(
        _ itemClass: ItemClass, having attributes: AttributeMap, in group: AccessGroup, returning returns: ReturnTypes,
        tellingClosed tellsClosed: Bool, excludingLookups excludesLookups: Bool = false
    ) {
        let schema = Schema.of(itemClass)
        guard !excludesLookups || schema[.lookup] != nil, !tellsClosed || !returns.contains(.data) else { return nil }
        for (code, value) in attributes.entries {
            guard Self.findable.contains(code), let attribute = schema[code], Self.suits(value, attribute) else {
                return nil
            }
        }
        subject = .all(itemClass, having: attributes)
        (self.group, self.returns, self.tellsClosed) = (group, returns, tellsClosed)
        self.excludesLookups = excludesLookups
        shown = []
    }

    /// - Precondition: not both the value and what is locked are asked for.
    package init(
        _ reference: PersistentReference, in group: AccessGroup, returning returns: ReturnTypes,
        showing shown: [AttributeCode] = [], tellingClosed tellsClosed: Bool
    ) {
        precondition(!tellsClosed || !returns.contains(.data), "what is locked has no value to tell")
        subject = .item(reference)
        (self.group, self.returns, self.tellsClosed) = (group, returns, tellsClosed)
        excludesLookups = false
        self.shown = shown
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
        case .all(let itemClass, _): itemClass
        case .item(let reference): reference.itemClass
        }
    }

    package var query: Query {
        switch subject {
        case .all(let itemClass, let attributes):
            Query(
                for: .itemClass(itemClass), having: attributes, in: group, returning: returns,
                tellingClosed: tellsClosed, excludingLookups: excludesLookups)
        case .item(let reference):
            Query(
                for: .reference(reference), having: AttributeMap(), in: group, returning: returns,
                tellingClosed: tellsClosed, showing: shown)
        }
    }

    /// The same for a daemon that knows no such call; it finds also what has lookup
    /// attributes, and shows all of them. Of what is locked a row has no attributes there, so that they are always
    /// asked for.
    var dictionary: QueryDictionary {
        var pairs: [(String, RawValue)] = [
            ("m_Limit", .string("m_LimitAll")), ("r_Attributes", .bool(true)), ("r_PersistentRef", .bool(true)),
            ("u_AuthUI", .string("u_AuthUIS")), ("class", .string(itemClass.rawValue)),
        ]
        switch subject {
        case .all(_, let attributes):
            pairs.append(("agrp", .string(group.name)))
            for (code, value) in attributes.entries { pairs.append((code.description, RawValue(value))) }
        case .item(let reference):
            pairs.append(("u_LatchkeyGroup", .string(group.name)))
            pairs.append(("v_PersistentRef", .data(reference.bytes)))
        }
        if returns.contains(.data) { pairs.append(("r_Data", .bool(true))) }
        if tellsClosed { pairs.append(("u_LatchkeyClosed", .bool(true))) }
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
        itemClass: String, group: String, attributes: AttributeMap, persistentReference: [UInt8], returns: UInt64,
        tellsClosed: Bool, excludesLookups: Bool, shown: ArraySlice<UInt8>
    ) {
        guard let itemClass = ItemClass(rawValue: itemClass), itemClass != .identity,
            let shown = Self.codes(shown), shown.isEmpty || !persistentReference.isEmpty,
            let bits = UInt8(exactly: returns), bits & ~ReturnTypes.all.rawValue == 0
        else { return nil }
        let (group, returns) = (AccessGroup(group), ReturnTypes(rawValue: bits))
        if persistentReference.isEmpty {
            self.init(
                itemClass, having: attributes, in: group, returning: returns, tellingClosed: tellsClosed,
                excludingLookups: excludesLookups)
        } else {
            guard attributes.isEmpty, !excludesLookups, let reference = PersistentReference(bytes: persistentReference),
                case .identifier = reference.target, reference.itemClass == itemClass,
                !tellsClosed || !returns.contains(.data)
            else { return nil }
            self.init(reference, in: group, returning: returns, showing: shown, tellingClosed: tellsClosed)
        }
    }

    /// nil for what is not whole codes, and for more of them than a class has.
    private static func codes(_ bytes: ArraySlice<UInt8>) -> [AttributeCode]? {
        guard bytes.count.isMultiple(of: 4), bytes.count <= 4 * 64 else { return nil }
        var codes: [AttributeCode] = []
        var packed: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            packed = packed << 8 | UInt32(byte)
            if index % 4 == 3 { codes.append(AttributeCode(rawValue: packed)) }
        }
        return codes
    }

    /// The codes of ``shown``, one behind the other.
    var shownBytes: [UInt8] {
        shown.flatMap { code in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code.rawValue >> $0) } }
    }

    /// Attributes, where there are any.
    var attributes: AttributeMap {
        if case .all(_, let attributes) = subject { attributes } else { AttributeMap() }
    }

    /// Empty where none names the item.
    var persistentReference: [UInt8] {
        if case .item(let reference) = subject { reference.bytes } else { [] }
    }
}
