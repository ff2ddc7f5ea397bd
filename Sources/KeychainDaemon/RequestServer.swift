internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity

/// Why a connection has to end.
enum Ending: Error {
    case closed
    case malformed
    case notThePeer
    case programChanged
    case unreachable(FrameError)
}

/// Serves one request: decode, perform, answer in messages of at most 256 rows.
struct RequestServer: Sendable {
    private let engine: KeychainEngine
    private let configuration: DaemonConfiguration
    private let reports: ProgressReports
    private let readers: SlowReaders
    private let deputies: Deputies
    private let audit: AuditBook

    init(
        _ engine: KeychainEngine, _ configuration: DaemonConfiguration, _ reports: ProgressReports,
        _ audit: AuditBook
    ) {
        self.audit = audit
        self.engine = engine
        self.configuration = configuration
        self.reports = reports
        readers = SlowReaders(workers: configuration.limits.workers)
        deputies = Deputies(engine, clock: configuration.clock)
    }

    /// What becomes of a connection after a request.
    enum Next {
        case nextRequest
        /// It waits for changes; the observers have it.
        case observing(Observer)
        /// It waits for another state of the keychain; the observers of that have it.
        case observingDevice(DeviceObserver)
        /// A person has to agree first; the desk has it.
        case asking(PromptedCall)
    }

    /// - Parameter beginsToWork: called where the housekeeper has to watch over
    ///   requests from now on.
    func serve(
        _ frame: consuming Frame, of connection: ClientConnection, _ authorization: Authorization,
        beginsToWork: () -> Void
    ) throws(Ending) -> Next {
        guard connection.peer.accepts(frame.sender) else { throw .notThePeer }
        guard frame.descriptor == nil else { throw .malformed }
        let header = frame.header
        let withheld = frame.withheld
        if let withheld {
            try refuse(header, withheld, connection, beginsToWork)
            return .nextRequest
        }
        let decoded: (number: UInt64, request: KeychainRequest)
        do throws(WireFault) {
            decoded = try KeychainRequest.decode(header: header, tail: frame.takeTail())
        } catch {
            throw .malformed
        }
        if reports.begin(connection, decoded.number) { beginsToWork() }
        var isAsking = false
        // Who waits for a person hears that the call is still at work.
        defer { if !isAsking { reports.end(connection) } }
        // Doctor says by itself that it goes on, for as long as that takes.
        if case .doctor(let task) = decoded.request.operation {
            reports.end(connection)
            try serveDoctor(task, decoded.number, connection)
            return .nextRequest
        }
        switch decoded.request.operation {
        case .status: try serveStatus(decoded.number, connection, authorization)
        case .device: try serveDevice(decoded.number, connection)
        case .awaitDevice(let known):
            return .observingDevice(DeviceObserver(connection: connection, request: decoded.number, known: known))
        case .census: try serveCensus(decoded.request, decoded.number, connection, authorization)
        case .addItems: try serveItems(decoded.request, decoded.number, connection, authorization)
        case .copyEach(let searches):
            try serveEach(of: decoded.request, decoded.number, connection, authorization) {
                rights, add throws(KeychainError) in try engine.copyEach(searches, for: rights, emit: add)
            }
        case .searchEach(let searches):
            try serveEach(of: decoded.request, decoded.number, connection, authorization) {
                rights, add throws(KeychainError) in try engine.searchEach(searches, for: rights, emit: add)
            }
        case .changePosition(let scope): try servePosition(scope, decoded.number, connection, authorization)
        case .changes(let position, let scope):
            // Looked at once it is known: nothing falls in between.
            return .observing(
                Observer(
                    connection: connection, request: decoded.number, position: position, scope: scope,
                    authorization: authorization))
        case .means: try serveMeans(decoded.number, connection)
        case .setApplicationPassword: try serveApplicationPassword(decoded.request, decoded.number, connection)
        default:
            let context = decoded.request.isInContext ? connection.context : CallContext()
            let call = PromptedCall(
                connection: connection, request: decoded.number, call: decoded.request,
                authorization: authorization.within(context).serving(decoded.request.served),
                program: connection.program,
                deputy: decoded.request.behalf == .person ? DeputyCall(of: connection) : nil)
            if try answerOrLeave(call) { return .nextRequest }
            isAsking = true
            return .asking(call)
        }
        return .nextRequest
    }

    private func serveMeans(_ number: UInt64, _ connection: ClientConnection) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) { message = .means(try engine.means(), number: number) } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    private func serveApplicationPassword(
        _ request: KeychainRequest, _ number: UInt64, _ connection: ClientConnection
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            try engine.setApplicationPassword(request.value, in: connection.context)
            message = .done(number: number)
        } catch { message = .failure(error, number: number) }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    /// - Returns: false where a person has to agree first; nothing was sent then.
    private func answer(_ call: PromptedCall) throws(Ending) -> Bool {
        if case .evaluate(let demand) = call.call.operation { return try evaluate(demand, call) }
        let authorization: Authorization
        do throws(KeychainError) { authorization = try deputies.rights(of: call) } catch {
            if error == KeychainEngine.personNeeded { return false }
            audit.ended(call.call, of: call.connection, error)
            try send(.failure(error, number: call.request), to: call.connection, carriesValue: false, isLast: true)
            return true
        }
        if case .audit(let query) = call.call.operation {
            try serveAudit(query, call)
            return true
        }
        return try answer(call, authorization)
    }

    /// The record is for a person: who reads it learns what every program does.
    private func serveAudit(_ query: AuditQuery, _ call: PromptedCall) throws(Ending) {
        var (query, told, hasMore) = (query, 0, true)
        while hasMore {
            let message: EncodedMessage
            do throws(KeychainError) {
                guard call.deputy != nil else { throw Authorization.noDeputy }
                if query.from == nil { audit.ended(call.call, of: call.connection, nil) }
                let page = try audit.page(query)
                query.from = page.next
                query.wantsNames = false
                told += page.records.count
                hasMore = !page.isAtEnd && told < Self.mostAuditLines
                message = .audit(page, number: call.request, more: hasMore)
            } catch {
                audit.ended(call.call, of: call.connection, error)
                hasMore = false
                message = .failure(error, number: call.request)
            }
            // Long after the hello it may be another program.
            try send(message, to: call.connection, carriesValue: true, isLast: !hasMore)
        }
    }

    /// Lines of the audit record in one answer, and those of one page more.
    private static let mostAuditLines = 16_384

    /// The same, letting go of what was agreed to for this call alone once it has
    /// its answer.
    private func answerOrLeave(_ call: PromptedCall) throws(Ending) -> Bool {
        var isWaiting = false
        defer { if !isWaiting { forget(call) } }
        isWaiting = try !answer(call)
        return !isWaiting
    }

    private func evaluate(_ demand: AuthenticationDemand, _ call: PromptedCall) throws(Ending) -> Bool {
        let message: EncodedMessage
        do throws(KeychainError) {
            try engine.evaluate(demand, in: call.authorization.context)
            audit.ended(call.call, of: call.connection, nil)
            message = .done(number: call.request)
        } catch {
            if error == KeychainEngine.personNeeded { return false }
            audit.ended(call.call, of: call.connection, error)
            message = .failure(error, number: call.request)
        }
        try send(message, to: call.connection, carriesValue: false, isLast: true)
        return true
    }

    /// After a person has agreed.
    ///
    /// - Returns: false where one has to agree to something more.
    func answerAgain(_ call: PromptedCall) throws(Ending) -> Bool { try answerOrLeave(call) }

    /// Nothing that was agreed to for this call counts any more.
    func forget(_ call: PromptedCall) {
        if !call.call.isInContext { engine.end(call.authorization.context) }
        if let deputy = call.deputy { engine.end(deputy.presence) }
    }

    func refuse(_ call: PromptedCall, _ error: KeychainError) throws(Ending) {
        forget(call)
        audit.ended(call.call, of: call.connection, error)
        try send(.failure(error, number: call.request), to: call.connection, carriesValue: false, isLast: true)
    }

    /// Of a call that waits for a person nothing was done, and the daemon ends.
    func dismiss(_ call: PromptedCall) throws(Ending) {
        forget(call)
        try dismiss(call.request, call.connection)
    }

    /// Nothing that was agreed to on a connection counts any more.
    func forget(_ connection: ClientConnection) { engine.end(connection.context) }

    private func servePosition(
        _ scope: ChangeScope, _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            message = .changes(try engine.changePosition(in: scope, for: authorization), number: number)
        } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    /// Answers an observer, if there is anything to tell.
    ///
    /// - Returns: where it is to be looked at from the next time; nil: it was answered.
    func tell(_ observer: Observer, within patience: Duration) throws(Ending) -> ChangePosition? {
        let message: EncodedMessage
        do throws(KeychainError) {
            let batch = try engine.changes(
                after: observer.position, in: observer.scope, for: observer.authorization)
            if batch.changes.isEmpty { return batch.position }
            message = .changes(batch, number: observer.request)
        } catch {
            // The next daemon sets the database aside and tells of a new history.
            if engine.isSpent { throw .closed }
            message = .failure(error.toAnObserver, number: observer.request)
        }
        // Long after the hello it may be another program.
        try send(message, to: observer.connection, carriesValue: true, isLast: true, within: patience)
        return nil
    }

    /// Answers an observer of the keychain's state. It has read everything, so that
    /// what it is told needs no wait.
    func tell(_ observer: DeviceObserver, _ outcome: Result<DeviceState, KeychainError>) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) { message = .device(try outcome.get(), number: observer.request) } catch {
            message = .failure(error, number: observer.request)
        }
        try send(message, to: observer.connection, carriesValue: false, isLast: true, within: .zero)
    }

    private func serveItems(
        _ request: KeychainRequest, _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            message = .outcomes(try engine.addItems(request.items, for: authorization), number: number)
            audit.ended(request, of: connection, nil)
        } catch {
            audit.ended(request, of: connection, error)
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    /// - Parameter search: makes several searches with the rights of the call, and hands on
    ///   what they find.
    private func serveEach(
        of request: KeychainRequest, _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization,
        _ search: (Authorization, (AnswerRow) throws(KeychainError) -> Void) throws(KeychainError) -> Void
    ) throws(Ending) {
        let context = CallContext()
        defer { engine.end(context) }
        var writer = AnswerWriter(number, connection, self)
        writer.begin(AnswerShape(returns: [], many: true))
        do throws(KeychainError) {
            try search(authorization.within(context).serving(request.served)) {
                row throws(KeychainError) in try writer.add(row)
            }
        } catch {
            if let ending = writer.ending { throw ending }
            audit.ended(request, of: connection, error)
            return try send(.failure(error, number: number), to: connection, carriesValue: false, isLast: true)
        }
        audit.ended(request, of: connection, nil)
        try writer.finish(more: false)
    }

    /// What came without its bytes is known by its number alone.
    private func refuse(
        _ header: [UInt8], _ withheld: Frame.Withheld, _ connection: ClientConnection, _ beginsToWork: () -> Void
    ) throws(Ending) {
        guard let number = KeychainRequest.number(header: header) else { throw .malformed }
        // No word that it waits may come behind its answer.
        if reports.begin(connection, number) { beginsToWork() }
        defer { reports.end(connection) }
        let refusal = EncodedMessage.failure(Self.refusal(withheld), number: number)
        try send(refusal, to: connection, carriesValue: false, isLast: true)
    }

    /// Why the bytes of a request were not read; nothing was done.
    private static func refusal(_ withheld: Frame.Withheld) -> KeychainError {
        switch withheld {
        case .notAdmitted: KeychainError(.notAvailable, reason: .busy)
        case .noMemory: .noMemory(for: "the value")
        }
    }

    private func serveStatus(
        _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            var status = try engine.status(for: authorization.entitlements)
            status.daemonMeasures = configuration.confined?.measures ?? []
            message = .status(status, number: number)
        } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    private func serveDevice(_ number: UInt64, _ connection: ClientConnection) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) { message = .device(try engine.deviceState(), number: number) } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    private func serveCensus(
        _ request: KeychainRequest, _ number: UInt64, _ connection: ClientConnection, _ authorization: Authorization
    ) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) {
            let reach: CensusReach = connection.identity.mayBeContained ? .ownGroups : .everyGroup
            message = .census(try engine.census(request, for: authorization, telling: reach), number: number)
        } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    private func serveDoctor(
        _ task: DoctorTask, _ number: UInt64, _ connection: ClientConnection
    ) throws(Ending) {
        let call: DoctorCall
        do throws(SystemCallError) { call = try DoctorCall(task, on: engine) } catch {
            let busy = KeychainError(.notAvailable, reason: .busy, underlying: "\(error)")
            return try send(.failure(busy, number: number), to: connection, carriesValue: false, isLast: true)
        }
        let outcome = try call.wait(on: configuration.clock) { () throws(Ending) in
            try send(.progress(number: number), to: connection, carriesValue: false, isLast: false)
        }
        let message: EncodedMessage
        do throws(KeychainError) {
            var report = try outcome.get()
            report.auditFailedSince = audit.failedSince
            audit.ended(KeychainRequest(.doctor(task)), of: connection, nil)
            message = .doctor(report, number: number)
        } catch {
            message = .failure(error, number: number)
        }
        try send(message, to: connection, carriesValue: false, isLast: true)
    }

    private func answer(_ call: PromptedCall, _ authorization: Authorization) throws(Ending) -> Bool {
        let (number, connection) = (call.request, call.connection)
        var writer = AnswerWriter(number, connection, self)
        do throws(KeychainError) {
            try engine.perform(call.call, for: authorization, from: call.progress) { shape throws(KeychainError) in
                writer.begin(shape)
            } emit: { row throws(KeychainError) in
                try writer.add(row)
            }
        } catch {
            if let ending = writer.ending { throw ending }
            if error == KeychainEngine.personNeeded {
                // The next try begins behind what it was given.
                if call.progress.hasBegun { try writer.finish(more: true) }
                return false
            }
            audit.ended(call.call, of: connection, error)
            try send(.failure(error, number: number), to: connection, carriesValue: false, isLast: true)
            return true
        }
        audit.ended(call.call, of: connection, nil)
        try writer.finish(more: false)
        return true
    }

    /// Refuses a request of which nothing was done, and nothing will be: the next daemon is to be
    /// asked. Waits for nobody.
    func dismiss(_ number: UInt64, _ connection: ClientConnection) throws(Ending) {
        let refusal = KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: false))
        try send(
            .failure(refusal, number: number), to: connection, carriesValue: false, isLast: true, within: .zero)
    }

    /// Sends one message; one that carries a value only to a program that is
    /// still what it was when it was greeted.
    func send(
        _ message: consuming EncodedMessage, to connection: ClientConnection, carriesValue: Bool, isLast: Bool,
        within patience: Duration? = nil
    ) throws(Ending) {
        if carriesValue, !connection.peer.hasNotExeced() { throw .programChanged }
        if isLast { reports.end(connection) }
        let deadline = Deadline(after: patience ?? configuration.limits.patience, on: configuration.clock)
        var hasWaited = false
        defer { if hasWaited { readers.end(connection) } }
        do throws(FrameError) {
            try connection.channel.send(message.header, message.tail, until: deadline) {
                hasWaited = true
                readers.begin(connection)
            }
        } catch {
            throw .unreachable(error)
        }
    }
}

/// Collects the rows of one answer and sends them as messages fill up.
struct AnswerWriter: ~Copyable {
    private let number: UInt64
    private let connection: ClientConnection
    private let server: RequestServer
    private var encoder: AnswerEncoder
    private var carriesValue = false
    /// Why sending failed, where it did.
    private(set) var ending: Ending?

    init(_ number: UInt64, _ connection: ClientConnection, _ server: RequestServer) {
        self.number = number
        self.connection = connection
        self.server = server
        encoder = AnswerEncoder(number: number, returns: [], many: false)
    }

    mutating func begin(_ shape: AnswerShape) {
        encoder = AnswerEncoder(number: number, returns: shape.returns, many: shape.many)
    }

    mutating func add(_ row: AnswerRow) throws(KeychainError) {
        if encoder.isFull || !encoder.hasRoom(for: row.value?.bytes.count ?? 0) {
            let message = try encoder.take(more: true)
            do throws(Ending) { try send(message, isLast: false) } catch {
                ending = error
                throw KeychainError(.notAvailable, reason: .daemonUnreachable)
            }
        }
        carriesValue = carriesValue || row.value != nil
        encoder.add(row)
    }

    private mutating func send(_ message: consuming EncodedMessage, isLast: Bool) throws(Ending) {
        try server.send(message, to: connection, carriesValue: carriesValue, isLast: isLast)
        carriesValue = false
    }

    /// - Parameter more: whether the rest comes later.
    mutating func finish(more: Bool) throws(Ending) {
        let message: EncodedMessage
        do throws(KeychainError) { message = try encoder.take(more: more) } catch {
            // The rows that were to be in it are lost: no later message may pass for the rest.
            carriesValue = false
            message = .failure(error, number: number)
            try send(message, isLast: true)
            if more { throw .closed }
            return
        }
        try send(message, isLast: !more)
    }
}

extension ClientConnection {
    /// Who calls, as a person is told.
    fileprivate var program: CallingProgram {
        CallingProgram(
            name: identity.name, strength: identity.strength, process: peer.processID, record: peer.ownRecord)
    }
}

extension KeychainError {
    /// What says nothing of the question (no descriptor, a disk that failed once) is
    /// worth another try.
    fileprivate var toAnObserver: KeychainError {
        switch reason {
        case .noAccessGroups, .groupNotEntitled, .keychainDenied: self
        default: KeychainError(.notAvailable, reason: .busy, underlying: "\(self)")
        }
    }
}
