internal import Enclave
package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// Several adds in one commit and one exchange with the enclave; each succeeds
    /// or fails by itself.
    ///
    /// - Returns: of each item why it was not added, nil where it was, once all that
    ///   were are durable.
    /// - Throws: where nothing could be written at all; then nothing was.
    package func addItems(
        _ items: [NewItem], for authorization: Authorization
    ) throws(KeychainError) -> [KeychainError?] {
        try refuseIfMalformed()
        do throws(KeychainError) {
            return try withNewestKeys { () throws(KeychainError) in try addTogether(items, authorization) }
        } catch {
            let error = noteMalformation(error)
            guard items.count > 1, error.isOneItems else { throw error }
        }
        // Nothing was added. Which of them it was shows where each is alone.
        var outcomes: [KeychainError?] = []
        for item in items {
            do throws(KeychainError) { outcomes.append(try addTogether([item], authorization)[0]) } catch {
                guard error.isOneItems else { throw error }
                outcomes.append(error)
            }
        }
        return outcomes
    }

    private func addTogether(
        _ items: [NewItem], _ authorization: Authorization
    ) throws(KeychainError) -> [KeychainError?] {
        try calls.during { () throws(KeychainError) in try addCounted(items, authorization) }
    }

    private func addCounted(
        _ items: [NewItem], _ authorization: Authorization
    ) throws(KeychainError) -> [KeychainError?] {
        try brake.refuseIfOn()
        let drafts = try items.map { item throws(KeychainError) in
            Result { () throws(KeychainError) in try draft(item, authorization) }
        }
        let rows = try maker.seal(drafts)
        return try change { [self] transaction, seen throws(KeychainError) in
            try rows.map { row throws(KeychainError) in
                switch row {
                case .failure(let error): return error
                case .success(let row): return try insertOrDuplicate(row, transaction, seen)
                }
            }
        }
    }

    /// What an item is to become, and under which metadata key.
    private func draft(
        _ item: NewItem, _ authorization: Authorization
    ) throws(KeychainError) -> RowMaker.Keyed {
        for (date, key) in [(item.created, "kSecAttrCreationDate"), (item.modified, "kSecAttrModificationDate")] {
            guard date?.isFinite != false else { throw .parameter(.malformed(key: key)) }
        }
        let request = KeychainRequest(.add, query: item.query, value: item.value)
        try authorization.checkUnparsed(request)
        var draft = try draft(for: request, authorization).draft
        if let created = item.created { draft.attributes[.creationDate] = .date(created) }
        if let modified = item.modified { draft.attributes[.modificationDate] = .date(modified) }
        return RowMaker.Keyed(
            draft: draft, key: try keys.forWriting(try protectionClass(of: draft), at: clock.wallClock))
    }

    /// nil: it was added. What is there already is this item's affair alone.
    private func insertOrDuplicate(
        _ row: RowMaker.Sealed, _ transaction: StoreTransaction, _ seen: DamageSeen
    ) throws(KeychainError) -> KeychainError? {
        do throws(KeychainError) {
            _ = try insert(
                row.row, row.draft, under: row.key,
                ConstraintTerms(context: CallContext(), interaction: .failed, reason: ""), transaction, seen)
            return nil
        } catch {
            guard error.status == .duplicateItem else { throw error }
            return error
        }
    }
}

extension RowMaker {
    /// An item to be sealed.
    struct Keyed: Sendable {
        let draft: ItemDraft
        let key: MetadataKey
    }

    /// The same, sealed.
    struct Sealed: Sendable {
        let draft: ItemDraft
        let key: MetadataKey
        let row: RowToStore
    }

    /// Rows with fresh seals; one exchange with the enclave makes all row keys.
    ///
    /// - Throws: where the enclave cannot be asked. Anything else is one item's affair.
    func seal(
        _ items: [Result<Keyed, KeychainError>]
    ) throws(KeychainError) -> [Result<Sealed, KeychainError>] {
        var bindings: [RowBinding] = []
        for case .success(let item) in items where item.draft.hasSecret { bindings.append(try binding(item.draft)) }
        let wanted = bindings
        var outcomes = ArraySlice(
            wanted.isEmpty
                ? []
                : try enclave.use { enclave throws(KeychainError) in try enclave.makeRowKeys(for: wanted, in: nil) })
        return items.map { item in
            item.flatMap { item in
                let outcome = item.draft.hasSecret ? outcomes.popFirst() : nil
                return Result { () throws(KeychainError) in
                    Sealed(draft: item.draft, key: item.key, row: try seal(item.draft, under: item.key, with: outcome))
                }
            }
        }
    }
}

extension KeychainError {
    /// Whether it speaks of one item, not of the store.
    fileprivate var isOneItems: Bool {
        switch status {
        case .interactionNotAllowed, .authFailed, .unimplemented, .dataTooLarge, .param: true
        default: false
        }
    }
}
