internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// One answer of the enclave: a header, and a tail of keys that are never in it.
struct EnclaveAnswer: ~Copyable {
    /// What becomes of the connection, or the process, once it is sent.
    enum Next: Sendable {
        case keepConnection
        case endConnection
        /// Nothing is sent before the state has another number.
        case awaitState(UInt64)
        /// Nothing is sent, and the same is asked again, before the fingerprint reader was
        /// looked at.
        case awaitReader
        /// Nothing is sent before a block of the audit record is confirmed.
        case awaitDisk(AuditConfirmation)
        case leave
    }

    private enum Header {
        case message(Latchkey_EnclaveReply)
        case opened(UnwrapFields.Answer)
        case made(WrapFields.Answer)
    }

    private let header: Header
    let tail: SecretBytes
    let next: Next

    init(_ reply: Latchkey_EnclaveReply, tail: consuming SecretBytes = SecretBytes(count: 0), next: Next) {
        header = .message(reply)
        self.tail = tail
        self.next = next
    }

    private init(_ header: Header, tail: consuming SecretBytes) {
        self.header = header
        self.tail = tail
        next = .keepConnection
    }

    /// The header as a message, for whoever looks at it.
    var reply: Latchkey_EnclaveReply {
        switch header {
        case .message(let reply): return reply
        case .opened(let opened):
            var reply = Latchkey_EnclaveReply()
            reply.number = opened.number
            reply.outcomes = Data(opened.outcomes)
            return reply
        case .made(let made):
            var reply = Latchkey_EnclaveReply()
            reply.number = made.number
            reply.results = made.results.map(\.message)
            return reply
        }
    }

    /// Whether it says how the enclave is, as the daemon asks where something about its own
    /// place has changed.
    var describes: Bool {
        if case .message(let reply) = header { reply.hasDescription_p } else { false }
    }

    /// The header as it is sent.
    var encodedHeader: [UInt8] {
        switch header {
        case .message(let reply): MessageCoding.encode(reply)
        case .opened(let opened): opened.encoded
        case .made(let made): made.encoded
        }
    }

    /// A refusal; the connection ends with it.
    static func failure(_ error: KeychainError, to number: UInt64) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        reply.failure = Latchkey_Failure(error)
        return EnclaveAnswer(reply, next: .endConnection)
    }

    /// One result for each row, in order; the tail has 32 bytes for each key.
    ///
    /// - Parameter includingWrapped: whether the keys are new, so that the daemon
    ///   has to learn their boxes.
    static func results(
        _ outcomes: [KeyOutcome], includingWrapped: Bool, to number: UInt64
    ) -> EnclaveAnswer {
        let results = outcomes.map { $0.result(includingWrapped: includingWrapped) }
        let keys = outcomes.compactMap { if case .key(let secret, _) = $0 { secret } else { nil } }
        return EnclaveAnswer(
            .made(WrapFields.Answer(number: number, results: results)), tail: SecretBytes(joining: keys))
    }
}

extension EnclaveAnswer {
    /// One byte for each row that was to be opened; the tail has 32 bytes for each key.
    static func opened(_ outcomes: [KeyOutcome], to number: UInt64) -> EnclaveAnswer {
        let keys = outcomes.compactMap { if case .key(let secret, _) = $0 { secret } else { nil } }
        return EnclaveAnswer(
            .opened(UnwrapFields.Answer(number: number, outcomes: outcomes.map { UInt8($0.wireOutcome.rawValue) })),
            tail: SecretBytes(joining: keys))
    }
}

extension KeyOutcome {
    fileprivate func result(includingWrapped: Bool) -> WrapFields.Result {
        if case .key(_, let wrapped) = self, includingWrapped { return WrapFields.Result(wireOutcome, wrapped) }
        return WrapFields.Result(wireOutcome)
    }

    fileprivate var wireOutcome: Latchkey_EnclaveReply.Outcome {
        switch self {
        case .key: .key
        case .locked: .locked
        case .needsAuthentication: .needs
        case .damaged: .damaged
        case .noClassKey: .noClassKey
        case .effaced: .effaced
        case .wrongApplicationPassword: .applicationPassword
        }
    }
}

extension EnclaveAnswer {
    /// Keys that were wrapped anew; the tail is empty, for none of them is told.
    static func rewrapped(_ outcomes: [RewrapOutcome], to number: UInt64) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        reply.results = outcomes.map { outcome in
            var message = Latchkey_EnclaveReply.KeyResult()
            switch outcome {
            case .wrapped(let wrapped):
                message.outcome = .key
                message.generation = wrapped.generation
                message.wrapped = Data(wrapped.box)
            case .locked: message.outcome = .locked
            case .damaged: message.outcome = .damaged
            case .noClassKey: message.outcome = .noClassKey
            case .effaced: message.outcome = .effaced
            case .needsAuthentication: message.outcome = .needs
            }
            return message
        }
        return EnclaveAnswer(reply, next: .keepConnection)
    }

    /// Done, or why not; the connection goes on.
    static func done(_ failure: KeychainError?, to number: UInt64) -> EnclaveAnswer {
        var reply = Latchkey_EnclaveReply()
        reply.number = number
        if let failure { reply.failure = Latchkey_Failure(failure) }
        return EnclaveAnswer(reply, next: .keepConnection)
    }
}

extension SecretBytes {
    /// The bytes of all, one after the other.
    fileprivate init(joining parts: [SharedSecret]) {
        self.init(count: parts.reduce(0) { $0 + $1.bytes.count })
        var start = 0
        unsafe withUnsafeMutableBytes { place in
            for part in parts {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: place[start...])
                unsafe part.bytes.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
                start += part.bytes.count
            }
        }
    }
}
