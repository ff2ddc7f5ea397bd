internal import Dispatch

// Each function once more, to await: the call waits on a thread of its own, never
// on one of Swift's cooperative pool. It belongs to the keychain of the task that
// makes it, also in a test. A call that has begun runs to its end when the task is
// cancelled: whether a secret was stored stays known.

extension SecretStore {
    /// The secret at an address, or nil where there is none.
    public func secret(
        for address: ItemAddress, asking: Asking = .person()
    ) async throws(KeychainError) -> Secret? {
        try await elsewhere { store throws(KeychainError) in try store.secret(for: address, asking: asking) }
    }

    /// What is known of the item at an address, or nil where there is none.
    public func item(at address: ItemAddress, asking: Asking = .person()) async throws(KeychainError) -> Item? {
        try await elsewhere { store throws(KeychainError) in try store.item(at: address, asking: asking) }
    }

    /// The items that match, without their secrets.
    public func items(_ query: ItemQuery, asking: Asking = .person()) async throws(KeychainError) -> [Item] {
        try await elsewhere { store throws(KeychainError) in try store.items(query, asking: asking) }
    }

    /// The items that match and can be read now, and the classes that are locked.
    public func unlockedItems(
        _ query: ItemQuery, asking: Asking = .person()
    ) async throws(KeychainError) -> UnlockedItems {
        try await elsewhere { store throws(KeychainError) in try store.unlockedItems(query, asking: asking) }
    }

    /// The items that match, each with its secret.
    public func openedItems(
        _ query: ItemQuery, asking: Asking = .person()
    ) async throws(KeychainError) -> [OpenedItem] {
        try await elsewhere { store throws(KeychainError) in try store.openedItems(query, asking: asking) }
    }

    /// Stores a secret, whether its address is free or taken.
    @discardableResult
    public func set(
        _ secret: Secret, for address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        accessible: ProtectionClass? = nil
    ) async throws(KeychainError) -> SetOutcome {
        try await elsewhere { store throws(KeychainError) in
            try store.set(secret, for: address, attributes: attributes, accessible: accessible)
        }
    }

    /// Stores a secret, whether its address is free or taken, with this protection.
    @discardableResult
    public func set(
        _ secret: Secret, for address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        protection: Protection
    ) async throws(KeychainError) -> SetOutcome {
        try await elsewhere { store throws(KeychainError) in
            try store.set(secret, for: address, attributes: attributes, protection: protection)
        }
    }

    /// Stores a secret where none is.
    public func add(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        accessible: ProtectionClass = .whenUnlocked
    ) async throws(KeychainError) {
        try await elsewhere { store throws(KeychainError) in
            try store.add(secret, at: address, attributes: attributes, accessible: accessible)
        }
    }

    /// Stores a secret where none is, with this protection.
    public func add(
        _ secret: Secret, at address: ItemAddress, attributes: ItemAttributes = ItemAttributes(),
        protection: Protection
    ) async throws(KeychainError) {
        try await elsewhere { store throws(KeychainError) in
            try store.add(secret, at: address, attributes: attributes, protection: protection)
        }
    }

    /// Gives an item other attributes, and leaves its secret alone.
    @discardableResult
    public func change(
        _ address: ItemAddress, to attributes: ItemAttributes, accessible: ProtectionClass? = nil
    ) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in
            try store.change(address, to: attributes, accessible: accessible)
        }
    }

    /// Gives an item this protection and other attributes, and leaves its secret alone.
    @discardableResult
    public func change(
        _ address: ItemAddress, to attributes: ItemAttributes = ItemAttributes(), protection: Protection
    ) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in
            try store.change(address, to: attributes, protection: protection)
        }
    }

    /// Gives an item another address, and leaves its secret and attributes alone.
    @discardableResult
    public func move(_ address: ItemAddress, to new: ItemAddress) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in try store.move(address, to: new) }
    }

    /// Removes an item, also while its class is locked; nobody is asked.
    @discardableResult
    public func remove(_ address: ItemAddress) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in try store.remove(address) }
    }

    /// Removes the item that a search found, and no other.
    @discardableResult
    public func remove(_ item: Item) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in try store.remove(item) }
    }

    /// Removes every item that matches.
    @discardableResult
    public func removeAll(_ query: ItemQuery) async throws(KeychainError) -> Bool {
        try await elsewhere { store throws(KeychainError) in try store.removeAll(query) }
    }

    /// Where the keychain's history stands now.
    public func changePosition() async throws(KeychainError) -> ChangePosition {
        try await elsewhere { store throws(KeychainError) in try store.changePosition() }
    }

    private static let queue = DispatchQueue(label: "latchkey.keychain", attributes: .concurrent)

    private func elsewhere<R: Sendable>(
        _ call: @escaping @Sendable (SecretStore) throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        let store = try carryingKeychain()
        return try await Self.onAnotherThread { () throws(KeychainError) in try call(store) }
    }

    static func onAnotherThread<R: Sendable, E: Error>(
        _ call: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(E) in try call() }) }
        }
        return try result.get()
    }
}
