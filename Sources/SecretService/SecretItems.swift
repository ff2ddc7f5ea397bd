internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import MessageBus
internal import SecretServiceItems
internal import SecretServiceReach

/// An item of a collection, opened but for its value.
struct SecretItem: Sendable {
    let collection: String
    let row: AnswerRow
    let reference: PersistentReference

    /// nil for a row of no item, which the keychain gives nobody.
    init?(collection: String, row: AnswerRow) {
        guard let reference = PersistentReference(bytes: row.persistentReference) else { return nil }
        (self.collection, self.row, self.reference) = (collection, row, reference)
    }

    private static let letters: [ItemClass: Character] = [.genericPassword: "g", .internetPassword: "i"]

    /// Below its collection: a letter for the class, and the persistent reference's
    /// identifier in hex.
    var path: ObjectPath {
        Self.path(of: reference.bytes, in: collection)
    }

    static func path(of reference: [UInt8], in collection: String) -> ObjectPath {
        let isInternet = reference.starts(with: ItemClass.internetPassword.rawValue.utf8)
        return SecretServiceNames.collections.appending(collection).appending(
            (isInternet ? "i" : "g") + HexText.of(reference.dropFirst(4)))
    }

    /// nil for what is no item's name.
    static func reference(ofElement element: String) -> PersistentReference? {
        guard element.utf8.count == 33, let first = element.first,
            let itemClass = letters.first(where: { $0.value == first })?.key,
            let identifier = HexText.bytes(of: Array(element.utf8).dropFirst())
        else { return nil }
        return PersistentReference(itemClass, .identifier(identifier))
    }

    /// Whether it is locked: only that it is there is known then.
    var isClosed: Bool { row.isClosed }
    /// Empty where it has none, or is locked.
    var value: SharedSecret { row.value ?? SharedSecret(SecretBytes(count: 0)) }

    /// What it is called in lists. A person's own item, which has no label unless somebody gave
    /// it one, is called by its service or server: a list of nameless items helps nobody.
    var label: String {
        // What a program of the Secret Service stored has one, if of no letters.
        if let own = row.attributes[.label]?.string, !own.isEmpty || row.attributes.hasLookup { return own }
        return row.attributes[row.itemClass == .internetPassword ? .server : .service]?.string ?? ""
    }

    /// Seconds since 2001-01-01T00:00:00Z; later with each change.
    var exactlyModified: Double {
        guard case .date(let seconds) = row.attributes[.modificationDate] else { return 0 }
        return seconds
    }

    var created: UInt64 { row.attributes.seconds(.creationDate) }
    var modified: UInt64 { row.attributes.seconds(.modificationDate) }

    /// What it was stored with; else what stands for that.
    var attributes: LookupAttributes {
        row.attributes.lookup ?? ImpliedAttributes(row.itemClass, row.attributes).shown
    }

    /// What it was stored as, but text is "text/plain" without parameters: libsecret takes
    /// nothing else for text, go-keyring and Java's secret-service store "text/plain;
    /// charset=utf8", and gnome-keyring calls everything so. Likewise where nothing was said. A
    /// description that a person gave is none.
    var contentType: String {
        guard row.attributes.hasLookup, let type = row.attributes["desc"]?.string, type.contains("/") else {
            return Self.plainText
        }
        let kind = type.prefix { $0 != ";" && $0 != " " }
        return kind.lowercased() == Self.plainText ? Self.plainText : type
    }

    static let plainText = "text/plain"
}

/// The items of collections, by calls to the keychain.
struct SecretItems {
    private let keychain: ServedKeychain

    /// What items of the Secret Service may be.
    static let classes: [ItemClass] = [.genericPassword, .internetPassword]

    private let memory: SessionMemory

    init(_ keychain: ServedKeychain, clock: any KeychainClock) {
        self.keychain = keychain
        memory = SessionMemory(clock: clock)
    }

    private func query(
        _ itemClass: ItemClass, in collection: String, _ more: [(String, RawValue)]
    ) -> [(String, RawValue)] {
        [("class", .string(itemClass.rawValue)), ("agrp", .string(SecretCollection.group(of: collection).name))] + more
    }

    /// One item, which needs nobody's agreement: a prompt would keep every client waiting.
    private func named(_ reference: PersistentReference, in collection: String) -> [(String, RawValue)] {
        query(
            reference.itemClass, in: collection,
            [("v_PersistentRef", .data(reference.bytes)), ("u_AuthUI", .string("u_AuthUIF"))])
    }

    /// One search among several that are made in one call.
    private struct Probe {
        let collection: String
        let search: ItemSearch
        var admits: (AnswerRow) -> Bool = { _ in true }
    }

    /// nil where no item can have such attributes.
    private static func search(
        _ itemClass: ItemClass, in collection: String, having attributes: AttributeMap,
        telling extent: ItemSearch.Extent, excludingLookups: Bool = false
    ) -> ItemSearch? {
        ItemSearch(
            itemClass, having: attributes, in: SecretCollection.group(of: collection), telling: extent,
            excludingLookups: excludingLookups)
    }

    private func items(_ probes: [Probe]) throws(KeychainError) -> [SecretItem] {
        let answers = try keychain.searchEach(probes.map(\.search))
        // More than one search may find an item. Where they are few, as mostly, comparing each
        // with each is cheaper than a set.
        let areFew = answers.reduce(0) { $0 + $1.count } <= 16
        var (found, known): ([SecretItem], Set<[UInt8]>) = ([], [])
        for (probe, rows) in zip(probes, answers) {
            for row in rows where probe.admits(row) {
                let reference = row.persistentReference
                let isNew =
                    areFew
                    ? !found.contains { $0.row.persistentReference == reference } : known.insert(reference).inserted
                if isNew, let item = SecretItem(collection: probe.collection, row: row) { found.append(item) }
            }
        }
        return found
    }

    /// Those that answer to all of the attributes; to none: everything in the collections. What was
    /// changed last is first, whatever collection it is in, as gnome-keyring has it
    /// (gkm-secret-search.c, on_matched_sort_modified): clients take the first. Of what is closed
    /// nobody knows when it was changed; it is behind, in the order of the collections.
    ///
    /// - Parameter described: false where it does not matter what they are, but for whether
    ///   they are closed.
    /// - Throws: `errSecInteractionNotAllowed`, reason `locked`.
    func search(
        _ wanted: LookupAttributes, in collections: [String], described: Bool = true
    ) throws(KeychainError) -> [SecretItem] {
        let extent: ItemSearch.Extent = described ? .description : .presence
        var attributes = AttributeMap()
        if !wanted.isEmpty { attributes.append(.lookup, .data(wanted.encoded)) }
        var probes: [Probe] = []
        var found: [SecretItem] = []
        for collection in collections {
            if collection == SecretCollection.session {
                found += memory.search(wanted).compactMap { SecretItem(collection: collection, row: $0) }
                continue
            }
            for itemClass in Self.classes {
                guard let search = Self.search(itemClass, in: collection, having: attributes, telling: extent) else {
                    continue
                }
                probes.append(Probe(collection: collection, search: search))
            }
            // A person's own are in no other collection.
            if !wanted.isEmpty, collection == SecretCollection.login { probes += implied(wanted, in: collection) }
        }
        let all = try items(probes) + found
        if all.count < 2 { return all }
        // Of the same moment in the order of the collections, which is that of the probes but for
        // what is in memory.
        let places = Dictionary(collections.enumerated().map { ($1, $0) }) { first, _ in first }
        let order = all.indices.map { index in
            (moment: all[index].exactlyModified, place: places[all[index].collection] ?? 0, index: index)
        }
        return order.sorted { ($1.moment, $0.place, $0.index) < ($0.moment, $1.place, $1.index) }.map { all[$0.index] }
    }

    /// The persistent references of everything in a collection, open or not.
    ///
    /// - Parameter most: of each class; nil: all.
    func references(in collection: String, atMost most: Int? = nil) throws(KeychainError) -> [[UInt8]] {
        if collection == SecretCollection.session { return memory.search(.none).map(\.persistentReference) }
        let limit = most.map { RawValue.integer(Int64($0)) } ?? .string("m_LimitAll")
        let wanted: [(String, RawValue)] = [
            ("m_Limit", limit), ("r_PersistentRef", .bool(true)), ("u_AuthUI", .string("u_AuthUIS")),
            ("u_LatchkeyClosed", .bool(true)),
        ]
        return try keychain.copyEach(
            Self.classes.map { QueryDictionary(query($0, in: collection, wanted)) }
        ).flatMap { $0.map(\.persistentReference) }
    }

    /// What nobody stored by the Secret Service.
    private func implied(_ wanted: LookupAttributes, in collection: String) -> [Probe] {
        ImpliedAttributes.places(for: wanted).compactMap { place in
            Self.search(
                place.itemClass, in: collection, having: place.names, telling: .description, excludingLookups: true
            ).map {
                Probe(collection: collection, search: $0) { row in
                    // Which of the closed ones answer shows once they are open.
                    row.isClosed
                        || !row.attributes.hasLookup && ImpliedAttributes(row.itemClass, row.attributes).include(wanted)
                }
            }
        }
    }

    /// nil where there is none.
    func item(
        _ reference: PersistentReference, in collection: String, _ extent: ItemSearch.Extent = .description
    ) throws(KeychainError) -> SecretItem? {
        try items([(reference, collection)], extent).first
    }

    /// Those that are there.
    ///
    /// - Throws: where one of them cannot be opened.
    func items(
        _ places: [(reference: PersistentReference, collection: String)], _ extent: ItemSearch.Extent
    ) throws(KeychainError) -> [SecretItem] {
        let inMemory = places.filter { $0.collection == SecretCollection.session }.compactMap { place in
            memory.row(place.reference).flatMap { SecretItem(collection: place.collection, row: $0) }
        }
        let probes = places.filter { $0.collection != SecretCollection.session }.map { place in
            Probe(
                collection: place.collection,
                search: ItemSearch(
                    place.reference, in: SecretCollection.group(of: place.collection), telling: extent))
        }
        return try inMemory + items(probes)
    }

    // MARK: Changing

    struct Content {
        var label: String?
        var attributes: LookupAttributes?
        var value: SharedSecret?
        var contentType: String?

        var changes: [(String, RawValue)] {
            var changes: [(String, RawValue)] = []
            if let label { changes.append(("labl", .string(label))) }
            if let attributes { changes.append(("look", .data(attributes.encoded))) }
            if let contentType {
                changes.append(("desc", .string(contentType == SecretItem.plainText ? "" : contentType)))
            }
            if value != nil { changes.append(("v_Data", .secret)) }
            return changes
        }
    }

    /// - Parameter reaches: whether the caller may have an item replaced; another is as if it
    ///   were not there.
    /// - Returns: the item, and whether another content was there before.
    func store(
        _ content: Content, in collection: String, replacing: Bool, reaches: (SecretItem) -> Bool
    ) throws(KeychainError) -> (item: SecretItem, isNew: Bool) {
        let attributes = content.attributes ?? .none
        if replacing,
            let present = try replaceable(
                by: attributes, labelled: content.label ?? "", in: collection), reaches(present)
        {
            var content = content
            if present.row.attributes.hasLookup {
                content.contentType = content.contentType ?? SecretItem.plainText
                try change(present, to: content)
            } else {
                // Name and description are the person's.
                try change(present.reference, in: collection, to: content)
            }
            if let item = try item(present.reference, in: collection) { return (item, false) }
        }
        if collection == SecretCollection.session {
            guard let item = SecretItem(collection: collection, row: try memory.add(content)) else {
                throw Self.unanswered
            }
            return (item, true)
        }
        // What is replaced keeps the label that it has; what is new has one, of no letters at least.
        var content = content
        content.label = content.label ?? ""
        var refusal: KeychainError?
        for place in ItemPlace.candidates(for: attributes, label: content.label ?? "", serial: Self.serial) {
            let wanted =
                place.attributes + content.changes + [
                    ("r_Attributes", .bool(true)), ("r_PersistentRef", .bool(true)),
                ]
            let request = KeychainRequest(
                .add, query: QueryDictionary(query(place.itemClass, in: collection, wanted)), value: content.value)
            do throws(KeychainError) {
                let row = try keychain.perform(request).rows.first
                guard let item = row.flatMap({ SecretItem(collection: collection, row: $0) }) else {
                    throw Self.unanswered
                }
                return (item, true)
            } catch {
                guard error.status == .duplicateItem else { throw error }
                refusal = error
            }
        }
        throw refusal ?? Self.unanswered
    }

    private static func serial() -> String { Random.bytes(8).map { String($0, radix: 16) }.joined() }

    private static let unanswered = KeychainError(
        .internalComponent, reason: .internalFault(what: "an add without an answer"))

    /// The item with the very same attributes; else the one that a person stored in the
    /// very place where an item with these attributes would be.
    ///
    /// - Throws: `errSecInteractionNotAllowed`, reason `locked`: of what is closed nobody
    ///   can say what it is.
    private func replaceable(
        by attributes: LookupAttributes, labelled label: String, in collection: String
    ) throws(KeychainError) -> SecretItem? {
        let found = try search(attributes, in: [collection])
        if found.contains(where: \.isClosed) {
            throw KeychainError(
                .interactionNotAllowed, reason: .locked(class: ProtectionClass.whenUnlocked.rawValue))
        }
        if let same = found.first(where: { $0.row.attributes.lookup == attributes }) { return same }
        // What an older git-credential-libsecret stored a newer one replaces, and the reverse.
        if let kindred = attributes.underOtherSchemaOfGit {
            let others = try search(kindred, in: [collection])
            if let same = others.first(where: { $0.row.attributes.lookup == kindred }) { return same }
        }
        let place = ItemPlace.candidates(for: attributes, label: label, serial: { "" })[0]
        guard collection == SecretCollection.login, place.isOfPerson,
            let search = Self.search(
                place.itemClass, in: collection, having: place.names, telling: .description, excludingLookups: true)
        else { return nil }
        let there = try items([
            Probe(collection: collection, search: search) { row in
                !row.isClosed && !row.attributes.hasLookup && place.isPlace(of: row.attributes)
            }
        ])
        return there.count == 1 ? there[0] : nil
    }

    /// - Throws: `errSecItemNotFound`.
    func change(
        _ reference: PersistentReference, in collection: String, to content: Content
    ) throws(KeychainError) {
        if collection == SecretCollection.session { return try memory.change(reference, to: content) }
        let place = named(reference, in: collection)
        _ = try keychain.perform(
            KeychainRequest(
                .update, query: QueryDictionary(place), changes: QueryDictionary(content.changes), value: content.value)
        )
    }

    /// How often an item is read anew that somebody renames meanwhile.
    private static let mostReadings = 4

    /// The same; by its new lookup attributes and label it stands where a new one would, from
    /// the same moment on (``ItemPlace/moves(of:_:from:to:serial:)``). Its reference, dates and
    /// access control stay.
    ///
    /// - Parameter item: as it was just read.
    /// - Throws: `errSecItemNotFound`.
    func change(_ item: SecretItem, to content: Content) throws(KeychainError) {
        var item = item
        for _ in 1..<Self.mostReadings {
            do throws(KeychainError) { return try changeAndMove(item, to: content) } catch {
                // Also where it is there by another name by now. Of another schema it is another's to
                // judge: a policy may keep it from who asks.
                guard error.status == .itemNotFound,
                    let present = try self.item(item.reference, in: item.collection), !present.isClosed,
                    present.attributes[LookupSchema.attribute] == item.attributes[LookupSchema.attribute]
                else { throw error }
                item = present
            }
        }
        try changeAndMove(item, to: content)
    }

    private func changeAndMove(_ item: SecretItem, to content: Content) throws(KeychainError) {
        guard item.collection != SecretCollection.session, content.attributes != nil || content.label != nil else {
            return try change(item.reference, in: item.collection, to: content)
        }
        var refusal: KeychainError?
        let places = places(of: item, after: content).map(\.whole)
        for place in places.isEmpty ? [[]] : places {
            do throws(KeychainError) { return try update(item, to: content, at: place) } catch {
                guard error.status == .duplicateItem else { throw error }
                refusal = error
            }
        }
        if let refusal { throw refusal }
    }

    private func places(of item: SecretItem, after content: Content) -> [ItemPlace] {
        let (lookup, label) = (item.row.attributes.lookup, item.row.attributes[.label]?.string ?? "")
        return ItemPlace.moves(
            of: item.row.attributes, item.row.itemClass, from: ItemNaming(lookup, label: label),
            to: ItemNaming(content.attributes ?? lookup, label: content.label ?? label), serial: Self.serial)
    }

    /// Of the item as it was read: under other names it is another's to judge.
    private func update(
        _ item: SecretItem, to content: Content, at place: [(String, RawValue)]
    ) throws(KeychainError) {
        var known = named(item.reference, in: item.collection)
        if let lookup = item.row.attributes.lookup { known.append(("look", .data(lookup.encoded))) }
        for code in [AttributeCode.service, .server, .account] {
            if let name = item.row.attributes[code]?.string { known.append((code.description, .string(name))) }
        }
        _ = try keychain.perform(
            KeychainRequest(
                .update, query: QueryDictionary(known), changes: QueryDictionary(place + content.changes),
                value: content.value))
    }

    /// - Throws: `errSecItemNotFound`.
    func remove(_ reference: PersistentReference, in collection: String) throws(KeychainError) {
        if collection == SecretCollection.session { return try memory.remove(reference) }
        let place = named(reference, in: collection)
        _ = try keychain.perform(KeychainRequest(.delete, query: QueryDictionary(place)))
    }
}
