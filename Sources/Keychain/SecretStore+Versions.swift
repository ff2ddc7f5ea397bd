internal import Foundation
internal import KeychainPlatform
internal import KeychainProtocol

/// An item as it was at one moment: which it is, and when it was changed last. Every
/// change, of the secret or of another attribute, gives it a later date.
struct ItemVersion {
    let reference: [UInt8]
    fileprivate let group: String
    fileprivate let modified: RawValue

    init(_ item: Item) {
        reference = Array(item.reference)
        group = item.group.name
        modified = .date(item.modified.timeIntervalSinceReferenceDate)
    }

    /// - Parameter row: of an add, which tells less than a search.
    fileprivate init?(_ row: AnswerRow) {
        guard case .date(let seconds) = row.attributes["mdat"], let group = row.attributes[.accessGroup]?.string
        else { return nil }
        reference = row.persistentReference
        self.group = group
        modified = .date(seconds)
    }

    /// Finds it for as long as nobody has changed it, and asks nobody.
    fileprivate var query: [(String, RawValue)] {
        SecretStore.exactly(reference, in: group) + [("mdat", modified)] + SecretStore.Asking.nobody.query
    }
}

/// What the keychain compares and does in one step, so that no other program comes
/// between.
extension SecretStore {
    /// Stores a secret where none is; nil where the address is taken. Nobody is asked,
    /// also where a guarded item has it.
    func addVersion(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes, accessible: ProtectionClass
    ) throws(KeychainError) -> ItemVersion? {
        let given = attributes.query + [("v_Data", .secret), ("pdmn", .string(accessible.rawValue))]
        let query = QueryDictionary(
            try address.query + written() + given + Self.wantsItems + Asking.nobody.query)
        do throws(KeychainError) {
            let answer = try transport().perform(KeychainRequest(.add, query: query, value: secret.shared))
            guard let version = answer.rows.first.flatMap({ ItemVersion($0) }) else {
                throw KeychainError(
                    .notAvailable, reason: .noAnswer(mayHaveHappened: true), underlying: "no item came")
            }
            return version
        } catch {
            if error.status == .duplicateItem || error.reason == .interactionForbidden { return nil }
            throw error
        }
    }

    /// Gives the item a later date and leaves it as it is otherwise; false where it has
    /// been changed or removed.
    func touch(_ item: Item) throws(KeychainError) -> Bool {
        try update(ItemVersion(item).query, [("pdmn", .string(item.accessible.rawValue))], nil)
    }

    /// False where it has been changed or removed.
    func remove(_ version: ItemVersion) throws(KeychainError) -> Bool { try delete(version.query) }

    /// The item at an address of the first group, with its secret; a guarded one does not
    /// show.
    func openedItem(at address: ItemAddress) throws(KeychainError) -> OpenedItem? {
        let wanted = Self.wantsItems + [("r_Data", .bool(true))] + Asking.nobodySkippingGuarded.query
        guard let row = try rows(address.query + wanted, in: written()).first else { return nil }
        return OpenedItem(item: try Item(row), secret: Secret(row.value ?? SharedSecret(SecretBytes(count: 0))))
    }

    /// Whether the item is there, changed or not.
    func isThere(_ item: Item) throws(KeychainError) -> Bool {
        // By its reference alone, so that a guarded or a locked one counts as well.
        let query: [(String, RawValue)] = [
            ("v_PersistentRef", .data(Array(item.reference))), ("u_LatchkeyGroup", .string(item.group.name)),
            ("r_PersistentRef", .bool(true)), ("u_LatchkeyClosed", .bool(true)),
        ]
        do throws(KeychainError) {
            return try !rows(query + Asking.nobody.query, in: []).isEmpty
        } catch {
            if error.reason == .interactionForbidden { return true }
            throw error
        }
    }

    /// Finds out whether this program may search where it stores, whatever is there.
    func probe(service: String) throws(KeychainError) {
        let query: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string(service)), ("r_PersistentRef", .bool(true)),
            ("u_LatchkeyClosed", .bool(true)),
        ]
        _ = try rows(query + Asking.nobodySkippingGuarded.query, in: written())
    }

    /// Whether that is the group into which it stores.
    func storesIn(_ group: AccessGroup) throws(KeychainError) -> Bool {
        switch reach {
        case .group(let named): named == group
        case .ownGroups, .firstGroup: try transport().session().groups.first.map { AccessGroup($0) } == group
        }
    }
}
