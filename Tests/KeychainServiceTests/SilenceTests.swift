import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// An enclave that is there and does not answer.
@Suite struct SilenceTests {
    @Test func afterOneCallInVainNobodyWaitsButOneASecond() throws {
        let keychain = try MutableKeychain()
        try keychain.add("before")
        keychain.enclave.fate.withLock { $0 = .silent }
        let asked = keychain.enclave.asked
        for number in 0..<5 { keychain.expectFailure(.enclaveSilent) { try keychain.add("\(number)") } }
        #expect(keychain.enclave.asked == asked + 1, "one waited, four did not")
        keychain.clock.advance(by: .milliseconds(999))
        keychain.expectFailure(.enclaveSilent) { try keychain.add("early") }
        #expect(keychain.enclave.asked == asked + 1)
        keychain.clock.advance(by: .milliseconds(1))
        for number in 0..<5 { keychain.expectFailure(.enclaveSilent) { try keychain.add("\(number)") } }
        #expect(keychain.enclave.asked == asked + 2, "one finds out whether it is over")
    }

    @Test func oneAnswerEndsTheSilence() throws {
        let keychain = try MutableKeychain()
        keychain.enclave.fate.withLock { $0 = .silent }
        keychain.expectFailure(.enclaveSilent) { try keychain.add("a") }
        keychain.enclave.fate.withLock { $0 = .answers }
        keychain.expectFailure(.enclaveSilent) { try keychain.add("a") }
        keychain.clock.advance(by: .seconds(1))
        for number in 0..<3 { try keychain.add("\(number)") }
        #expect(try keychain.values() == 3)
    }

    /// A lock between the enclave's answer and its use: what was let go of is not
    /// kept by the call that a lock overtook.
    @Test func aKeyThatCameBeforeALockIsNotKeptAfterIt() throws {
        let keychain = try MutableKeychain()
        try keychain.add("a")
        try keychain.enclave.setPasscode("1234")
        keychain.letGo()
        keychain.enclave.afterOpening.withLock { hook in
            hook = {
                do throws(KeychainError) { try keychain.enclave.lock() } catch { Issue.record("\(error)") }
                keychain.letGo()
            }
        }
        #expect(try keychain.labels() == 1, "it began before the lock")
        keychain.expectFailure(.locked(class: "ak"), .interactionNotAllowed) { _ = try keychain.labels() }
    }

    /// One that went away is no silent one: the next call brings a new one.
    @Test func anEnclaveThatWentAwayIsAskedAgainAtOnce() throws {
        let keychain = try MutableKeychain()
        keychain.enclave.fate.withLock { $0 = .gone }
        for _ in 0..<3 {
            let asked = keychain.enclave.asked
            keychain.expectFailure(.enclaveUnreachable) { try keychain.add("a") }
            #expect(keychain.enclave.asked == asked + 2, "each call tries, and tries again on a new connection")
        }
        keychain.enclave.fate.withLock { $0 = .answers }
        try keychain.add("a")
    }

    @Test func aSilentEnclaveThatEndsIsAskedAgainAtOnce() throws {
        let keychain = try MutableKeychain()
        keychain.enclave.fate.withLock { $0 = .silent }
        keychain.expectFailure(.enclaveSilent) { try keychain.add("a") }
        keychain.enclave.fate.withLock { $0 = .gone }
        keychain.clock.advance(by: .seconds(1))
        keychain.expectFailure(.enclaveUnreachable) { try keychain.add("a") }
        keychain.enclave.fate.withLock { $0 = .answers }
        try keychain.add("a")
    }

    /// What is deleted before everything has come back could come back itself.
    @Test func nothingIsDeletedOrMovedWhileItemsComeBack() throws {
        let before = try EngineUnderTest()
        for index in 0..<3 { try before.add("\(index)", "v") }
        let path = before.folder.path
        let page = try before.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try before.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: before.databasePath))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        _ = try StoreSetAside.mark(in: PrivateDirectory(path, creating: false), storeID: nil, at: 0)
        let keychain = try MutableKeychain(path, .silent)
        keychain.enclave.fate.withLock { $0 = .answers }
        keychain.clock.advance(by: .seconds(1))
        try keychain.add("own")
        keychain.expectFailure(.stillSalvaging) { try keychain.delete("own") }
        keychain.expectFailure(.stillSalvaging) { try keychain.rename("own") }
        keychain.expectFailure(.stillSalvaging) { try keychain.change("missing") }
        try keychain.change("own")
        #expect(!keychain.isMalformed, "an answer about the old database is no word about the new one")
        try keychain.salvage()
        try keychain.delete("own")
        keychain.expectFailure(.nothingMatches, .itemNotFound) { try keychain.change("own") }
        #expect(try keychain.values() == 3)
    }

    /// Whatever the enclave answers but a permission stops the deletion.
    @Test(arguments: [RewrapOutcome.locked, .noClassKey, nil])
    func whatMayNotBeDeletedStays(answer: RewrapOutcome?) throws {
        let keychain = try MutableKeychain()
        try keychain.addAskingBeforeDeletion("a")
        keychain.enclave.permission.withLock { $0 = .some(answer) }
        #expect(throws: KeychainError.self) { try keychain.delete("a") }
        #expect(try keychain.labels() == 1)
        keychain.enclave.permission.withLock { $0 = nil }
        keychain.expectFailure(.interactionForbidden, .interactionNotAllowed) {
            try keychain.delete("a", asking: false)
        }
    }

    @Test func whatNeedsNoKeyGoesOn() throws {
        let keychain = try MutableKeychain()
        try keychain.add("a")
        keychain.enclave.fate.withLock { $0 = .silent }
        try keychain.relabel("a")
        keychain.expectFailure(.enclaveSilent) { try keychain.change("a") }
        try keychain.relabel("a")
        #expect(try keychain.labels() == 1)
    }
}

/// The real engine with a real enclave that can be struck dumb.
private final class MutableKeychain: Sendable {
    let clock = ManualClock()
    let enclave: MutableEnclave
    private let folder: TemporaryDirectory?
    private let engine: KeychainEngine

    /// A new store, or the one in a folder.
    init(_ place: String? = nil, _ fate: MutableEnclave.Fate = .answers) throws {
        folder = try place == nil ? TemporaryDirectory() : nil
        let path = place ?? folder?.path ?? ""
        let made = Mutex<MutableEnclave?>(nil)
        engine = try KeychainEngine.open(dataDirectory: path, clock: clock) { expected throws(KeychainError) in
            let enclave = MutableEnclave(
                try InProcessEnclave(
                    dataDirectory: path, expecting: expected, passcodeCost: .fixed(passes: 1, kibibytes: 8)!))
            enclave.fate.withLock { $0 = fate }
            made.withLock { $0 = enclave }
            return enclave
        }
        enclave = try #require(made.withLock { $0 })
    }

    private func call(
        _ operation: KeychainRequest.Operation, _ account: String, _ more: [(String, RawValue)] = [],
        changes: [(String, RawValue)] = [], value: String? = nil
    ) throws(KeychainError) -> KeychainAnswer {
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a"]
        let item: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string("silence")), ("acct", .string(account)),
        ]
        return try engine.answer(
            KeychainRequest(
                operation, query: QueryDictionary(item + more), changes: QueryDictionary(changes),
                value: value.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }),
            for: Authorization(entitlements))
    }

    func add(_ account: String) throws(KeychainError) {
        _ = try call(.add, account, [("v_Data", .secret)], value: "value")
    }

    func change(_ account: String) throws(KeychainError) {
        _ = try call(.update, account, changes: [("v_Data", .secret)], value: "another")
    }

    func relabel(_ account: String) throws(KeychainError) {
        _ = try call(.update, account, changes: [("labl", .string("label"))])
    }

    func delete(_ account: String, asking: Bool = true) throws(KeychainError) {
        _ = try call(.delete, account, asking ? [] : [("u_AuthUI", .string("u_AuthUIF"))])
    }

    /// An item whose value opens for everybody and that a person alone deletes.
    func addAskingBeforeDeletion(_ account: String) throws {
        try enclave.setPasscode("1234")
        let access = AccessControl(
            protection: "ak", constraints: ["od": .allowed, "odel": .passcode], requiresApplicationPassword: false)
        _ = try call(.add, account, [("accc", .accessControl(access)), ("v_Data", .secret)], value: "value")
    }

    func rename(_ account: String) throws(KeychainError) {
        _ = try call(.update, account, changes: [("acct", .string("another"))])
    }

    /// As the daemon does with each state that it hears of.
    func letGo() { engine.forgetMetadataKeys() }

    var isMalformed: Bool { engine.isMalformed }
    func salvage() throws(KeychainError) { _ = try engine.doctor(.salvage) }

    private func count(_ returned: String) throws(KeychainError) -> Int {
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a"]
        return try engine.answer(
            KeychainRequest(
                .copy,
                query: QueryDictionary([
                    ("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), (returned, .bool(true)),
                ])), for: Authorization(entitlements)
        ).rows.count
    }

    func values() throws(KeychainError) -> Int { try count("r_Data") }
    func labels() throws(KeychainError) -> Int { try count("r_Attributes") }

    func expectFailure(
        _ reason: Reason, _ status: Status = .notAvailable, _ location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        #expect(throws: KeychainError(status, reason: reason), sourceLocation: location) { try body() }
    }
}

private final class MutableEnclave: EnclaveConnector, EnclaveConnection {
    enum Fate { case answers, silent, gone }

    let fate = Mutex(Fate.answers)
    /// Done once, after the next metadata key was opened and before it is told.
    let afterOpening = Mutex<(@Sendable () -> Void)?>(nil)
    /// What is answered to whoever asks to use a row; nil: what is true.
    let permission = Mutex<RewrapOutcome??>(nil)
    private let calls = Mutex(0)
    private let below: InProcessEnclave

    init(_ below: InProcessEnclave) { self.below = below }

    /// How many calls have come so far.
    var asked: Int { calls.withLock { $0 } }
    var storeID: [UInt8] { below.storeID }
    var indexKey: SharedSecret { below.indexKey }
    func connect() -> any EnclaveConnection { self }
    func close() { below.close() }

    private func answer<R>(_ body: () -> R) throws(KeychainError) -> R {
        calls.withLock { $0 += 1 }
        switch fate.withLock({ $0 }) {
        case .answers: return body()
        case .silent: throw KeychainError(.notAvailable, reason: .enclaveSilent)
        case .gone: throw KeychainError(.notAvailable, reason: .enclaveUnreachable)
        }
    }

    func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        try answer { below.makeRowKeys(for: rows, in: session) }
    }

    func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome] {
        try answer { below.openRowKeys(rows, in: session) }
    }

    func makeMetadataKey(for protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome {
        try answer { below.makeMetadataKey(for: protectionClass) }
    }

    func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome
    {
        let outcome = try answer { below.openMetadataKey(wrapped, of: protectionClass) }
        let hook = afterOpening.withLock { hook in
            defer { hook = nil }
            return hook
        }
        hook?()
        return outcome
    }

    func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [RewrapOutcome] {
        if let answer = permission.withLock({ $0 }) { return answer.map { [$0] } ?? [] }
        return below.permit(operation, on: rows, in: session)
    }

    func setPasscode(_ passcode: String) throws {
        try below.setPasscode(SharedSecret(SecretBytes(copying: Array(passcode.utf8))))
    }

    func openSession() throws(KeychainError) -> AuthenticationSessionID { try below.openSession() }
    func closeSession(_ session: AuthenticationSessionID) throws(KeychainError) { below.closeSession(session) }

    func setApplicationKey(_ key: SharedSecret?, in session: AuthenticationSessionID) throws(KeychainError) {
        below.setApplicationKey(key, in: session)
    }

    func means() throws(KeychainError) -> AuthenticationMeans { below.means() }

    func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration
    ) throws(KeychainError) -> Bool { try below.isMet(subject, in: session, reusing: age) }

    func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID
    ) throws(KeychainError) -> [UInt8]? { try below.ask(question, in: session) }

    func outcome(of question: [UInt8]) throws(KeychainError) -> QuestionOutcome? { below.outcome(of: question) }

    func rewrapRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)]
    ) throws(KeychainError) -> [RewrapOutcome] { try answer { below.rewrapRowKeys(rows) } }

    func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError) {
        try below.retire(protectionClass, below: generation)
    }

    func lock() throws(KeychainError) { try below.lock() }

    func state(after number: UInt64, orUntil cancelled: EventSignal) throws(KeychainError) -> EnclaveDescription? {
        below.state(after: number, orUntil: cancelled)
    }

    func describe() throws(KeychainError) -> EnclaveDescription { try answer { below.describe() } }

    func sealAudit(_ records: [UInt8], fromFile lowest: UInt64) throws(KeychainError) -> SealedAuditBlock? {
        try below.sealAudit(records, fromFile: lowest)
    }

    func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace? {
        try below.confirmAudit(block)
    }

    func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError) {
        try below.noteUnwritten(count, by: teller)
    }

    func auditHead(settled: Bool) throws(KeychainError) -> AuditPlace? { below.auditHead(settled: settled) }

    func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) throws(KeychainError) -> AuditOpening {
        below.openAudit(boxes, from: first)
    }
}
