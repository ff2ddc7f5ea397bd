internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// SecItemDelete: also where the class is locked, by its columns alone (it
    /// reveals nothing and leaves no tombstone then).
    func delete(_ request: KeychainRequest, _ authorization: Authorization) throws(KeychainError) {
        let query = try QueryParser.parse(request.query, for: .delete, entitlements: authorization.entitlements)
        let authorized = try authorization.authorize(query, for: .delete)
        try query.checkKeys(for: .delete)
        guard query.itemClass != .identity else {
            throw KeychainError(.itemNotFound, reason: .notImplemented(what: "the class of identities"))
        }
        try refuseWhileBringingBack()
        let terms = authorization.terms(query)
        func remove() throws(KeychainError) -> Int {
            try change { [self] transaction, seen throws(KeychainError) in
                try self.remove(authorized, terms, transaction, seen)
            }
        }
        var count = try remove()
        if count == 0, try leadsAgain(to: authorized) { count = try remove() }
        guard count > 0 else { throw nothingMatches }
    }

    private func remove(
        _ authorized: AuthorizedQuery, _ terms: ConstraintTerms?, _ transaction: StoreTransaction,
        _ seen: DamageSeen
    ) throws(KeychainError) -> Int {
        let selection = Selection(authorized, blind: blind, withSecrets: false)
        var count = 0
        for row in try transaction.reader.rows(selection, withSecrets: false) {
            if count >= authorized.query.limit.maximum { break }
            switch try opener.open(row, authorized.itemClass, transaction.reader) {
            case .locked: try transaction.delete(row.rowid, in: authorized.itemClass)
            case .effaced:
                try transaction.delete(row.rowid, in: authorized.itemClass)
                continue
            case .damaged(let cause):
                try seen.setAside(row, in: authorized.itemClass, cause: cause, transaction)
            case .item(let metadata):
                guard authorized.accepts(metadata) else {
                    try seen.setAside(row, in: authorized.itemClass, cause: .metadata, transaction)
                    continue
                }
                let candidate = Candidate(row, metadata)
                if let terms {
                    try requireDeletion(of: candidate, authorized.itemClass, terms, transaction.reader)
                }
                try remove(candidate, authorized, transaction)
            }
            count += 1
        }
        return count
    }

    private func remove(
        _ candidate: Candidate, _ authorized: AuthorizedQuery, _ transaction: StoreTransaction
    ) throws(KeychainError) {
        let query = authorized.query
        let isSynced = candidate.row.isSynchronizable && !candidate.row.isTombstone
        try transaction.delete(candidate.row.rowid, in: authorized.itemClass)
        guard query.tombstones ?? isSynced else { return }
        let draft = Tombstone.draft(of: candidate, authorized.itemClass)
        let key = try keys.forWritingNow(try protectionClass(of: draft), transaction.reader)
        _ = try transaction.insert(try maker.seal(draft, under: key), in: authorized.itemClass)
    }

    /// SecItemDeleteAllWithAccessGroups: a privileged purge of whole groups.
    func deleteGroups(_ names: [String], _ authorization: Authorization) throws(KeychainError) {
        if authorization.entitlements.grants("keychain-deny") {
            throw KeychainError(.notAvailable, reason: .keychainDenied)
        }
        let entitlement = "com.apple.private.uninstall.deletion"
        guard authorization.entitlements.grants(entitlement) else {
            throw KeychainError(.missingEntitlement, reason: .entitlementMissing(name: entitlement))
        }
        try refuseWhileBringingBack()
        try change { [self] transaction, seen throws(KeychainError) in
            for itemClass in ItemClass.stored {
                let authorized = AuthorizedQuery(
                    Query(everythingIn: itemClass), reach: .only(names.map { AccessGroup($0) }))
                // A privileged purge asks nobody.
                _ = try remove(authorized, nil, transaction, seen)
            }
        }
    }
}
