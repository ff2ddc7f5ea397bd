internal import KeychainClient
internal import KeychainProtocol

extension SecretStore {
    /// What storing at an address did.
    public enum SetOutcome: Sendable, Hashable {
        /// Nothing was there.
        case added
        /// The item that was there has the new secret, and its other attributes
        /// but for those that were given.
        case replaced
    }

    private static let mostRounds = 64

    /// Stores a secret, whether its address is free or taken.
    ///
    /// At no moment is neither the old nor the new secret there, and whoever else
    /// adds or removes the same item at the same time makes no error of it.
    ///
    /// - Parameters:
    ///   - secret: at most 64 MiB.
    ///   - address: where it is stored, in the first group of the reach.
    ///   - attributes: those that are nil stay as they are.
    ///   - accessible: when the secret can be read; nil: ``ProtectionClass/whenUnlocked``
    ///     for a new item, and as it is for one that is there. Who has to agree stays as it
    ///     is.
    /// - Returns: what it did, once it is durable on disk.
    /// - Throws: `errSecInteractionNotAllowed` while the class is locked,
    ///   `errSecDataTooLarge` above a limit, `errSecMissingEntitlement` for a group
    ///   of others, `errSecNotAvailable` where no keychain answers (reason
    ///   ``Reason/noAnswer(mayHaveHappened:)``: it may be stored).
    @discardableResult
    public func set(
        _ secret: Secret, for address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        accessible: ProtectionClass? = nil
    ) throws(KeychainError) -> SetOutcome {
        try set(secret, for: address, attributes.query + Self.query(accessible))
    }

    /// Stores a secret, whether its address is free or taken, with this protection in place
    /// of what was there.
    ///
    /// Where a guarded item is there a person is asked, once.
    ///
    /// - Parameters:
    ///   - secret: at most 64 MiB.
    ///   - address: where it is stored, in the first group of the reach.
    ///   - attributes: those that are nil stay as they are.
    ///   - protection: when the secret can be read, and who agrees.
    /// - Throws: as with a class alone; besides `errSecAuthFailed` where nobody here could
    ///   ever agree, `errSecParam` for a guarded item that synchronizes, and
    ///   `errSecUserCanceled` where a person did not agree that it is replaced.
    @discardableResult
    public func set(
        _ secret: Secret, for address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        protection: Protection
    ) throws(KeychainError) -> SetOutcome {
        try set(secret, for: address, attributes.query + protection.query)
    }

    private func set(
        _ secret: Secret, for address: ItemAddress, _ given: [(String, RawValue)]
    ) throws(KeychainError) -> SetOutcome {
        let place = try address.query + written()
        let changes = given + [("v_Data", .secret)]
        // The change first: an add that meets an item which needs a person has that
        // person asked, and so would the change after it. Another round only where
        // another program added and removed in between; where that goes on, the address
        // is taken by what this program cannot change.
        for _ in 0..<Self.mostRounds {
            if try update(place, changes, secret) { return .replaced }
            if try add(place + changes, secret) { return .added }
        }
        throw KeychainError(.duplicateItem, reason: .duplicate)
    }

    private static func query(_ accessible: ProtectionClass?) -> [(String, RawValue)] {
        accessible.map { [("pdmn", .string($0.rawValue))] } ?? []
    }

    /// Stores a secret where none is.
    ///
    /// - Throws: `errSecDuplicateItem` where the address is taken.
    public func add(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        accessible: ProtectionClass = .whenUnlocked
    ) throws(KeychainError) {
        try add(secret, at: address, attributes.query + Self.query(accessible))
    }

    /// Stores a secret where none is, with this protection.
    ///
    /// - Throws: `errSecDuplicateItem` where the address is taken, `errSecAuthFailed` where
    ///   nobody here could ever agree, `errSecParam` for a guarded item that synchronizes.
    public func add(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        protection: Protection
    ) throws(KeychainError) {
        try add(secret, at: address, attributes.query + protection.query)
    }

    private func add(
        _ secret: Secret, at address: ItemAddress, _ given: [(String, RawValue)]
    ) throws(KeychainError) {
        guard try add(address.query + written() + given + [("v_Data", .secret)], secret) else {
            throw KeychainError(.duplicateItem, reason: .duplicate)
        }
    }

    /// Gives the item that `item(at:)` finds other attributes, and leaves its
    /// secret alone.
    ///
    /// Where the item needs a person's agreement, one is asked once.
    ///
    /// - Returns: false where there is no such item.
    /// - Throws: `errSecInteractionNotAllowed` while the item's class is locked,
    ///   `errSecUserCanceled` and `errSecAuthFailed` where a person did not agree.
    @discardableResult
    public func change(
        _ address: ItemAddress, to attributes: ItemAttributes, accessible: ProtectionClass? = nil
    ) throws(KeychainError) -> Bool {
        try change(address, attributes.query + Self.query(accessible))
    }

    /// Gives the item that `item(at:)` finds this protection and other attributes, and
    /// leaves its secret alone.
    ///
    /// - Returns: false where there is no such item.
    /// - Throws: as with a class alone; besides `errSecAuthFailed` where nobody here could
    ///   ever agree, and `errSecParam` for a guarded item that synchronizes.
    @discardableResult
    public func change(
        _ address: ItemAddress, to attributes: ItemAttributes = ItemAttributes(), protection: Protection
    ) throws(KeychainError) -> Bool {
        try change(address, attributes.query + protection.query)
    }

    /// Gives the item that `item(at:)` finds another address in its group, and leaves its
    /// secret and attributes alone; ``Item/reference`` goes on naming it.
    ///
    /// At no moment is it at neither address, nor at both.
    ///
    /// - Parameters:
    ///   - address: where it is.
    ///   - new: of the same class: a password of an application stays one.
    /// - Returns: false where there is no such item.
    /// - Throws: `errSecDuplicateItem` where the new address is taken, with nothing changed;
    ///   `errSecParam` for an address of the other class; `errSecInteractionNotAllowed`
    ///   while the item's class is locked, `errSecUserCanceled` and `errSecAuthFailed` where
    ///   a person did not agree.
    @discardableResult
    public func move(_ address: ItemAddress, to new: ItemAddress) throws(KeychainError) -> Bool {
        guard address.isOfClass(of: new) else {
            throw KeychainError(.param, reason: .notAllowedHere(key: "kSecClass"))
        }
        return try change(address, new.query.filter { $0.0 != "class" })
    }

    private func change(
        _ address: ItemAddress, _ changes: [(String, RawValue)]
    ) throws(KeychainError) -> Bool {
        guard !changes.isEmpty else { return try item(at: address) != nil }
        if try update(address.query + written(), changes, nil) { return true }
        guard reach == .ownGroups else { return false }
        for place in try places(ofOthersAt: address) where try update(place, changes, nil) { return true }
        return false
    }

    /// What names, for a change of it, the item of another group of the reach that
    /// `item(at:)` finds; nobody is asked for it.
    private func places(ofOthersAt address: ItemAddress) throws(KeychainError) -> [[(String, RawValue)]] {
        let wanted: [(String, RawValue)] = [
            ("r_PersistentRef", .bool(true)), ("u_LatchkeyClosed", .bool(true)), ("u_AuthUI", .string("u_AuthUIF")),
        ]
        do throws(KeychainError) {
            // These are this program's own groups, which need no naming.
            return try rows(address.query + wanted, in: searched()).map { Self.exactly($0.persistentReference) }
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
            // An item that needs a person, who is asked by the change alone.
            // What a token holds nobody changes.
            return try transport().session().groups.dropFirst().filter { $0 != AccessGroup.token.name }.map { group in
                address.query + synchronizable + [("agrp", .string(group))]
            }
        }
    }

    /// Removes the item that `item(at:)` finds, and no other.
    ///
    /// Opens nothing, as SecItemDelete: it works while the item's class is locked, and
    /// nobody is asked for an item that needs a person's agreement to be read.
    ///
    /// - Returns: false where there was none.
    /// - Throws: `errSecMissingEntitlement` for a group of others, `errSecNotAvailable`
    ///   where no keychain answers.
    @discardableResult
    public func remove(_ address: ItemAddress) throws(KeychainError) -> Bool {
        if try delete(address.query + written()) { return true }
        guard reach == .ownGroups else { return false }
        // The first of another group, as a search finds it.
        return try delete(address.query + searched() + [("m_Limit", .string("m_LimitOne"))])
    }

    /// Removes the item that a search found, and no other; as `remove(_:)` of an
    /// address, also while its class is locked.
    @discardableResult
    public func remove(_ item: Item) throws(KeychainError) -> Bool {
        try delete(Self.exactly(Array(item.reference), in: item.group.name))
    }

    /// An item of this program's own groups.
    private static func exactly(_ reference: [UInt8]) -> [(String, RawValue)] {
        [("v_PersistentRef", .data(reference))]
    }

    /// For a change. A group that a program may name and does not search unnamed (`latchkey`)
    /// has to be named beside the reference too.
    static func exactly(_ reference: [UInt8], in group: String) -> [(String, RawValue)] {
        exactly(reference) + [("agrp", .string(group))]
    }

    /// Removes every item that matches, in every group of the reach, those of locked
    /// classes as well.
    ///
    /// - Warning: A query without a service matches what this program's vaults hold
    ///   (``SecretVault``) as well, and in shared groups what other programs stored.
    /// - Returns: false where none did.
    @discardableResult
    public func removeAll(_ query: ItemQuery) throws(KeychainError) -> Bool { try delete(query.query + searched()) }

    // MARK: Steps

    /// False where the address is taken.
    private func add(_ query: [(String, RawValue)], _ secret: Secret) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            _ = try transport().perform(KeychainRequest(.add, query: QueryDictionary(query), value: secret.shared))
            return true
        } catch {
            if error.status == .duplicateItem { return false }
            throw error
        }
    }

    /// False where there is nothing to change.
    func update(
        _ query: [(String, RawValue)], _ changes: [(String, RawValue)], _ secret: Secret?
    ) throws(KeychainError) -> Bool {
        try finding { () throws(KeychainError) in
            _ = try transport().perform(
                KeychainRequest(
                    .update, query: QueryDictionary(query), changes: QueryDictionary(changes), value: secret?.shared))
        }
    }

    func delete(_ query: [(String, RawValue)]) throws(KeychainError) -> Bool {
        try finding { () throws(KeychainError) in
            _ = try transport().perform(KeychainRequest(.delete, query: QueryDictionary(query)))
        }
    }

    private func finding(_ call: () throws(KeychainError) -> Void) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try call()
            return true
        } catch {
            if error.status == .itemNotFound { return false }
            throw error
        }
    }
}
