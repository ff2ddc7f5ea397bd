import Enclave
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization
import Testing

/// Holds whoever wants a new row key, which is every write of a value.
final class EnclaveGate: Sendable {
    private struct State {
        var isClosed = false
        var holdsConfirmations = false
        var held = 0
        var isAway = false
        var losesAnswers = false
        var opened: EventSignal
    }

    private let state: Mutex<State>

    init() throws { state = Mutex(State(opened: try EventSignal())) }

    func close() { state.withLock { $0.isClosed = true } }

    /// Holds whoever says that a block of the audit record is on the disk, alone.
    func closeForConfirmations() { state.withLock { $0.holdsConfirmations = true } }

    func open() {
        state.withLock { state in
            state.isClosed = false
            state.holdsConfirmations = false
            state.opened.signal()
        }
    }

    /// From now on nobody follows the enclave's state: connections that do end with its
    /// next change, and none is made.
    func hide() { state.withLock { $0.isAway = true } }
    func show() { state.withLock { $0.isAway = false } }

    /// From now on nobody hears that it took what of the audit record cannot be written.
    func loseAnswersToNotes() { state.withLock { $0.losesAnswers = true } }
    func giveAnswersToNotes() { state.withLock { $0.losesAnswers = false } }

    fileprivate func answerToNote() throws(KeychainError) {
        guard state.withLock({ $0.losesAnswers }) else { return }
        throw KeychainError(.notAvailable, reason: .enclaveUnreachable)
    }

    fileprivate func refuseWhereHidden() throws(KeychainError) {
        guard state.withLock({ $0.isAway }) else { return }
        throw KeychainError(.notAvailable, reason: .enclaveUnreachable)
    }

    var heldCount: Int { state.withLock { $0.held } }

    func waitUntilHeld(_ count: Int) throws {
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        while heldCount < count { try #require(!deadline.hasPassed, "\(heldCount) of \(count) are held") }
    }

    fileprivate func pass(isConfirmation: Bool = false) {
        let opened = state.withLock { state -> EventSignal? in
            guard isConfirmation ? state.holdsConfirmations : state.isClosed else { return nil }
            state.held += 1
            return state.opened
        }
        guard let opened else { return }
        // A test that fails opens the gate as well.
        _ = try? wait(for: opened.descriptor.raw, to: .receive, until: Deadline(after: .seconds(50), on: SystemClock()))
        state.withLock { $0.held -= 1 }
    }

    func wrap(_ connector: any EnclaveConnector) -> any EnclaveConnector { GatedEnclave(self, connector) }
}

/// A real enclave behind a gate.
private struct GatedEnclave: EnclaveConnector {
    private let gate: EnclaveGate
    private let connector: any EnclaveConnector

    init(_ gate: EnclaveGate, _ connector: any EnclaveConnector) {
        self.gate = gate
        self.connector = connector
    }

    func connect() throws(KeychainError) -> any EnclaveConnection {
        try gate.refuseWhereHidden()
        return GatedConnection(gate, try connector.connect())
    }
}

private final class GatedConnection: EnclaveConnection {
    private let gate: EnclaveGate
    private let below: any EnclaveConnection

    init(_ gate: EnclaveGate, _ below: any EnclaveConnection) {
        self.gate = gate
        self.below = below
    }

    var storeID: [UInt8] { below.storeID }
    var indexKey: SharedSecret { below.indexKey }

    func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        gate.pass()
        return try below.makeRowKeys(for: rows, in: session)
    }

    func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        try below.openRowKeys(rows, in: session)
    }

    func makeMetadataKey(for protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome {
        try below.makeMetadataKey(for: protectionClass)
    }

    func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome
    {
        try below.openMetadataKey(wrapped, of: protectionClass)
    }

    func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [RewrapOutcome] { try below.permit(operation, on: rows, in: session) }

    func openSession() throws(KeychainError) -> AuthenticationSessionID { try below.openSession() }
    func closeSession(_ session: AuthenticationSessionID) throws(KeychainError) { try below.closeSession(session) }

    func setApplicationKey(_ key: SharedSecret?, in session: AuthenticationSessionID) throws(KeychainError) {
        try below.setApplicationKey(key, in: session)
    }

    func means() throws(KeychainError) -> AuthenticationMeans { try below.means() }

    func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration
    ) throws(KeychainError) -> Bool { try below.isMet(subject, in: session, reusing: age) }

    func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID
    ) throws(KeychainError) -> [UInt8]? { try below.ask(question, in: session) }

    func outcome(of question: [UInt8]) throws(KeychainError) -> QuestionOutcome? { try below.outcome(of: question) }

    func rewrapRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)]
    ) throws(KeychainError) -> [RewrapOutcome] { try below.rewrapRowKeys(rows) }

    func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError) {
        try below.retire(protectionClass, below: generation)
    }

    func lock() throws(KeychainError) { try below.lock() }

    func state(after number: UInt64, orUntil cancelled: EventSignal) throws(KeychainError) -> EnclaveDescription? {
        let state = try below.state(after: number, orUntil: cancelled)
        try gate.refuseWhereHidden()
        return state
    }

    func describe() throws(KeychainError) -> EnclaveDescription { try below.describe() }

    func sealAudit(_ records: [UInt8], fromFile lowest: UInt64) throws(KeychainError) -> SealedAuditBlock? {
        try below.sealAudit(records, fromFile: lowest)
    }

    func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace? {
        gate.pass(isConfirmation: true)
        return try below.confirmAudit(block)
    }

    func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError) {
        try below.noteUnwritten(count, by: teller)
        try gate.answerToNote()
    }

    func auditHead(settled: Bool) throws(KeychainError) -> AuditPlace? { try below.auditHead(settled: settled) }

    func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) throws(KeychainError) -> AuditOpening {
        try below.openAudit(boxes, from: first)
    }
}
