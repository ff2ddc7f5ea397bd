internal import KeychainModel
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity

extension AuditBook {
    /// Who values are recorded to be handed to; nil where no record is kept.
    func recipient(of connection: ClientConnection) -> AuditParty? { isKept ? party(of: connection) : nil }

    /// Who a connection is, for the record.
    private func party(of connection: ClientConnection) -> AuditParty {
        AuditParty(
            program: connection.identity.name, process: connection.peer.processID,
            strength: connection.identity.strength, isContained: connection.identity.mayBeContained, sink: self)
    }

    /// How a call ended: what changed something, and what was refused because of who
    /// called, or because nobody agreed. A value that was read has lines of its own.
    func ended(_ call: KeychainRequest, of connection: ClientConnection, _ failure: KeychainError?) {
        guard let event = call.operation.auditEvent, failure.map(\.isAudited) ?? call.operation.isAuditedWhenDone
        else { return }
        let names = failure == nil && call.operation == .addItems ? nil : call.auditNames
        note(event) { record in
            record.take(party(of: connection))
            record.served = call.served
            record.inPersonsName = call.behalf == .person
            record.itemClass = names?.itemClass
            record.group = call.auditText("agrp")
            if call.operation == .addItems { record.count = UInt64(call.items.count) }
            if let names, let name = names.name {
                record.name = digest(names.itemClass, name, nil)
                if let account = names.account { record.item = digest(names.itemClass, name, account) }
            }
            if let failure { record.refusal = .init(status: failure.status, reason: failure.reason.forRecord) }
        }
    }

    /// A connection that was not let in, or ended because of who spoke on it.
    ///
    /// - Parameter connection: nil: nobody was looked at.
    func refused(_ connection: ClientConnection?, _ error: KeychainError) {
        note(.connect) { record in
            if let connection { record.take(party(of: connection)) }
            record.refusal = .init(status: error.status, reason: error.reason.forRecord)
        }
    }
}

extension KeychainRequest {
    fileprivate struct Names {
        let itemClass: ItemClass
        let name: String?
        let account: String?

        init(itemClass: ItemClass, name: String?, account: String?) {
            (self.itemClass, self.name, self.account) = (itemClass, name, account)
        }

        init(of search: ItemSearch) {
            itemClass = search.itemClass
            guard case .all(_, let attributes, _) = search.subject else {
                (name, account) = (nil, nil)
                return
            }
            name = attributes[AuditNames.nameCode(of: itemClass)]?.string
            account = attributes[.account]?.string
        }
    }

    fileprivate func auditText(_ key: String) -> String? {
        var query = query
        // Of several searches the first stands for all: they are for one purpose.
        if case .copyEach(let searches) = operation, let first = searches.first { query = first }
        return if case .string(let text) = query[key] { text } else { nil }
    }

    /// What a query says of the items that it is about; a search by anything else is
    /// about none by name.
    fileprivate var auditNames: Names? {
        if case .searchEach(let searches) = operation { return searches.first.map { Names(of: $0) } }
        guard let itemClass = auditText("class").flatMap(ItemClass.init(rawValue:)) else { return nil }
        return Names(
            itemClass: itemClass, name: auditText("\(AuditNames.nameCode(of: itemClass))"),
            account: auditText("acct"))
    }
}

extension KeychainRequest.Operation {
    fileprivate var auditEvent: AuditRecord.Event? {
        switch self {
        case .copy, .copyEach, .searchEach: .search
        case .add, .addItems: .add
        case .update: .update
        case .delete, .deleteGroups: .delete
        case .evaluate: .agree
        case .doctor(.salvage), .doctor(.acceptDamage): .repair
        case .audit: .audit
        case .status, .device, .awaitDevice, .means, .setApplicationPassword, .doctor, .census, .changePosition,
            .changes:
            nil
        }
    }

    /// A search that was answered changed nothing, and what it handed out is recorded item by item.
    fileprivate var isAuditedWhenDone: Bool {
        switch self {
        case .copy, .copyEach, .searchEach: false
        default: true
        }
    }
}

extension KeychainError {
    /// Whether it says that somebody was kept from something, and not that there was
    /// nothing, or that something was wrong.
    fileprivate var isAudited: Bool {
        switch status {
        case .missingEntitlement, .authFailed, .interactionNotAllowed, .userCanceled, .restrictedAPI: true
        default: reason == .keychainDenied
        }
    }
}

extension Reason {
    /// Others' words in it are bounded.
    fileprivate var forRecord: Reason {
        let (code, arguments) = wireForm
        return Reason(code: code, arguments: arguments.prefix(4).map { String($0.prefix(128)) })
    }
}
