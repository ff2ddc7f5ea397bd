internal import KeychainClient
internal import KeychainProtocol

/// What happens to items of a store's groups, by whatever program, from a position on.
///
/// ```swift
/// for try await change in try store.changes() {
///     switch change.event {
///     case .added(let items), .changed(let items), .removed(let items): reload(items.itemClass)
///     case .setAside, .unknown: reloadEverything()
///     }
///     position = change.position      // to go on from after a restart of this program
/// }
/// ```
///
/// A change says class, group and number of items, never which, and no secret. It
/// comes once what it tells of is durable. None is left out: also not where the
/// keychain's daemon ends and starts again, nor those made while the loop's body was
/// busy, and a position that was kept makes a later run of the program go on where
/// this one ended. Where the keychain no longer remembers that far back (16 384
/// changes) the event is ``KeychainChange/Event/unknown``.
///
/// The sequence may be iterated several times, each time from its position; each
/// iteration keeps one connection to the daemon while it waits, of the 64 that a
/// process may have. It ends with the task that iterates (within seconds, where a
/// daemon is just being started), and throws where the keychain cannot be reached for
/// about a minute. It works while items are locked.
///
/// A copy of the store that was put back by other means than `latchkey restore` (a
/// snapshot of the machine) has the same history: what happened in between is not
/// told.
public struct KeychainChanges: AsyncSequence, Sendable {
    /// One call's effect on the items of one class and group.
    public typealias Element = KeychainChange
    /// Why the keychain could not be asked.
    public typealias Failure = KeychainError

    /// Changes after this one are told.
    public let position: ChangePosition
    private let scope: ChangeScope
    private let transport: any KeychainTransport

    init(after position: ChangePosition, in scope: ChangeScope, transport: any KeychainTransport) {
        self.position = position
        self.scope = scope
        self.transport = transport
    }

    /// Begins at ``position``, however often it is called.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(after: position, in: scope, transport)
    }

    /// One way through the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var position: ChangePosition
        private let scope: ChangeScope
        private let transport: any KeychainTransport
        private var told: ArraySlice<KeychainChange> = []

        init(after position: ChangePosition, in scope: ChangeScope, _ transport: any KeychainTransport) {
            self.position = position
            self.scope = scope
            self.transport = transport
        }

        /// The next change, as soon as there is one; nil once the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(KeychainError) -> KeychainChange? {
            if Task.isCancelled { return nil }
            while told.isEmpty {
                let (position, scope, transport) = (position, scope, transport)
                let batch = try await BackgroundWait.result { cancelled throws(KeychainError) in
                    try transport.changes(after: position, in: scope, orUntil: cancelled)
                }
                guard let batch else { return nil }
                told = batch.changes[...]
                self.position = batch.position
            }
            return told.popFirst()
        }

        /// The same, outside of any actor.
        public mutating func next() async throws(KeychainError) -> KeychainChange? {
            try await next(isolation: nil)
        }
    }
}

extension SecretStore {
    /// Where the keychain's history stands now.
    public func changePosition() throws(KeychainError) -> ChangePosition {
        let answer = try transport().perform(KeychainRequest(.changePosition(try observed())))
        guard let batch = answer.changes else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no position came"))
        }
        return batch.position
    }

    /// What happens to items in this store's reach, of every class and synchronizable
    /// or not, after a position.
    ///
    /// - Parameter position: of a change that was told before, or of
    ///   `changePosition()`; nil: from this call on.
    /// - Throws: `errSecMissingEntitlement` for a group that is not this program's.
    public func changes(after position: ChangePosition? = nil) throws(KeychainError) -> KeychainChanges {
        let start = if let position { position } else { try changePosition() }
        return KeychainChanges(after: start, in: try observed(), transport: try transport())
    }

    private func observed() throws(KeychainError) -> ChangeScope {
        switch reach {
        case .group(let group): return .named([group])
        case .firstGroup: return .named(try transport().session().groups.prefix(1).map { AccessGroup($0) })
        case .ownGroups: return .searched
        }
    }
}

@available(*, unavailable)
extension KeychainChanges.AsyncIterator: Sendable {}
