internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What a connection made of one message was not: each of these ends it, alone.
enum SessionError: Error, Hashable, Sendable {
    case malformed
    /// A request before the store was opened, or opened twice.
    case outOfTurn
}

/// One connection's conversation: a store is opened first, then keys are made
/// and opened. Pure but for opening the keybag; knows no socket.
struct EnclaveSession {
    private(set) var isOpen = false

    /// Answers one message.
    ///
    /// - Throws: ``SessionError``: the connection is to be ended without answer.
    mutating func answer(
        _ header: [UInt8], tail: borrowing SecretBytes, by keeper: EnclaveKeeper
    ) throws(SessionError) -> EnclaveAnswer {
        if let unwrap = UnwrapFields.Request(plain: header) {
            guard isOpen else { throw .outOfTurn }
            guard tail.count == 0 else { throw .malformed }
            return try keeper.withCore { core throws(SessionError) in
                try Self.open(unwrap.packed, in: unwrap.session, unwrap.number, &core, at: keeper.moment)
            }
        }
        if let plain = PlainRequest(header, field: 3), let wrap = WrapFields.Request(plain: plain.message) {
            guard isOpen else { throw .outOfTurn }
            guard tail.count == 0 else { throw .malformed }
            return try keeper.withCore { core throws(SessionError) in
                try Self.make(wrap.rows, in: wrap.session, plain.number, &core, at: keeper.moment)
            }
        }
        guard let message = MessageCoding.decode(Latchkey_EnclaveRequest.self, header), let request = message.request
        else { throw .malformed }
        if case .applicationKey(let application) = request {
            guard isOpen, let session = AuthenticationSessionID(Array(application.session)),
                tail.count == 0 || tail.count == EnclaveProtocol.keyByteCount
            else { throw .malformed }
            let key = tail.count == 0 ? nil : SharedSecret(tail.copy())
            return try keeper.withCore { core throws(SessionError) in
                core.book.set(applicationKey: key, in: session)
                return .done(nil, to: message.number)
            }
        }
        // The daemon sends no other key.
        guard tail.count == 0 else { throw .malformed }
        switch request {
        case .open(let open): return try answer(open, message.number, keeper)
        case .leave: return Self.farewell(to: message.number)
        case .awaitState(let known):
            guard isOpen else { throw .outOfTurn }
            let now = try keeper.withCore { core throws(SessionError) in
                Self.description(core, to: message.number, at: keeper.moment)
            }
            guard now.reply.description_p.state.number == known else { return now }
            return EnclaveAnswer(now.reply, next: .awaitState(known))
        case .describe:
            guard isOpen else { throw .outOfTurn }
            let measures = keeper.confined?.measures ?? []
            return try keeper.withCore { core throws(SessionError) in
                core.mendFiles()
                return Self.description(core, to: message.number, at: keeper.moment, measures, keeper.loginsFault)
            }
        case .sealAudit, .confirmAudit, .unwritten, .auditHead, .openAudit:
            guard isOpen else { throw .outOfTurn }
            return try keeper.withCore { core throws(SessionError) in
                try Self.answerAudit(request, message.number, &core, at: keeper.moment, wallClock: keeper.wallClock)
            }
        case .means where isOpen && keeper.isReaderStale, .ask where isOpen && keeper.isReaderStale:
            return EnclaveAnswer(Latchkey_EnclaveReply(), next: .awaitReader)
        case .wrap, .unwrap, .rewrap, .wrapMetadataKey, .unwrapMetadataKey, .retire, .lock, .permit,
            .openSession, .closeSession, .applicationKey, .means, .ask, .outcomeOf:
            guard isOpen else { throw .outOfTurn }
            return try keeper.withCore { core throws(SessionError) in
                try Self.answer(request, message.number, &core, at: keeper.moment)
            }
        }
    }

    private mutating func answer(
        _ open: Latchkey_EnclaveRequest.OpenStore, _ number: UInt64, _ keeper: EnclaveKeeper
    ) throws(SessionError) -> EnclaveAnswer {
        guard !isOpen else { throw .outOfTurn }
        guard open.protocol == EnclaveProtocol.version else {
            return .failure(KeychainError(.notAvailable, reason: .versionMismatch), to: number)
        }
        let expected = try ExpectedStore(open.storeID)
        do throws(KeychainError) {
            try keeper.open(for: .daemon(expected))
        } catch {
            return .failure(error, to: number)
        }
        isOpen = true
        return try keeper.withCore { core throws(SessionError) in Self.welcome(to: number, core) }
    }

    private static func welcome(to number: UInt64, _ core: borrowing EnclaveCore) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        reply.storeID = Data(core.store.bytes)
        reply.process = ProcessEnvironment.processID
        return EnclaveAnswer(reply, tail: core.indexKey.bytes.copy(), next: .keepConnection)
    }

    private static func farewell(to number: UInt64) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        return EnclaveAnswer(reply, next: .leave)
    }
}

extension EnclaveSession {
    private static func answer(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, _ number: UInt64, _ core: inout EnclaveCore,
        at moment: Duration
    ) throws(SessionError) -> EnclaveAnswer {
        switch request {
        case .wrap(let batch):
            let rows = batch.rows.compactMap { RowBinding($0) }
            guard rows.count == batch.rows.count else { throw .malformed }
            return try make(rows, in: batch.session, number, &core, at: moment)
        case .unwrap(let batch):
            return try open(Array(batch.packed)[...], in: Array(batch.session)[...], number, &core, at: moment)
        case .wrapMetadataKey(let wrap):
            guard core.keepFiles() == nil else { return .failure(KeybagError.away.asKeychainError, to: number) }
            let outcome = core.makeMetadataKey(for: try named(wrap.classNumber))
            return .results([outcome], includingWrapped: true, to: number)
        case .unwrapMetadataKey(let wrapped):
            let key = WrappedKey(generation: wrapped.generation, box: Array(wrapped.wrapped))
            let outcome = core.openMetadataKey(key, of: try named(wrapped.classNumber))
            return .results([outcome], includingWrapped: false, to: number)
        case .rewrap(let batch):
            guard let rows = PackedRows.decode(Array(batch.packed)) else { throw .malformed }
            return .rewrapped(core.rewrapRowKeys(rows), to: number)
        case .retire(let retire):
            return .done(core.failure(retiring: try named(retire.classNumber), below: retire.generation), to: number)
        case .permit, .openSession, .closeSession, .means, .ask, .outcomeOf:
            return try answerQuestion(request, number, &core, at: moment)
        case .lock: return .done(core.failureOfLocking(at: moment), to: number)
        case .describe, .open, .leave, .awaitState, .applicationKey, .sealAudit, .confirmAudit, .unwritten,
            .auditHead, .openAudit:
            throw .outOfTurn
        }
    }

    private static func make(
        _ rows: [RowBinding], in session: some Collection<UInt8>, _ number: UInt64, _ core: inout EnclaveCore,
        at moment: Duration
    ) throws(SessionError) -> EnclaveAnswer {
        guard rows.count <= EnclaveProtocol.batch else { throw .malformed }
        // What is sealed under a key that lies on no disk is lost with this process.
        guard core.keepFiles() == nil else { return .failure(KeybagError.away.asKeychainError, to: number) }
        let made = core.makeRowKeys(for: rows, in: try self.session(session), at: moment)
        return .results(made, includingWrapped: true, to: number)
    }

    private static func open(
        _ packed: ArraySlice<UInt8>, in session: ArraySlice<UInt8>, _ number: UInt64, _ core: inout EnclaveCore,
        at moment: Duration
    ) throws(SessionError) -> EnclaveAnswer {
        guard let rows = PackedRows.decode(packed) else { throw .malformed }
        return .opened(core.openRowKeys(rows, in: try self.session(session), at: moment), to: number)
    }

    private static func answerQuestion(
        _ request: Latchkey_EnclaveRequest.OneOf_Request, _ number: UInt64, _ core: inout EnclaveCore,
        at moment: Duration
    ) throws(SessionError) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        switch request {
        case .permit(let permit):
            guard let rows = PackedRows.decode(Array(permit.rows.packed)) else { throw .malformed }
            let session = try session(permit.rows.session)
            return .rewrapped(core.permit(permit.operation, on: rows, in: session, at: moment), to: number)
        case .openSession:
            guard let session = core.book.open(at: moment) else {
                return .done(KeychainError(.notAvailable, reason: .busy), to: number)
            }
            reply.session = Data(session.bytes)
        case .closeSession(let bytes):
            guard let session = try session(bytes) else { throw .malformed }
            core.book.close(session)
        case .means: reply.means = core.means(at: moment).message
        case .outcomeOf(let name):
            switch core.book.outcome(of: Array(name), at: moment) {
            case .agreed?: reply.answer.agreed = true
            case .refused(let reason)?:
                reply.answer.refusal = Latchkey_Failure(KeychainError(.authFailed, reason: reason))
            case nil: break
            }
        case .ask(let ask):
            guard let session = try session(ask.session), let question = AuthenticationCase(ask) else {
                throw .malformed
            }
            do throws(KeychainError) {
                guard !ask.looksOnly else {
                    reply.isMet = try core.isMet(
                        question.subject, in: session, reusing: .seconds(Int(ask.reuseSeconds)), at: moment)
                    break
                }
                reply.question = Data(try core.ask(question, in: session, at: moment) ?? [])
            } catch { return .done(error, to: number) }
        default: throw .outOfTurn
        }
        return EnclaveAnswer(reply, next: .keepConnection)
    }

    /// None, or 16 bytes.
    private static func session(
        _ bytes: some Collection<UInt8>
    ) throws(SessionError) -> AuthenticationSessionID? {
        if bytes.isEmpty { return nil }
        guard let session = AuthenticationSessionID(Array(bytes)) else { throw .malformed }
        return session
    }

    static func description(
        _ core: borrowing EnclaveCore, to number: UInt64, at moment: Duration, _ measures: [MeasureState] = [],
        _ loginsFault: String? = nil
    ) -> EnclaveAnswer {
        var described = core.describe(process: ProcessEnvironment.processID, at: moment)
        described.measures = measures
        described.loginsFault = loginsFault
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        reply.description_p = described.message
        reply.process = described.processID
        return EnclaveAnswer(reply, next: .keepConnection)
    }

    private static func named(_ number: UInt32) throws(SessionError) -> ProtectionClass {
        guard let named = ProtectionClass(wireNumber: number) else { throw .malformed }
        return named
    }
}

extension EnclaveCore {
    fileprivate mutating func failure(
        retiring protectionClass: ProtectionClass, below generation: UInt32
    ) -> KeychainError? {
        do throws(KeybagError) {
            try retire(protectionClass, below: generation)
            return nil
        } catch { return error.asKeychainError }
    }

    fileprivate mutating func failureOfLocking(at moment: Duration) -> KeychainError? {
        do throws(KeychainError) {
            _ = try derivation(for: .lock, at: moment)
            _ = try perform(.lock, with: DerivedSecrets(), at: moment)
            return nil
        } catch { return error }
    }
}

extension ExpectedStore {
    fileprivate init(_ storeID: Data) throws(SessionError) {
        if storeID.isEmpty {
            self = .anyOrNew
        } else if storeID.count == StoreID.byteCount {
            self = .named(Array(storeID))
        } else {
            throw .malformed
        }
    }

    var wireForm: [UInt8] {
        switch self {
        case .anyOrNew: []
        case .named(let bytes): bytes
        }
    }
}
