#if DEBUG
    internal import FoundationEssentials
    internal import KeychainMessages
    internal import KeychainModel
    internal import KeychainPlatform
    internal import Synchronization
    @testable internal import Enclave

    extension FuzzTarget {
        /// A request to the enclave, on a connection that has opened its store:
        /// first a byte for the length of a tail, then the header.
        static let enclaveRequest = FuzzTarget(
            "enclave-request", weight: 2, seeds: { EnclaveUnderFuzz.shared.seeds }
        ) { bytes throws(Finding) in
            try EnclaveUnderFuzz.shared.answer(Array(bytes.dropFirst()), tailByteCount: Int(bytes.first ?? 0))
        }

        /// The enclave's answer to a batch, as the daemon reads it: a byte for
        /// the number of rows asked for, one that says whether boxes were sent,
        /// then header and tail.
        static let enclaveResults = FuzzTarget("enclave-results", seeds: { EnclaveUnderFuzz.results }) {
            bytes throws(Finding) in
            var source = ByteSource(bytes)
            let count = Int(source.byte() % 8)
            let sent: WrappedKey? = source.flag() ? WrappedKey(generation: 1, box: Array(repeating: 1, count: 60)) : nil
            let (header, tail) = source.message()
            let plain = WrapFields.Answer(plain: header)
            let general = MessageCoding.decode(Latchkey_EnclaveReply.self, header)
            let isSame =
                plain?.number == general?.number && plain?.results == general?.results.map(WrapFields.Result.init)
            try claim(plain == nil || isSame, "an answer that is another to the general coder")
            guard let general else { return }
            _ = KeychainError(enclaveFailure: general.failure).description
            let results = general.results.map(WrapFields.Result.init)
            guard let outcomes = EnclaveResults.parse(results, SecretBytes(copying: tail), count: count, { _ in sent })
            else { return }
            try claim(outcomes.count == count, "\(outcomes.count) results for \(count) rows")
            var keys: [UInt8] = []
            for case .key(let secret, let wrapped) in outcomes {
                keys += secret.bytes.insecureArray()
                try claim(sent == nil || wrapped == sent, "a box that was not sent")
                try claim(
                    wrapped.generation > 0 && wrapped.box.count == WrappedKey.boxByteCount, "a box of another form")
            }
            try claim(keys == tail, "keys that are not the tail")
        }
    }

    extension FuzzTarget {
        /// Rows to be opened, as they travel.
        static let packedRows = FuzzTarget("packed-rows", seeds: { packedSeeds }) { bytes throws(Finding) in
            guard let rows = PackedRows.decode(bytes) else { return }
            try claim(rows.count <= EnclaveProtocol.batch, "more rows than a batch has")
            try claim(PackedRows.encode(rows[...]) == bytes, "accepted bytes that are not their encoding")
        }

        private static var packedSeeds: [[UInt8]] {
            let box = [UInt8](repeating: 1, count: WrappedKey.boxByteCount)
            let row = (
                binding: RowBinding(uuid: Array(0..<16), protectionClass: .whenUnlocked, accessControl: []),
                wrapped: WrappedKey(generation: 1, box: box)
            )
            let constrained = RowBinding(uuid: [], protectionClass: .always, accessControl: Array(0..<40))
            return [
                PackedRows.encode([]), PackedRows.encode([row]),
                PackedRows.encode([row, (constrained, WrappedKey(generation: .max, box: []))]),
            ]
        }

        /// Their outcomes, as the daemon reads them: a byte for the number of rows
        /// asked for, then header and tail.
        static let enclaveOutcomes = FuzzTarget("enclave-outcomes", seeds: { EnclaveUnderFuzz.outcomes }) {
            bytes throws(Finding) in
            var source = ByteSource(bytes)
            let count = Int(source.byte() % 8)
            let (header, tail) = source.message()
            guard let reply = MessageCoding.decode(Latchkey_EnclaveReply.self, header) else { return }
            let row = (
                binding: RowBinding(uuid: [], protectionClass: .whenUnlocked, accessControl: []),
                wrapped: WrappedKey(generation: 1, box: Array(repeating: 1, count: 60))
            )
            let rows = Array(repeating: row, count: count)[...]
            guard let outcomes = EnclaveResults.parse(outcomes: Array(reply.outcomes), SecretBytes(copying: tail), of: rows)
            else { return }
            try claim(outcomes.count == count, "\(outcomes.count) outcomes for \(count) rows")
            var keys: [UInt8] = []
            for case .key(let secret, _) in outcomes { keys += secret.bytes.insecureArray() }
            try claim(keys == tail, "keys that are not the tail")
        }
    }

    /// A session of a real enclave, and the keys that it has made.
    private final class EnclaveUnderFuzz: Sendable {
        static let shared: EnclaveUnderFuzz = {
            do { return try EnclaveUnderFuzz() } catch { preconditionFailure("no enclave: \(error)") }
        }()

        private struct State {
            let keeper: EnclaveKeeper
            var session: EnclaveSession
            let made: (binding: RowBinding, wrapped: WrappedKey)
            let madeMetadata: WrappedKey
        }

        private let state: Mutex<State>

        private init() throws {
            let path = Scratch.path("enclave-wire")
            _ = try PrivateDirectory(path, creating: true)
            let keeper = EnclaveKeeper(try EnclaveDirectory(inData: path), clock: SystemClock())
            var session = EnclaveSession()
            var open = Latchkey_EnclaveRequest.OpenStore()
            open.protocol = EnclaveProtocol.version
            _ = try session.answer(Self.request(.open(open)), tail: SecretBytes(count: 0), by: keeper)
            let binding = RowBinding(uuid: Array(0..<16), protectionClass: .whenUnlocked, accessControl: [])
            let keys = try keeper.withCore { core in
                (core.makeRowKeys(for: [binding], at: .zero), core.makeMetadataKey(for: .whenUnlocked))
            }
            guard case .key(_, let wrapped)? = keys.0.first, case .key(_, let metadata) = keys.1 else {
                throw Finding("the enclave makes no keys")
            }
            state = Mutex(
                State(keeper: keeper, session: session, made: (binding, wrapped), madeMetadata: metadata))
        }

        private static func request(_ request: Latchkey_EnclaveRequest.OneOf_Request) -> [UInt8] {
            var message = Latchkey_EnclaveRequest()
            message.number = 5
            message.request = request
            return MessageCoding.encode(message)
        }

        func answer(_ header: [UInt8], tailByteCount: Int) throws(Finding) {
            let finding = state.withLock { state -> Finding? in
                do throws(Finding) {
                    try Self.check(&state, header, tailByteCount)
                    return nil
                } catch { return error }
            }
            if let finding { throw finding }
        }

        private static func check(_ state: inout State, _ header: [UInt8], _ tailByteCount: Int) throws(Finding) {
            let answer: EnclaveAnswer
            var session = state.session
            do throws(SessionError) {
                answer = try session.answer(header, tail: SecretBytes(count: tailByteCount), by: state.keeper)
            } catch { return }
            try claim(tailByteCount == 0, "a tail was taken")
            let message = try claimed(
                MessageCoding.decode(Latchkey_EnclaveRequest.self, header), "an answer to no request")
            try claim(answer.reply.number == message.number, "the answer of another request")
            if let request = PlainRequest(header, field: 3), let plain = WrapFields.Request(plain: request.message) {
                let isSame =
                    request.number == message.number && plain.rows == message.wrap.rows.compactMap { RowBinding($0) }
                    && plain.session == Array(message.wrap.session)
                try claim(isSame, "a request that is another to the general coder")
            }
            let again = MessageCoding.decode(Latchkey_EnclaveReply.self, MessageCoding.encode(answer.reply))
            try claim(again == answer.reply, "an answer that its encoding changes")
            try checkKeys(message, answer, state)
        }

        /// Only boxes that were made here open, and only for the row they were made for.
        private static func checkKeys(
            _ message: Latchkey_EnclaveRequest, _ answer: borrowing EnclaveAnswer, _ state: State
        ) throws(Finding) {
            var opened = answer.reply.results.map { $0.outcome == .key }
            switch message.request {
            case .unwrap(let batch):
                let rows = try claimed(PackedRows.decode(Array(batch.packed)), "an answer to no rows")
                opened += answer.reply.outcomes.map { Int($0) == Latchkey_EnclaveReply.Outcome.key.rawValue }
                try claim(opened.count == rows.count, "\(opened.count) results for \(rows.count) rows")
                for (row, isOpen) in zip(rows, opened) where isOpen {
                    try claim(
                        row.binding == state.made.binding && row.wrapped == state.made.wrapped,
                        "a box opened that was not made for this row")
                }
            case .unwrapMetadataKey(let wrapped) where opened == [true]:
                let key = WrappedKey(generation: wrapped.generation, box: Array(wrapped.wrapped))
                let isRight = wrapped.classNumber == UInt32(ProtectionClass.whenUnlocked.number)
                try claim(
                    key == state.madeMetadata && isRight, "a metadata key opened that was not made for this class")
            default: break
            }
            let keys = opened.count { $0 }
            try claim(
                message.isOpen || answer.tail.count == keys * EnclaveProtocol.keyByteCount, "keys that nobody announced"
            )
        }

        var seeds: [[UInt8]] {
            state.withLock { state in
                var wrap = Latchkey_EnclaveRequest.WrapKeys()
                wrap.rows = [state.made.binding.message, state.made.binding.message]
                var unwrap = Latchkey_EnclaveRequest.UnwrapKeys()
                let row = (binding: state.made.binding, wrapped: state.made.wrapped)
                unwrap.packed = Data(PackedRows.encode([row, row]))
                var metadata = Latchkey_EnclaveRequest.UnwrapMetadataKey()
                metadata.classNumber = UInt32(ProtectionClass.whenUnlocked.number)
                metadata.generation = state.madeMetadata.generation
                metadata.wrapped = Data(state.madeMetadata.box)
                var made = Latchkey_EnclaveRequest.WrapMetadataKey()
                made.classNumber = 10
                return [
                    .wrap(wrap), .unwrap(unwrap), .unwrapMetadataKey(metadata), .wrapMetadataKey(made), .describe(true),
                ]
                .map { [0] + Self.request($0) }
            }
        }

        static let results: [[UInt8]] = {
            let key = SharedSecret(SecretBytes(copying: Array(repeating: 9, count: 32)))
            let wrapped = WrappedKey(generation: 1, box: Array(repeating: 1, count: 60))
            let outcomes: [KeyOutcome] = [.key(key, wrapped), .locked, .damaged, .noClassKey, .key(key, wrapped)]
            return [true, false].map { isNew in
                let answer = EnclaveAnswer.results(outcomes, includingWrapped: isNew, to: 1)
                return [5, isNew ? 0 : 1]
                    + ByteSink.message(MessageCoding.encode(answer.reply), answer.tail.insecureArray())
            }
        }()
    }

    extension EnclaveUnderFuzz {
        static let outcomes: [[UInt8]] = {
            let key = SharedSecret(SecretBytes(copying: Array(repeating: 9, count: 32)))
            let wrapped = WrappedKey(generation: 1, box: Array(repeating: 1, count: 60))
            let answer = EnclaveAnswer.opened([.key(key, wrapped), .locked, .damaged, .key(key, wrapped)], to: 1)
            return [[4] + ByteSink.message(MessageCoding.encode(answer.reply), answer.tail.insecureArray())]
        }()
    }

    extension Latchkey_EnclaveRequest {
        fileprivate var isOpen: Bool { if case .open = request { true } else { false } }
    }
#endif
