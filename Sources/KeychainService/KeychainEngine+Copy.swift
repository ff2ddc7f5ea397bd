internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// What became of one row's secret.
enum OpenedSecret {
    case payload(value: SharedSecret?, extras: AttributeMap)
    case locked(ProtectionClass)
    case effaced
    case needsAuthentication
    case wrongApplicationPassword
    case damaged(StoreTransaction.DamageCause)
}

/// A row and what its metadata say once they are opened. By reference: a row is handed on from the
/// search to the enclave and into the answer, and each copy of its nine fields would be counted.
final class Candidate: Sendable {
    let row: SealedRow
    let metadata: ItemMetadata

    init(_ row: SealedRow, _ metadata: ItemMetadata) {
        self.row = row
        self.metadata = metadata
    }
}

extension KeychainEngine {
    /// SecItemCopyMatching.
    func copy(
        _ request: KeychainRequest, _ authorization: Authorization, _ progress: SearchProgress,
        _ shape: (AnswerShape) throws(KeychainError) -> Void, _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let query = try QueryParser.parse(request.query, for: .copy, entitlements: authorization.entitlements)
        let authorized = try authorization.authorize(query, for: .copy)
        try query.checkKeys(for: .copy)
        // Identities are a join that comes with certificates and keys.
        guard query.itemClass != .identity else {
            throw KeychainError(.itemNotFound, reason: .notImplemented(what: "the class of identities"))
        }
        guard query.limit.maximum > 0 else { throw KeychainError(.itemNotFound, reason: .nothingMatches) }
        var search = Search(authorized, self, authorization, from: progress)
        try run(&search, shape, emit)
        if search.mayBeHidden, try leadsAgain(to: authorized) {
            search = Search(authorized, self, authorization, from: progress)
            try run(&search, { _ throws(KeychainError) in }, emit)
        }
        guard search.found > 0 else { throw nothingMatches }
    }

    private func run(
        _ search: inout Search, _ shape: (AnswerShape) throws(KeychainError) -> Void,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var running = search
        let outcome: Result<Void, KeychainError> = try store.read { reader throws(KeychainError) in
            do throws(KeychainError) {
                try running.run(reader, shape, emit)
                try running.lookForHidden(reader)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        search = running
        try settle(search.damage)
        try outcome.get()
        try search.requireAgreement()
    }

    /// Sets aside what a search found damaged. What cannot be set aside now (a full disk) is
    /// found again by the next reader; it does not take the readable rows along.
    func settle(_ damage: [DamageReport]) throws(KeychainError) {
        do throws(KeychainError) { try quarantine(damage) } catch {
            noteMalformation(error)
            keys.forget()
        }
    }

    /// What is not there, or may not be there yet, or may be among what was set aside.
    var nothingMatches: KeychainError {
        if mayBringBack.load(ordering: .acquiring) { return lockedSalvage ?? Self.comesBack }
        let isWhole = !lacksItems.load(ordering: .acquiring) && !brake.knowsOpenDamage
        return KeychainError(.itemNotFound, reason: isWhole ? .nothingMatches : .mayBeSetAside)
    }

    static let comesBack = KeychainError(.notAvailable, reason: .stillSalvaging)

    /// What is deleted, or moved away, while items come back could come back itself.
    ///
    /// - Throws: `errSecNotAvailable`, reason `stillSalvaging`, until that is over;
    ///   `errSecInteractionNotAllowed` where it cannot be before somebody unlocks.
    func refuseWhileBringingBack() throws(KeychainError) {
        if mayBringBack.load(ordering: .acquiring) { throw lockedSalvage ?? Self.comesBack }
    }

    /// Opens the secrets of rows in one round trip to the enclave.
    ///
    /// - Parameter context: in which constraints were met.
    func openSecrets(
        _ candidates: [Candidate], _ itemClass: ItemClass, _ context: CallContext? = nil
    ) throws(KeychainError) -> [OpenedSecret] {
        let sealed = candidates.filter { $0.row.secret != nil }
        let outcomes =
            sealed.isEmpty
            ? []
            : try enclave.use { enclave throws(KeychainError) in
                try enclave.openRowKeys(
                    sealed.map { (Self.binding($0), Self.wrapped($0.row)) }, in: context?.session)
            }
        guard outcomes.count == sealed.count else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "the enclave answered for other rows"))
        }
        var next = outcomes.makeIterator()
        var opened: [OpenedSecret] = []
        opened.reserveCapacity(candidates.count)
        for candidate in candidates {
            guard candidate.row.secret != nil, let outcome = next.next() else {
                // The metadata knows whether there was data.
                let isComplete = candidate.metadata.dataCode.isEmpty && candidate.row.wrappedKey == nil
                opened.append(isComplete ? .payload(value: nil, extras: AttributeMap()) : .damaged(.secret))
                continue
            }
            opened.append(try open(candidate, outcome, itemClass))
        }
        return opened
    }

    static func binding(_ candidate: Candidate) -> RowBinding {
        RowBinding(
            uuid: candidate.row.uuid,
            protectionClass: ProtectionClass(rawValue: candidate.row.protection) ?? .whenPasscodeSetThisDeviceOnly,
            accessControl: candidate.metadata.accessControl?.encoded ?? [],
            shown: Self.bindsNames(candidate) ? ShownItem(candidate.metadata.attributes) : nil)
    }

    /// Whether the row key is bound to what a person is shown.
    static func bindsNames(_ candidate: Candidate) -> Bool {
        candidate.row.format >= 3 && candidate.metadata.isConstrained
    }

    static func wrapped(_ row: SealedRow) -> WrappedKey {
        WrappedKey(generation: row.generation, box: row.wrappedKey ?? [])
    }

    /// - Throws: -108 where there is no memory for the value, which is no damage.
    private func open(
        _ candidate: Candidate, _ outcome: KeyOutcome, _ itemClass: ItemClass
    ) throws(KeychainError) -> OpenedSecret {
        switch outcome {
        case .key(let secret, _):
            let bytes: SecretBytes
            do throws(CryptoError) {
                bytes = try sealer.openSecret(
                    of: candidate.row, metadata: candidate.metadata, itemClass, under: SealingKey(secret.bytes.copy()))
            } catch {
                if error == .noMemory { throw .noMemory(for: "the value") }
                return .damaged(.secret)
            }
            guard let payload = try SecretPayload(encoded: bytes) else { return .damaged(.secret) }
            return .payload(value: payload.value, extras: payload.extras)
        case .effaced: return .effaced
        case .locked, .noClassKey:
            return .locked(ProtectionClass(rawValue: candidate.row.protection) ?? .whenPasscodeSetThisDeviceOnly)
        case .needsAuthentication: return .needsAuthentication
        case .wrongApplicationPassword: return .wrongApplicationPassword
        case .damaged: return .damaged(.rowKey)
        }
    }

    /// Moves rows that did not open to `damaged`, where they still are what was
    /// read; a damaged metadata key takes all its rows along as one event.
    func quarantine(_ reports: [DamageReport]) throws(KeychainError) {
        guard !reports.isEmpty, !brake.isOn else { return }
        let moment = clock.wallClock
        let keys = Set(reports.filter { $0.cause == .metadataKey }.compactMap { MetadataKeyName($0.row) })
        let single = reports.filter { $0.cause != .metadataKey }
        guard brake.admit(single.map { .row($0.itemClass, $0.row.rowid) }) else { return try brake.remember() }
        for key in keys {
            try self.keys.replaceDamaged(key.protectionClass, generation: key.generation, at: moment)
        }
        guard !single.isEmpty else { return }
        try store.write { transaction throws(KeychainError) in
            for report in single {
                guard let present = try transaction.reader.row(report.row.rowid, in: report.itemClass),
                    present.metadata == report.row.metadata
                else { continue }
                try transaction.setAside(report.row.rowid, in: report.itemClass, cause: report.cause, at: moment)
            }
        }
    }
}

/// Which metadata key seals a row.
struct MetadataKeyName: Hashable, Sendable {
    let protectionClass: ProtectionClass
    let generation: UInt32

    init?(_ row: SealedRow) {
        guard let named = ProtectionClass(rawValue: row.protection) else { return nil }
        protectionClass = named
        generation = row.metadataGeneration
    }
}

/// One run of SecItemCopyMatching over the rows in the order of their numbers,
/// in batches of at most 256.
struct Search {
    private let authorized: AuthorizedQuery
    private let engine: KeychainEngine
    private let needsSecrets: Bool
    private var batch: [Candidate] = []
    private var batchBytes = 0
    private let terms: ConstraintTerms
    /// Items that somebody has to agree to first.
    private var needing: [(Candidate, KeychainEngine.WrappedRow)] = []
    private var matched = 0
    private(set) var found = 0
    private(set) var damage: [DamageReport] = []
    /// There was neither an item nor a damaged row, and something else leads to a row.
    private(set) var mayBeHidden = false
    private let progress: SearchProgress
    /// Whom values are recorded to be handed to.
    private let party: AuditParty?
    private let isDeputy: Bool

    /// Sealed bytes after which a batch is opened, so that many large values are
    /// not held at once.
    private static let batchLimit = 8 << 20

    /// - Parameter progress: where it begins, and what it notes there.
    init(
        _ authorized: AuthorizedQuery, _ engine: KeychainEngine, _ authorization: Authorization,
        from progress: SearchProgress
    ) {
        terms = authorization.terms(authorized.query)
        party = authorization.party
        isDeputy = authorization.isDeputy
        self.progress = progress
        if let point = progress.point { (matched, found) = (point.matched, point.found) }
        self.authorized = authorized
        self.engine = engine
        needsSecrets = authorized.query.returns.contains(.data)
    }

    mutating func run(
        _ reader: StoreReader, _ shape: (AnswerShape) throws(KeychainError) -> Void,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let selection = Selection(
            authorized, blind: engine.blind, withSecrets: needsSecrets, after: progress.point?.rowid)
        try shape(AnswerShape(returns: authorized.query.returns, many: authorized.query.limit != .one))
        var failure: KeychainError?
        try reader.forEach(selection, withSecrets: needsSecrets) { row throws(KeychainError) in
            do throws(KeychainError) { return try visit(row, reader, emit) } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        try flush(emit)
    }

    /// Behind ``run(_:_:_:)``, on the same reader: most searches that find nothing are for what is not there.
    mutating func lookForHidden(_ reader: StoreReader) throws(KeychainError) {
        guard found == 0, matched == 0, damage.isEmpty, needing.isEmpty,
            let ways = OtherWays(authorized, blind: engine.blind)
        else { return }
        mayBeHidden = try !reader.rows(by: ways).isEmpty
    }

    /// Takes one row; false where enough have been found.
    private mutating func visit(
        _ row: SealedRow, _ reader: StoreReader, _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Bool {
        switch try engine.opener.open(row, authorized.itemClass, reader) {
        case .locked(let protectionClass):
            try flush(emit)
            guard authorized.query.tellsClosed else { throw MetadataKeys.lockedError(protectionClass) }
            try giveClosed(row, emit)
        case .damaged(let cause): report(row, cause)
        case .effaced: return true
        case .item(let metadata):
            // Columns are hints: what the seal says about the item decides.
            guard authorized.accepts(metadata) else {
                report(row, .metadata)
                return true
            }
            matched += 1
            if passesFilters(metadata) { try take(Candidate(row, metadata), reader, emit) }
        }
        // Where a row of the batch turns out damaged, the next one takes its place.
        if matched >= authorized.query.limit.maximum { try flush(emit) }
        return matched < authorized.query.limit.maximum
    }

    /// By its columns alone, which say nothing of what it is.
    private mutating func giveClosed(
        _ row: SealedRow, _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        matched += 1
        found += 1
        progress.reach(SearchProgress.Point(rowid: row.rowid, matched: matched, found: found))
        var closed = AnswerRow(
            itemClass: authorized.itemClass, attributes: AttributeMap(), accessControl: nil,
            persistentReference: PersistentReference(authorized.itemClass, .identifier(row.persistref)).bytes,
            value: nil)
        closed.isClosed = true
        try emit(closed)
    }

    private mutating func report(_ row: SealedRow, _ cause: StoreTransaction.DamageCause) {
        damage.append(DamageReport(itemClass: authorized.itemClass, row: row, cause: cause))
    }

    /// Filters that look at opened items; the limit was counted before them.
    private func passesFilters(_ metadata: ItemMetadata) -> Bool {
        guard let host = authorized.query.hostOrSubdomain else { return true }
        guard let server = metadata.attributes[.server]?.string else { return false }
        let (have, wanted) = (Array(server.utf8), Array(host.utf8))
        return have == wanted
            || have.count > wanted.count && have.suffix(wanted.count + 1) == [UInt8(ascii: ".")] + wanted
    }

    private mutating func take(
        _ candidate: Candidate, _ reader: StoreReader,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        if candidate.metadata.isConstrained, try !mayBeUsed(candidate, reader) { return }
        // Nothing is told of a search that is made again once somebody has agreed.
        guard needing.isEmpty else { return }
        batch.append(candidate)
        batchBytes += candidate.row.secret?.count ?? 0
        if batch.count >= WireLimit.rows || batchBytes >= Self.batchLimit { try flush(emit) }
    }

    /// A constrained item gives nothing away, not even that it is there, to whoever
    /// has not met its constraint (spec section 8).
    private mutating func mayBeUsed(
        _ candidate: Candidate, _ reader: StoreReader
    ) throws(KeychainError) -> Bool {
        guard let row = try engine.wrappedRow(candidate, authorized.itemClass, reader) else { return false }
        switch try engine.open(row, terms.context) {
        case .key: return true
        case .locked, .noClassKey: throw MetadataKeys.lockedError(row.binding.protectionClass)
        case .effaced: matched -= 1
        case .damaged:
            report(candidate.row, .rowKey)
            matched -= 1
        case .wrongApplicationPassword:
            guard authorized.query.interaction == .skipped else { try terms.needApplicationPassword() }
            matched -= 1
        case .needsAuthentication:
            if authorized.query.interaction == .skipped {
                matched -= 1
            } else if needing.count < WireLimit.rows {
                needing.append((candidate, row))
            }
        }
        return false
    }

    /// - Throws: -25308 or ``KeychainEngine/personNeeded`` where the search met items
    ///   that nobody has agreed to yet.
    func requireAgreement() throws(KeychainError) {
        guard !needing.isEmpty else { return }
        try terms.need(KeychainEngine.agreement(to: "od", on: needing.map(\.0), needing.map(\.1)))
    }

    private mutating func flush(_ emit: (AnswerRow) throws(KeychainError) -> Void) throws(KeychainError) {
        guard let last = batch.last?.row.rowid, needing.isEmpty else { return }
        let candidates = batch
        batch = []
        batchBytes = 0
        try tell(candidates, emit)
        progress.reach(SearchProgress.Point(rowid: last, matched: matched, found: found))
    }

    private mutating func tell(
        _ candidates: [Candidate], _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        guard needsSecrets else {
            for candidate in candidates { try give(candidate, nil, AttributeMap(), emit) }
            return
        }
        let secrets = try engine.openSecrets(candidates, authorized.itemClass, terms.context)
        for (candidate, secret) in zip(candidates, secrets) {
            switch secret {
            case .payload(let value, let extras): try give(candidate, value, extras, emit)
            case .locked(let protectionClass): throw MetadataKeys.lockedError(protectionClass)
            // It was met a moment ago: a lock in between took it away.
            case .needsAuthentication:
                throw KeychainError(.interactionNotAllowed, reason: .interactionForbidden)
            case .wrongApplicationPassword: try terms.needApplicationPassword()
            case .effaced: matched -= 1
            case .damaged(let cause):
                report(candidate.row, cause)
                matched -= 1
            }
        }
    }

    private mutating func give(
        _ candidate: Candidate, _ value: SharedSecret?, _ extras: AttributeMap,
        _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        found += 1
        guard !authorized.query.returns.isEmpty else { return }
        try authorized.query.requireNoObject()
        if value != nil || !extras.isEmpty, let party {
            party.sink.released(
                ReleasedItem(
                    itemClass: authorized.itemClass, reference: candidate.row.persistref,
                    protection: candidate.row.protection, attributes: candidate.metadata.attributes),
                to: party, inPersonsName: isDeputy)
        }
        let schema = authorized.query.schema
        var attributes = AttributeMap()
        if authorized.query.returns.showsAttributes {
            attributes.reserve(candidate.metadata.attributes.count)
            for (code, held) in candidate.metadata.attributes.entries
            where authorized.query.shows(code) && schema.has(code, .returned) { attributes.append(code, held) }
            for (code, value) in extras.entries where authorized.query.shows(code) { attributes[code] = value }
        }
        try emit(
            AnswerRow(
                itemClass: authorized.itemClass, attributes: attributes,
                accessControl: authorized.query.returns.showsAttributes && authorized.query.shows(.accessControl)
                    ? KeychainEngine.shownAccessControl(candidate.metadata.accessControl, candidate.row.protection)
                    : nil,
                persistentReference: PersistentReference(
                    authorized.itemClass, .identifier(candidate.row.persistref)
                ).bytes,
                value: value))
    }
}
