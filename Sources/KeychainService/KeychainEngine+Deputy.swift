internal import Enclave
package import KeychainModel
package import KeychainProtocol

/// The state of the keychain in which a person agreed to something: it is another
/// one after a lock, an unlock, any change of the passcode, an attempt that failed,
/// and in another enclave.
package struct DeviceMoment: Hashable, Sendable {
    package let hasPasscode: Bool
    private let enclave: Int32
    private let number: UInt64

    init(_ described: EnclaveDescription) {
        hasPasscode = described.state.hasPasscode
        enclave = described.processID
        number = described.state.number
    }
}

extension KeychainEngine {
    package func moment() throws(KeychainError) -> DeviceMoment {
        DeviceMoment(try enclave.use { enclave throws(KeychainError) in try enclave.describe() })
    }

    /// Makes sure that a person is there, and lets the caller reach the items of every
    /// program. In a context of its own: what a program lets a person agree to in its
    /// words (LAContext) is not this, and no constraint of an item is met by it.
    ///
    /// - Parameter isReusable: whether later calls count on it, as the person is told.
    /// - Throws: ``personNeeded`` where nobody agreed in `context` yet; -25308 where
    ///   the request forbids asking, and while the keychain is locked; what is wrong
    ///   with the request before anybody is asked.
    package func requirePresence(
        for request: KeychainRequest, of authorization: Authorization, isReusable: Bool, in context: CallContext
    ) throws(KeychainError) {
        let purpose: PersonQuestion.Purpose = isReusable ? .deputy : .deputyOnce
        try require(
            NeededAgreement(subject: .policy(.deviceOwner), purpose: purpose),
            mayAsk: try mayAsk(request, authorization.asDeputy), in: context)
    }

    private func mayAsk(_ request: KeychainRequest, _ deputy: Authorization) throws(KeychainError) -> Bool {
        if case .audit(let query) = request.operation { return !query.asksNobody }
        try deputy.checkUnparsed(request)
        let query = try QueryParser.parse(
            request.query, for: request.operation.role, entitlements: deputy.entitlements)
        try query.checkKeys(for: request.operation.role)
        // To leave out items that ask for a person is no word against being asked for all.
        return query.interaction != .failed
    }
}

extension KeychainRequest.Operation {
    /// As the parser calls it; what is no call on items is read as a search.
    fileprivate var role: QueryParser.Role {
        switch self {
        case .add: .add
        case .update: .updateQuery
        case .delete: .delete
        default: .copy
        }
    }
}
