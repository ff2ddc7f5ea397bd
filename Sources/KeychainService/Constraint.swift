internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// Under which conditions a call meets items that somebody has to agree to.
struct ConstraintTerms: Sendable {
    let context: CallContext
    let interaction: Interaction
    /// The program's words for the prompt.
    let reason: String

    /// - Throws: -25308 where nobody may be asked, ``KeychainEngine/personNeeded``
    ///   where somebody has to be.
    func need(_ agreement: NeededAgreement) throws(KeychainError) -> Never {
        guard interaction == .allowed else {
            throw KeychainError(.interactionNotAllowed, reason: .interactionForbidden)
        }
        var agreement = agreement
        agreement.reason = reason
        context.need(agreement)
        throw KeychainEngine.personNeeded
    }

    /// An item's application password is not there, or it is another one.
    ///
    /// - Throws: -25308 where none was brought and nobody may be asked, as for every other
    ///   constraint (spec section 8); else -25293: nothing of ours makes a password up for
    ///   a program (COMPATIBILITY 7c).
    func needApplicationPassword() throws(KeychainError) -> Never {
        guard interaction == .allowed || context.hasApplicationPassword else {
            throw KeychainError(.interactionNotAllowed, reason: .interactionForbidden)
        }
        throw KeychainEngine.wrongApplicationPassword
    }
}

extension ItemMetadata {
    /// Whether anybody has to agree, or a password is asked for.
    var isConstrained: Bool { ShownItem.isBound(to: accessControl) }
}

extension ShownItem {
    init(_ attributes: AttributeMap) {
        let names = [AttributeCode.label, .service, .server, .account].lazy.compactMap { attributes[$0]?.string }
        self.init(label: names.first { !$0.isEmpty } ?? "", group: attributes[.accessGroup]?.string ?? "")
    }

    /// Whether a row with that access control is one that a person may be asked for.
    static func isBound(to access: AccessControl?) -> Bool { access.map { !$0.isUnconstrained } ?? false }
}

extension KeychainEngine {
    typealias WrappedRow = (binding: RowBinding, wrapped: WrappedKey)

    /// What is needed to use items, the first of which a person is shown by name.
    static func agreement(
        to operation: String, on candidates: [Candidate], _ rows: [WrappedRow]
    ) -> NeededAgreement {
        NeededAgreement(
            subject: .rows(rows, operation: operation),
            items: candidates.prefix(PersonQuestion.mostItems).map { ShownItem($0.metadata.attributes) },
            count: candidates.count)
    }

    /// Makes sure that a constrained item may be changed: its value can be opened in
    /// this call's context (spec section 8, "update needs decrypt auth").
    func requireDecryption(
        of candidate: Candidate, _ itemClass: ItemClass, _ terms: ConstraintTerms, _ reader: StoreReader
    ) throws(KeychainError) {
        guard candidate.metadata.isConstrained, let row = try wrappedRow(candidate, itemClass, reader) else { return }
        switch try open(row, terms.context) {
        case .key, .damaged, .effaced: return
        case .locked, .noClassKey: throw MetadataKeys.lockedError(row.binding.protectionClass)
        case .wrongApplicationPassword: try terms.needApplicationPassword()
        case .needsAuthentication: try terms.need(Self.agreement(to: "od", on: [candidate], [row]))
        }
    }

    /// Makes sure that an item with a constraint of its own for it may be deleted.
    func requireDeletion(
        of candidate: Candidate, _ itemClass: ItemClass, _ terms: ConstraintTerms, _ reader: StoreReader
    ) throws(KeychainError) {
        guard let access = candidate.metadata.accessControl, access.constraint(for: "odel") != .allowed,
            let row = try wrappedRow(candidate, itemClass, reader)
        else { return }
        let outcomes = try enclave.use { enclave throws(KeychainError) in
            try enclave.permit("odel", on: [row], in: terms.context.session)
        }
        switch outcomes.first {
        case .wrapped, .damaged, .effaced: return
        case .locked, .noClassKey: throw MetadataKeys.lockedError(row.binding.protectionClass)
        case .needsAuthentication: try terms.need(Self.agreement(to: "odel", on: [candidate], [row]))
        case nil: throw Self.answerForOtherRows
        }
    }

    func open(_ row: WrappedRow, _ context: CallContext) throws(KeychainError) -> KeyOutcome {
        let outcomes = try enclave.use { enclave throws(KeychainError) in
            try enclave.openRowKeys([row], in: context.session)
        }
        guard let outcome = outcomes.first else { throw Self.answerForOtherRows }
        return outcome
    }

    private static let answerForOtherRows = KeychainError(
        .internalComponent, reason: .internalFault(what: "the enclave answered for other rows"))

    /// nil where the row went meanwhile, or has no key at all.
    func wrappedRow(
        _ candidate: Candidate, _ itemClass: ItemClass, _ reader: StoreReader
    ) throws(KeychainError) -> WrappedRow? {
        var row = candidate.row
        if row.wrappedKey == nil {
            guard let whole = try reader.row(row.rowid, in: itemClass), whole.wrappedKey != nil else { return nil }
            row = whole
        }
        return (Self.binding(Candidate(row, candidate.metadata)), Self.wrapped(row))
    }

    static let wrongApplicationPassword = KeychainError(
        .authFailed, reason: .authenticationFailed,
        underlying: "the authentication context has no application password, or another one")

    // MARK: Storing

    /// The access control as it is stored: biometry that has to stay as it is, bound to
    /// what is enrolled now.
    ///
    /// - Throws: -50 for a constraint on a synchronizable item (the test looks for the
    ///   boolean true alone, spec section 6), and for one of no known kind; -25293 for what
    ///   nobody here could meet, and where encrypting itself is denied: nothing could be stored.
    func bound(_ access: AccessControl?, rawSynchronizable: RawValue?) throws(KeychainError) -> AccessControl? {
        guard let access else { return nil }
        if rawSynchronizable == .bool(true), !access.constraints.isEmpty {
            throw .parameter(.notAllowedHere(key: "kSecAttrAccessControl"))
        }
        guard !access.isUnconstrained else { return access }
        guard !access.constraints.values.contains(where: \.isUnsupported) else {
            throw .parameter(.malformed(key: "kSecAttrAccessControl"))
        }
        guard access.constraints["oe"] ?? access.constraints["odef"] != .denied else {
            throw KeychainError(.authFailed, reason: .authenticationFailed)
        }
        var means = try means()
        // What is stored outlasts that.
        means.biometry = means.biometry?.lockedOut(false)
        let bound = means.biometry.map { access.bound(to: $0.enrolment) } ?? access
        for constraint in bound.constraints.values where constraint != .allowed && constraint != .denied {
            if let obstacle = means.obstacle(to: constraint) { throw KeychainError(.authFailed, reason: obstacle) }
        }
        return bound
    }

    /// What an application password is made into.
    func applicationKey(_ password: SharedSecret) throws(KeychainError) -> SharedSecret {
        guard let cost = PassphraseCost(passes: 3, kibibytes: applicationPasswordKibibytes) else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no such cost"))
        }
        do throws(SystemCallError) {
            return SharedSecret(try PassphraseKey.derive(from: password.bytes, salt: storeID, cost: cost))
        } catch {
            throw .noMemory(for: "an application password")
        }
    }
}
