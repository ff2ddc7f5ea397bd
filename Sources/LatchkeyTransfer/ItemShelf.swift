internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import LatchkeyCommand
internal import LatchkeyImport
internal import SecretServiceItems
internal import SecretServiceReach

/// The items that the command line reaches, by place.
struct ItemShelf: Sendable {
    let keychain: CommandKeychain

    /// Attributes of everything that is there.
    ///
    /// - Parameter group: nil: the command line's own.
    func all(in group: AccessGroup? = nil) throws(CommandFailure) -> [(kind: PasswordKind, attributes: AttributeMap)] {
        var found: [(PasswordKind, AttributeMap)] = []
        for kind in PasswordKind.allCases {
            let query =
                base(kind, group)
                + [("sync", .string("syna")), ("r_Attributes", .bool(true)), ("m_Limit", .string("m_LimitAll"))]
            do throws(KeychainError) {
                found += try perform(.copy, query).rows.map { (kind, $0.attributes) }
            } catch {
                guard error.status == .itemNotFound else { throw CommandFailure(error) }
            }
        }
        return found
    }

    private func base(_ kind: PasswordKind, _ group: AccessGroup?) -> [(String, RawValue)] {
        group.map { keychain.base(kind, in: $0) } ?? keychain.base(kind)
    }

    /// The value of an item; nil where the item is gone.
    func value(_ item: PlannedItem) throws(KeychainError) -> SharedSecret? {
        try value(item.kind, item.attributes, in: item.group).map { $0 ?? SharedSecret(SecretBytes(count: 0)) }
    }

    /// The same, with nil inside for an item without data.
    func value(
        _ kind: PasswordKind, _ attributes: AttributeMap, in group: AccessGroup? = nil
    ) throws(KeychainError) -> SharedSecret?? {
        do throws(KeychainError) {
            var query = base(kind, group) + ItemPlace.query(kind, attributes) + [("r_Data", .bool(true))]
            // Of several groups: which one it is.
            if keychain.reach == .everyGroup, let group = attributes[.accessGroup] {
                query.append(("agrp", RawValue(group)))
            }
            return try perform(.copy, query).rows.first.map(\.value)
        } catch {
            // With another reason it may be there and not open.
            guard error.status == .itemNotFound, error.reason == .nothingMatches else { throw error }
            return nil
        }
    }

    /// False where something has the place already.
    func add(_ item: PlannedItem) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            if let refusal = try addTogether([item])[0] { throw refusal }
        } catch {
            guard error.status == .duplicateItem else { throw error }
            return false
        }
        return true
    }

    /// Adds several in one commit; of each why it was not added, or nil.
    func addTogether(_ items: [PlannedItem]) throws(KeychainError) -> [KeychainError?] {
        let new = items.map { item in
            let (query, value) = asNew(item)
            return NewItem(QueryDictionary(query), value: value, created: item.created, modified: item.modified)
        }
        let outcomes = try keychain.transport.perform(KeychainRequest(.addItems, items: new)).outcomes
        guard outcomes.count == items.count else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "an answer lacks items"))
        }
        return outcomes
    }

    private func asNew(_ item: PlannedItem) -> (query: [(String, RawValue)], value: SharedSecret?) {
        let given = item.attributes.entries.map { ("\($0.code)", RawValue($0.value)) }
        let value = item.value.map { SharedSecret($0.secret()) }
        let data: [(String, RawValue)] = value == nil ? [] : [("v_Data", .secret)]
        return (base(item.kind, item.group) + given + data, value)
    }

    /// Gives the item at this place the value and the attributes of `item`.
    func replace(_ item: PlannedItem) throws(KeychainError) {
        let value = item.value.map { SharedSecret($0.secret()) }
        let place = Set(ItemPlace.query(item.kind, item.attributes).map(\.0))
        var changes = item.attributes.entries.map { ("\($0.code)", RawValue($0.value)) }.filter {
            !place.contains($0.0)
        }
        if value != nil { changes.append(("v_Data", .secret)) }
        _ = try perform(.update, address(item), changes: changes, value: value)
    }

    private func address(_ item: PlannedItem) -> [(String, RawValue)] {
        base(item.kind, item.group) + ItemPlace.query(item.kind, item.attributes)
    }

    /// Makes a collection known to the service; one of that name stays as it is.
    func add(_ collection: ServiceCollection) throws(KeychainError) {
        let row: [(String, RawValue)] = [
            ("svce", .string(CollectionName.service)), ("acct", .string(collection.name)),
            ("labl", .string(collection.label)), ("pdmn", .string(ProtectionClass.alwaysThisDeviceOnly.rawValue)),
        ]
        do throws(KeychainError) {
            _ = try perform(.add, keychain.base(.generic, in: .secretService) + row)
        } catch {
            guard error.status == .duplicateItem else { throw error }
        }
    }

    private func perform(
        _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)], changes: [(String, RawValue)] = [],
        value: SharedSecret? = nil
    ) throws(KeychainError) -> KeychainAnswer {
        try keychain.perform(
            KeychainRequest(
                operation, query: QueryDictionary(query), changes: QueryDictionary(changes), value: value))
    }
}
