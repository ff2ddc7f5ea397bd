internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// SecItemUpdate: every match or none.
    func update(_ request: KeychainRequest, _ authorization: Authorization) throws(KeychainError) {
        let query = try QueryParser.parse(request.query, for: .updateQuery, entitlements: authorization.entitlements)
        let authorized = try authorization.authorize(query, for: .update)
        let changes = try QueryParser.parseChanges(
            request.changes, of: query.itemClass, entitlements: authorization.entitlements)
        try authorization.checkRawGroup(request.changes, for: .update)
        try query.checkKeys(for: .updateQuery)
        if let group = changes.group { try authorization.check(explicit: group, for: .update) }
        guard query.itemClass != .identity else {
            throw KeychainError(
                query.reference == nil ? .itemNotFound : .internal,
                reason: .notImplemented(what: "the class of identities"))
        }
        let access = try bound(changes.accessControl, rawSynchronizable: request.changes["sync"])
        try brake.refuseIfOn()
        // What matches nothing is not found, whatever it was to become (spec section 7).
        let obstacle = try obstacle(to: changes.targetProtection)
        let revision = Revision(
            changes.replacing(access), value: request.value, tombstones: query.tombstones, at: clock.wallClock,
            authorization.terms(query), self)
        let prepared = obstacle == nil ? try prepare(revision, authorized) : PreparedRows()
        func revise() throws(KeychainError) -> Int {
            try change { [self] transaction, seen throws(KeychainError) in
                try self.revise(authorized, revision, prepared, obstacle, transaction, seen)
            }
        }
        var count = try revise()
        if count == 0, try leadsAgain(to: authorized) { count = try revise() }
        guard count > 0 else { throw nothingMatches }
    }

    /// Why no item can be sealed under that class now; nil: it can.
    private func obstacle(to target: ProtectionClass?) throws(KeychainError) -> KeychainError? {
        guard let target else { return nil }
        do throws(KeychainError) {
            _ = try keys.forWriting(target, at: clock.wallClock)
            return nil
        } catch {
            if error.isOfEnclave { throw error }
            return error
        }
    }

    private func revise(
        _ authorized: AuthorizedQuery, _ revision: Revision, _ prepared: PreparedRows, _ obstacle: KeychainError?,
        _ transaction: StoreTransaction, _ seen: DamageSeen
    ) throws(KeychainError) -> Int {
        // Without secrets: they are fetched row by row, where a change needs them.
        let selection = Selection(authorized, blind: blind, withSecrets: false)
        var count = 0
        for row in try transaction.reader.rows(selection, withSecrets: false) {
            switch try opener.open(row, authorized.itemClass, transaction.reader) {
            case .locked(let protectionClass): throw MetadataKeys.lockedError(protectionClass)
            case .effaced: continue
            case .damaged(let cause):
                try seen.setAside(row, in: authorized.itemClass, cause: cause, transaction)
            case .item(let metadata):
                guard authorized.accepts(metadata) else {
                    try seen.setAside(row, in: authorized.itemClass, cause: .metadata, transaction)
                    continue
                }
                if let obstacle { throw obstacle }
                if try revision.apply(to: Candidate(row, metadata), authorized.itemClass, prepared, transaction, seen) {
                    count += 1
                }
            }
        }
        return count
    }
}

extension ItemChanges {
    /// With the access control as it is stored.
    func replacing(_ access: AccessControl?) -> ItemChanges {
        var other = self
        other.accessControl = access
        return other
    }

    /// The class under which the item is to be sealed from now on, where that changes.
    var targetProtection: ProtectionClass? {
        (accessControl?.protection ?? attributes[.accessible]?.string).flatMap(ProtectionClass.init)
    }
}

/// One SecItemUpdate, applied to row after row.
struct Revision: Sendable {
    private let changes: ItemChanges
    private let value: SharedSecret?
    /// kSecUseTombstones; nil: a synchronizable item leaves one.
    private let tombstones: Bool?
    let moment: Double
    private let terms: ConstraintTerms
    private let engine: KeychainEngine

    init(
        _ changes: ItemChanges, value: SharedSecret?, tombstones: Bool?, at moment: Double,
        _ terms: ConstraintTerms, _ engine: KeychainEngine
    ) {
        self.terms = terms
        self.changes = changes
        self.value = value
        self.tombstones = tombstones
        self.moment = moment
        self.engine = engine
    }

    /// Whether a secret may have to be opened and sealed anew: the label of a constrained
    /// item, say, but no comment.
    func mayNeedNewSecret(in itemClass: ItemClass) -> Bool {
        let schema = Schema.of(itemClass)
        return changes.hasValueData || changes.group != nil || changes.synchronizable != nil
            || changes.targetProtection != nil || changes.attributes[.label] != nil
            || changes.attributes.entries.contains { code, _ in
                guard let attribute = schema[code] else { return false }
                return attribute.isPrimaryKey || attribute.traits.contains(.secret) || code == .tombstone
            }
    }

    /// False where the row's secret turned out damaged (it is set aside then).
    func apply(
        to candidate: Candidate, _ itemClass: ItemClass, _ prepared: PreparedRows,
        _ transaction: StoreTransaction, _ seen: DamageSeen
    ) throws(KeychainError) -> Bool {
        try engine.requireDecryption(of: candidate, itemClass, terms, transaction.reader)
        let plan = try plan(for: candidate, itemClass)
        if let primaryKey = plan.newPrimaryKey {
            try engine.refuseWhileBringingBack()
            try clearTheWay(to: primaryKey, for: plan.draft, from: candidate.row, transaction, seen)
            try engine.takePlace(of: primaryKey, in: itemClass, transaction)
        }
        let key = try engine.keys.forWritingNow(try engine.protectionClass(of: plan.draft), transaction.reader)
        if plan.needsNewSecret || candidate.row.metadataGeneration != key.generation {
            let outcome: Replacement
            if let known = prepared.outcome(for: candidate.row, under: key) {
                outcome = try known.get()
            } else {
                outcome = try replacement(of: candidate, by: plan, under: key, transaction.reader)
            }
            switch outcome {
            case .row(let stored):
                if plan.newPrimaryKey != nil {
                    try engine.refuseBesideHidden(stored, itemClass, transaction, seen)
                }
                try transaction.replace(stored, in: itemClass)
            case .gone: return false
            case .damaged(let cause):
                try seen.setAside(candidate.row, in: itemClass, cause: cause, transaction)
                return false
            }
        } else {
            try plan.draft.checkSize()
            let stored = engine.maker.resealMetadata(
                of: candidate.row, sealID: candidate.metadata.sealID, plan.draft, under: key)
            if plan.newPrimaryKey != nil { try engine.refuseBesideHidden(stored, itemClass, transaction, seen) }
            try transaction.replaceMetadata(stored, in: itemClass)
        }
        if plan.leavesTombstone { try leaveTombstone(of: candidate, itemClass, transaction) }
        return true
    }

    /// What is to become of a row, without its secret.
    struct Plan {
        let draft: ItemDraft
        /// Where the item moves to another primary key.
        let newPrimaryKey: [UInt8]?
        let leavesTombstone: Bool
        let needsNewSecret: Bool
    }

    func plan(for candidate: Candidate, _ itemClass: ItemClass) throws(KeychainError) -> Plan {
        var draft = ItemDraft(
            itemClass: itemClass, uuid: candidate.row.uuid, persistref: candidate.row.persistref,
            attributes: candidate.metadata.attributes, accessControl: candidate.metadata.accessControl,
            extras: AttributeMap(), value: nil, dataCode: candidate.metadata.dataCode)
        changeAttributes(of: &draft)
        let primaryKey = engine.blind.primaryKey(of: draft.attributes, in: itemClass)
        let movesKey = primaryKey != engine.blind.primaryKey(of: candidate.metadata.attributes, in: itemClass)
        // The tombstone of the old key keeps the uuid.
        let leavesTombstone =
            movesKey && !candidate.row.isTombstone && (tombstones ?? candidate.row.isSynchronizable)
        if leavesTombstone { draft.uuid = Random.bytes(16) }
        return Plan(
            draft: draft, newPrimaryKey: movesKey ? primaryKey : nil, leavesTombstone: leavesTombstone,
            needsNewSecret: needsNewSecret(draft, candidate))
    }

    /// The row with its secret opened and both seals made anew.
    func replacement(
        of candidate: Candidate, by plan: Plan, under key: MetadataKey, _ reader: StoreReader
    ) throws(KeychainError) -> Replacement {
        var draft = plan.draft
        guard let whole = try reader.row(candidate.row.rowid, in: draft.itemClass) else { return .gone }
        let present = Candidate(whole, candidate.metadata)
        switch try engine.openSecrets([present], draft.itemClass, terms.context)[0] {
        case .payload(let held, let extras): putSecret(held, extras, into: &draft)
        case .locked(let protectionClass): throw MetadataKeys.lockedError(protectionClass)
        case .needsAuthentication:
            let row = (binding: KeychainEngine.binding(present), wrapped: KeychainEngine.wrapped(whole))
            try terms.need(KeychainEngine.agreement(to: "od", on: [candidate], [row]))
        case .wrongApplicationPassword: try terms.needApplicationPassword()
        case .effaced: return .gone
        case .damaged(let cause): return .damaged(cause)
        }
        try draft.checkSize()
        var stored = try engine.maker.seal(draft, under: key, terms.context)
        stored.row.rowid = candidate.row.rowid
        return .row(stored)
    }

    private func changeAttributes(of draft: inout ItemDraft) {
        let schema = Schema.of(draft.itemClass)
        let old = draft.attributes[.modificationDate]
        for (code, value) in changes.attributes.entries {
            guard let attribute = schema[code], !attribute.traits.contains(.updateIgnored),
                !attribute.traits.contains(.secret), code != .uuid, code != .sha1
            else { continue }
            draft.attributes[code] = value
        }
        if let group = changes.group { draft.attributes[.accessGroup] = .string(group.name) }
        if let on = changes.synchronizable { draft.attributes[.synchronizable] = .integer(on ? 1 : 0) }
        changeProtection(of: &draft)
        draft.attributes[.modificationDate] = .date(laterThan(old))
    }

    private func changeProtection(of draft: inout ItemDraft) {
        if let access = changes.accessControl {
            draft.accessControl = access
            draft.attributes[.accessible] = .string(access.protection)
        } else if let protection = changes.attributes[.accessible]?.string, draft.accessControl != nil {
            draft.accessControl = AccessControl(
                protection: protection, constraints: draft.accessControl?.constraints ?? [:],
                requiresApplicationPassword: draft.accessControl?.requiresApplicationPassword ?? false)
        }
    }

    /// Now, and in any case later than before (spec section 2).
    private func laterThan(_ old: AttributeValue?) -> Double {
        guard case .date(let before) = old, moment <= before else { return moment }
        // Of a date so far away that a thousandth is nothing, the next that there is.
        return max(before + 0.001, before.nextUp)
    }

    /// The secret's seal is bound to these; a change of any is a new key and seal.
    private func needsNewSecret(_ draft: ItemDraft, _ candidate: Candidate) -> Bool {
        let hasExtras = changes.attributes.entries.contains {
            Schema.of(draft.itemClass)[$0.code]?.traits.contains(.secret) == true
        }
        return changes.hasValueData || hasExtras || draft.uuid != candidate.row.uuid
            || draft.protection != candidate.row.protection
            || draft.isSynchronizable != candidate.row.isSynchronizable
            || draft.isTombstone != candidate.row.isTombstone
            || draft.attributes[.accessGroup] != candidate.metadata.attributes[.accessGroup]
            || draft.accessControl != candidate.metadata.accessControl
            || candidate.metadata.isConstrained && needsNewName(draft, candidate)
    }

    /// Whether a person is shown another name, or one that the row key is not bound to.
    private func needsNewName(_ draft: ItemDraft, _ candidate: Candidate) -> Bool {
        !KeychainEngine.bindsNames(candidate)
            || ShownItem(draft.attributes) != ShownItem(candidate.metadata.attributes)
    }

    private func putSecret(_ held: SharedSecret?, _ heldExtras: AttributeMap, into draft: inout ItemDraft) {
        var extras = heldExtras
        extras.merge(KeychainEngine.separated(changes.attributes, Schema.of(draft.itemClass)).extras)
        draft.extras = extras
        draft.value = changes.hasValueData ? value : held
        if changes.hasValueData { draft.dataCode = value.map { engine.blind.dataCode($0.bytes) } ?? [] }
    }

    /// A collision with a living item is an error; damaged rows and tombstones
    /// give way.
    private func clearTheWay(
        to primaryKey: [UInt8], for draft: ItemDraft, from row: SealedRow, _ transaction: StoreTransaction,
        _ seen: DamageSeen
    ) throws(KeychainError) {
        guard let present = try transaction.reader.row(withPrimaryKey: primaryKey, in: draft.itemClass),
            present.rowid != row.rowid
        else { return }
        switch try engine.opener.open(present, draft.itemClass, transaction.reader) {
        case .locked(let protectionClass): throw MetadataKeys.lockedError(protectionClass)
        case .effaced: try transaction.delete(present.rowid, in: draft.itemClass)
        case .damaged(let cause):
            try seen.setAside(present, in: draft.itemClass, cause: cause, transaction)
        case .item(let metadata):
            if present.isTombstone { return try transaction.delete(present.rowid, in: draft.itemClass) }
            if case .damaged(let cause) = try engine.openSecrets([Candidate(present, metadata)], draft.itemClass)[0] {
                return try seen.setAside(present, in: draft.itemClass, cause: cause, transaction)
            }
            throw KeychainError(.duplicateItem, reason: .duplicate)
        }
    }

    private func leaveTombstone(
        of candidate: Candidate, _ itemClass: ItemClass, _ transaction: StoreTransaction
    ) throws(KeychainError) {
        let draft = Tombstone.draft(of: candidate, itemClass)
        let key = try engine.keys.forWritingNow(try engine.protectionClass(of: draft), transaction.reader)
        _ = try transaction.insert(try engine.maker.seal(draft, under: key), in: itemClass)
    }
}

/// What stays of a synchronizable item that was deleted (spec section 6).
enum Tombstone {
    /// Primary-key attributes, uuid, creation date and class; no data, and a
    /// reference of its own.
    static func draft(of candidate: Candidate, _ itemClass: ItemClass) -> ItemDraft {
        let schema = Schema.of(itemClass)
        var attributes = AttributeMap()
        for (code, value) in candidate.metadata.attributes.entries
        where schema.has(code, .keptByTombstone) { attributes.append(code, value) }
        attributes[.tombstone] = .integer(1)
        return ItemDraft(
            itemClass: itemClass, uuid: candidate.row.uuid, persistref: Random.bytes(16), attributes: attributes,
            accessControl: nil, extras: AttributeMap(), value: nil, dataCode: [])
    }
}
