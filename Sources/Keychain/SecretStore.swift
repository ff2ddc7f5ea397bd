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
/// Guarded items (``Protection/guarded(by:accessible:)``, ``Item/isGuarded``) have a person
/// asked, also where no more than their attributes are read.
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

    /// The items that match and can be read now, and the classes whose items cannot, because
    /// they are locked: what `items(_:asking:)` makes an error of.
    ///
    /// While something is locked the classes are asked for one after another, and a person once
    /// for each that has guarded items: of an item that another program moves into another
    /// class meanwhile, the answer may know nothing.
    ///
    /// - Throws: as `items(_:asking:)`, but for locked items.
    public func unlockedItems(_ query: ItemQuery, asking: Asking = .person()) throws(KeychainError) -> UnlockedItems {
        do throws(KeychainError) {
            return UnlockedItems(items: try items(query, asking: asking), locked: [])
        } catch {
            guard case .locked = error.reason else { throw error }
        }
        var found = UnlockedItems(items: [], locked: [])
        for accessible in query.accessible.map({ [$0] }) ?? ProtectionClass.allCases {
            var part = query
            part.accessible = accessible
            do throws(KeychainError) {
                // One that was moved in between is there once.
                let known = Set(found.items.map(\.reference))
                found.items += try items(part, asking: asking).filter { !known.contains($0.reference) }
            } catch {
                guard case .locked = error.reason else { throw error }
                found.locked.insert(accessible)
            }
        }
        return found
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

    func searched() throws(KeychainError) -> [(String, RawValue)] {
        reach == .ownGroups ? synchronizable : try written()
    }

    var synchronizable: [(String, RawValue)] { [("sync", .bool(synchronization == .synchronizableOnly))] }

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
}
