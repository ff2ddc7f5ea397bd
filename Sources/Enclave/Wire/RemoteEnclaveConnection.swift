internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform

/// One connection to the enclave process.
///
/// Any fault (no answer in 4 s, an answer that is not exactly of the form asked
/// for, a closed socket) ends it: that call and every later one throws
/// `errSecNotAvailable`, reason `enclaveUnreachable` (`enclaveSilent` for the
/// call whose time ran out).
final class RemoteEnclaveConnection: EnclaveConnection {
    let storeID: [UInt8]
    let indexKey: SharedSecret
    let exchange: EnclaveExchange

    /// Opens the store.
    init(_ exchange: EnclaveExchange, expecting expected: ExpectedStore) throws(KeychainError) {
        var open = Latchkey_EnclaveRequest.OpenStore()
        open.protocol = EnclaveProtocol.version
        open.storeID = Data(expected.wireForm)
        let reply = try exchange.ask(.open(open))
        guard let store = StoreID(Array(reply.header.storeID)), expected.accepts(store),
            reply.tail.count == EnclaveProtocol.keyByteCount, reply.header.results.isEmpty
        else { throw exchange.fault("an answer of the wrong form") }
        storeID = store.bytes
        indexKey = SharedSecret(reply.tail.copy())
        self.exchange = exchange
    }

    func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        try inParts(rows) { part throws(KeychainError) in
            if let plain = WrapFields.Request(rows: part, session: session?.bytes ?? []) {
                let reply = try exchange.askPlainly(for: WrapFields.Answer.self) { plain.encoded(as: $0) }
                let results = reply.answer.results
                guard let outcomes = EnclaveResults.parse(results, reply.tail, count: part.count, { _ in nil })
                else { throw exchange.fault("an answer of the wrong form") }
                return outcomes
            }
            var request = Latchkey_EnclaveRequest.WrapKeys()
            request.rows = part.map(\.message)
            request.session = Data(session?.bytes ?? [])
            return try self.results(of: .wrap(request), count: part.count, wrapped: { _ in nil })
        }
    }

    func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        try inParts(rows) { part throws(KeychainError) in
            let (packed, session) = (PackedRows.encode(part), session?.bytes ?? [])
            let reply = try exchange.askPlainly(for: UnwrapFields.Answer.self) {
                UnwrapFields.Request(number: $0, packed: packed, session: session).encoded
            }
            guard let outcomes = EnclaveResults.parse(outcomes: reply.answer.outcomes, reply.tail, of: part)
            else { throw exchange.fault("an answer of the wrong form") }
            return outcomes
        }
    }

    func makeMetadataKey(for protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome {
        var request = Latchkey_EnclaveRequest.WrapMetadataKey()
        request.classNumber = UInt32(protectionClass.number)
        return try results(of: .wrapMetadataKey(request), count: 1, wrapped: { _ in nil })[0]
    }

    func openMetadataKey(
        _ wrapped: WrappedKey, of protectionClass: ProtectionClass
    ) throws(KeychainError) -> KeyOutcome {
        var request = Latchkey_EnclaveRequest.UnwrapMetadataKey()
        request.classNumber = UInt32(protectionClass.number)
        request.generation = wrapped.generation
        request.wrapped = Data(wrapped.box)
        return try results(of: .unwrapMetadataKey(request), count: 1, wrapped: { _ in wrapped })[0]
    }

    func describe() throws(KeychainError) -> EnclaveDescription {
        let reply = try exchange.ask(.describe(true))
        guard reply.header.hasDescription_p, reply.tail.count == 0 else {
            throw exchange.fault("an answer of the wrong form")
        }
        guard let described = EnclaveDescription(reply.header.description_p, process: reply.header.process) else {
            throw exchange.fault("an answer of the wrong form")
        }
        return described
    }

    func rewrapRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)]
    ) throws(KeychainError) -> [RewrapOutcome] {
        try inBatches(rows) { .rewrap($0) }
    }

    func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [RewrapOutcome] {
        try inBatches(rows) { packed in
            var request = Latchkey_EnclaveRequest.Permit()
            request.rows = packed
            request.rows.session = Data(session?.bytes ?? [])
            request.operation = operation
            return .permit(request)
        }
    }

    private func inBatches(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)],
        _ request: (Latchkey_EnclaveRequest.UnwrapKeys) -> Latchkey_EnclaveRequest.OneOf_Request
    ) throws(KeychainError) -> [RewrapOutcome] {
        var outcomes: [RewrapOutcome] = []
        for start in stride(from: 0, to: rows.count, by: EnclaveProtocol.batch) {
            let part = rows[start..<min(start + EnclaveProtocol.batch, rows.count)]
            var packed = Latchkey_EnclaveRequest.UnwrapKeys()
            packed.packed = Data(PackedRows.encode(part))
            let reply = try exchange.ask(request(packed))
            let results = reply.header.results.map(WrapFields.Result.init)
            guard reply.tail.count == 0, let parsed = EnclaveResults.parse(rewrapped: results, count: part.count)
            else { throw exchange.fault("an answer of the wrong form") }
            outcomes += parsed
        }
        return outcomes
    }

    func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError) {
        var request = Latchkey_EnclaveRequest.Retire()
        request.classNumber = UInt32(protectionClass.number)
        request.generation = generation
        _ = try exchange.ask(.retire(request))
    }

    func lock() throws(KeychainError) { _ = try exchange.ask(.lock(true), endsOnRefusal: false) }

    func state(after number: UInt64, orUntil cancelled: EventSignal) throws(KeychainError) -> EnclaveDescription? {
        guard let reply = try exchange.ask(.awaitState(number), orUntil: cancelled) else { return nil }
        guard let described = EnclaveDescription(reply.header.description_p, process: reply.header.process) else {
            throw exchange.fault("an answer of the wrong form")
        }
        return described
    }

    /// A long batch goes in several requests, each with its own 4 s.
    private func inParts<Row>(
        _ rows: [Row], _ ask: (ArraySlice<Row>) throws(KeychainError) -> [KeyOutcome]
    ) throws(KeychainError) -> [KeyOutcome] {
        var outcomes: [KeyOutcome] = []
        outcomes.reserveCapacity(rows.count)
        for start in stride(from: 0, to: rows.count, by: EnclaveProtocol.batch) {
            outcomes += try ask(rows[start..<min(start + EnclaveProtocol.batch, rows.count)])
        }
        return outcomes
    }

    /// - Parameter wrapped: the box that was sent for a row; nil where the answer
    ///   has to bring a new one.
    private func results(
        of request: Latchkey_EnclaveRequest.OneOf_Request, count: Int, wrapped: (Int) -> WrappedKey?
    ) throws(KeychainError) -> [KeyOutcome] {
        let reply = try exchange.ask(request)
        guard reply.header.outcomes.isEmpty,
            let outcomes = EnclaveResults.parse(
                reply.header.results.map(WrapFields.Result.init), reply.tail, count: count, wrapped)
        else {
            throw exchange.fault("an answer of the wrong form")
        }
        return outcomes
    }
}
