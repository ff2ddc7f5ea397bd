internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension RemoteEnclaveConnection {
    func openSession() throws(KeychainError) -> AuthenticationSessionID {
        let reply = try exchange.ask(.openSession(true), endsOnRefusal: false)
        guard let session = AuthenticationSessionID(Array(reply.header.session)) else { throw malformed }
        return session
    }

    func closeSession(_ session: AuthenticationSessionID) throws(KeychainError) {
        _ = try exchange.ask(.closeSession(Data(session.bytes)))
    }

    func setApplicationKey(_ key: SharedSecret?, in session: AuthenticationSessionID) throws(KeychainError) {
        var request = Latchkey_EnclaveRequest.ApplicationKey()
        request.session = Data(session.bytes)
        _ = try exchange.ask(.applicationKey(request), tail: key)
    }

    func means() throws(KeychainError) -> AuthenticationMeans {
        let reply = try exchange.ask(.means(true))
        guard reply.header.hasMeans else { throw malformed }
        return AuthenticationMeans(reply.header.means)
    }

    func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration
    ) throws(KeychainError) -> Bool {
        var request = AuthenticationCase(subject, question: PersonQuestion(purpose: .agree)).message(in: session)
        request.looksOnly = true
        request.reuseSeconds = UInt32(clamping: age.components.seconds)
        return try exchange.ask(.ask(request), endsOnRefusal: false).header.isMet
    }

    func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID
    ) throws(KeychainError) -> [UInt8]? {
        let reply = try exchange.ask(.ask(question.message(in: session)), endsOnRefusal: false)
        return reply.header.question.isEmpty ? nil : Array(reply.header.question)
    }

    func outcome(of question: [UInt8]) throws(KeychainError) -> QuestionOutcome? {
        let reply = try exchange.ask(.outcomeOf(Data(question)))
        guard reply.header.hasAnswer else { return nil }
        let answer = reply.header.answer
        return answer.agreed ? .agreed : .refused(answer.refusal.keychainError.reason)
    }

    private var malformed: KeychainError { exchange.fault("an answer of the wrong form") }
}

extension AuthenticationCase {
    func message(in session: AuthenticationSessionID) -> Latchkey_EnclaveRequest.Ask {
        var message = Latchkey_EnclaveRequest.Ask()
        message.session = Data(session.bytes)
        message.question = Latchkey_PersonQuestion(question)
        switch subject {
        case .rows(let rows, let operation):
            message.rows.rows.packed = Data(PackedRows.encode(rows.prefix(EnclaveProtocol.batch)))
            message.rows.operation = operation
        case .accessControl(let encoding, let operation):
            message.accessControl.encoding = Data(encoding)
            message.accessControl.operation = operation
        case .policy(let policy): message.policy = UInt32(policy.rawValue)
        }
        return message
    }

    /// nil for what no daemon of ours asks.
    init?(_ message: Latchkey_EnclaveRequest.Ask) {
        guard let question = PersonQuestion(message.question) else { return nil }
        switch message.subject {
        case .rows(let rows):
            guard let decoded = PackedRows.decode(Array(rows.rows.packed)), !decoded.isEmpty else { return nil }
            self.init(.rows(decoded, operation: rows.operation), question: question)
        case .accessControl(let access):
            self.init(.accessControl(Array(access.encoding), operation: access.operation), question: question)
        case .policy(let number):
            guard let policy = UInt8(exactly: number).flatMap(AuthenticationPolicy.init(rawValue:)) else { return nil }
            self.init(.policy(policy), question: question)
        case nil: return nil
        }
    }
}
