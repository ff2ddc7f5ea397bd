internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

/// Passwords and other secrets of this program, in the user's keychain.
///
/// ```swift
/// let store = SecretStore()
/// try store.set(Secret("hunter2"), for: .password(service: "mail", account: "alice"))
/// let password = try store.secret(for: .password(service: "mail", account: "alice"))
/// ```
///
/// A store is a value: it holds no connection and no lock, and may be made anew
/// wherever it is needed. What reads, stores and removes exists twice, to wait for and
/// to `await`; neither waits longer than five seconds for a keychain that does not
/// answer. An awaited call that has begun runs to its end when its task is cancelled, and
/// says what it did. The call of ``changes(after:)``, but not the iteration, and
/// ``DeviceLock/current()`` are there to wait for alone.
///
/// Items that another interface has given an access control (``Item/isGuarded``) have a
/// person asked, also where no more than their attributes are read.
///
/// Who may read what is stored here: the programs of the item's access group. What
/// else of this user can do is said in THREAT_MODEL.md.
///
/// Errors carry Apple's status, a reason and what lies below. An item that is not
/// there is no error here but nil or false; so is one that was damaged and set aside
/// (`latchkey doctor` says whether there are any). While the item's class is locked,
/// reading and changing throw `errSecInteractionNotAllowed` (reason `locked`).
///
/// The C-shaped counterpart is SecItemAdd and its kin (`KeychainServices`), which
/// sees the same items.
public struct SecretStore: Sendable {
    /// Which items of a group take part in synchronization.
    public enum Synchronization: Sendable, Hashable {
        /// Items of this machine alone; what is stored is one.
        case localOnly
        /// Items that synchronize; what is stored is one.
        case synchronizableOnly
    }

    /// Where items are looked for, and where they are stored.
    public enum Reach: Sendable, Hashable {
        /// In every group that this program searches by itself, the first of them
        /// first; stored in the first.
        case ownGroups
        /// In the first of them alone.
        case firstGroup
        /// In one group, which has to be among the program's own or those that
        /// it may name; else every call throws `errSecMissingEntitlement`.
        case group(AccessGroup)
    }

    /// Where it looks and stores.
    public let reach: Reach
    /// Which items take part: those of this machine, or those that synchronize.
    public let synchronization: Synchronization
    /// Whoever carries a call to another thread takes its task's keychain along.
    private let carried: (any KeychainTransport)?

    /// A store of this program. Nothing is connected or asked yet.
    public init(_ reach: Reach = .ownGroups, synchronization: Synchronization = .localOnly) {
        self.init(reach, synchronization, carried: nil)
    }

    private init(_ reach: Reach, _ synchronization: Synchronization, carried: (any KeychainTransport)?) {
        self.reach = reach
        self.synchronization = synchronization
        self.carried = carried
    }

    /// The same store for use on another thread.
    func carryingKeychain() throws(KeychainError) -> SecretStore {
        SecretStore(reach, synchronization, carried: try transport())
    }

    func transport() throws(KeychainError) -> any KeychainTransport {
        if let carried { carried } else { try CurrentKeychain.transport() }
    }

    // MARK: Reading

    /// The secret at an address, or nil where there is none.
    ///
    /// - Parameters:
    ///   - address: where it is stored.
    ///   - asking: whether a person is asked for a guarded item.
    /// - Throws: `errSecInteractionNotAllowed` while the item's class is locked,
    ///   `errSecMissingEntitlement` for a group of others, `errSecNotAvailable`
    ///   where no keychain answers; `errSecUserCanceled` and `errSecAuthFailed` where a
    ///   person did not agree.
    public func secret(for address: ItemAddress, asking: Asking = .person()) throws(KeychainError) -> Secret? {
        let rows = try firstOf(address, [("r_Data", .bool(true))] + asking.query)
        return rows.first.map { Secret($0.value ?? SharedSecret(SecretBytes(count: 0))) }
    }

    /// What is known of the item at an address, or nil where there is none.
    ///
    /// Opens no secret. Attributes are sealed as well, so that it throws
    /// `errSecInteractionNotAllowed` all the same while the item's class is locked, and a
    /// person is asked for a guarded item (``Item/isGuarded``).
    public func item(at address: ItemAddress, asking: Asking = .person()) throws(KeychainError) -> Item? {
        guard let row = try firstOf(address, Self.wantsItems + asking.query).first else { return nil }
        return try Item(row)
    }

    /// The items that match, without their secrets, in no order that is promised; an empty
    /// list where none does.
    ///
    /// Where guarded items (``Item/isGuarded``) are among them a person is asked, once for
    /// all, unless `asking` says otherwise.
    ///
    /// - Throws: `errSecInteractionNotAllowed` where one of them is locked or nobody can be
    ///   asked, `errSecUserCanceled` and `errSecAuthFailed` where a person did not agree;
    ///   the others are not given then.
    public func items(_ query: ItemQuery, asking: Asking = .person()) throws(KeychainError) -> [Item] {
        let wanted = Self.wantsItems + [("m_Limit", .string("m_LimitAll"))] + asking.query
        return try rows(query.query + wanted, in: searched()).map { row throws(KeychainError) in try Item(row) }
    }

    /// The items that match, each with its secret, in no order that is promised.
    ///
    /// - Throws: as `items(_:asking:)`.
    public func openedItems(_ query: ItemQuery, asking: Asking = .person()) throws(KeychainError) -> [OpenedItem] {
        let wanted = Self.wantsItems + [("r_Data", .bool(true)), ("m_Limit", .string("m_LimitAll"))] + asking.query
        return try rows(query.query + wanted, in: searched()).map { row throws(KeychainError) in
            OpenedItem(item: try Item(row), secret: Secret(row.value ?? SharedSecret(SecretBytes(count: 0))))
        }
    }

    static let wantsItems: [(String, RawValue)] = [
        ("r_Attributes", .bool(true)), ("r_PersistentRef", .bool(true)),
    ]

    /// The item at an address that ``set(_:for:attributes:accessible:)`` would
    /// replace; where there is none, the one of another group of the reach.
    private func firstOf(
        _ address: ItemAddress, _ returns: [(String, RawValue)]
    ) throws(KeychainError) -> [AnswerRow] {
        let query = address.query + returns
        let first = try rows(query, in: written())
        return first.isEmpty && reach == .ownGroups ? try rows(query, in: searched()) : first
    }

    func rows(
        _ query: [(String, RawValue)], in groups: [(String, RawValue)]
    ) throws(KeychainError) -> [AnswerRow] {
        do throws(KeychainError) {
            return try transport().perform(KeychainRequest(.copy, query: QueryDictionary(query + groups))).rows
        } catch {
            if error.status == .itemNotFound { return [] }
            throw error
        }
    }

    private func searched() throws(KeychainError) -> [(String, RawValue)] {
        reach == .ownGroups ? synchronizable : try written()
    }

    private var synchronizable: [(String, RawValue)] { [("sync", .bool(synchronization == .synchronizableOnly))] }

    /// The one group that receives: a change must not reach the same address in
    /// another group.
    func written() throws(KeychainError) -> [(String, RawValue)] {
        switch reach {
        case .group(let group): return synchronizable + [("agrp", .string(group.name))]
        case .ownGroups, .firstGroup:
            guard let first = try transport().session().groups.first else { return synchronizable }
            return synchronizable + [("agrp", .string(first))]
        }
    }

    // MARK: Changing

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
    ///     for a new item, and as it is for one that is there.
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
        let place = try address.query + written()
        var changes = attributes.query + [("v_Data", .secret)]
        if let accessible { changes.append(("pdmn", .string(accessible.rawValue))) }
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

    /// Stores a secret where none is.
    ///
    /// - Throws: `errSecDuplicateItem` where the address is taken.
    public func add(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        accessible: ProtectionClass = .whenUnlocked
    ) throws(KeychainError) {
        let given = attributes.query + [("v_Data", .secret), ("pdmn", .string(accessible.rawValue))]
        guard try add(address.query + written() + given, secret) else {
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
        var changes = attributes.query
        if let accessible { changes.append(("pdmn", .string(accessible.rawValue))) }
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
