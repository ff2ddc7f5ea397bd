import Enclave
import Glibc
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// What is agreed to and set in one context (LAContext), at the real daemon.
@Suite struct ContextTests {
    private let person = PersonAtHand()

    private static func item(_ more: [(String, RawValue)]) -> QueryDictionary {
        QueryDictionary([("class", .string("genp")), ("svce", .string("context")), ("acct", .string("a"))] + more)
    }

    private static func add(_ flags: AccessControlFlags) throws -> KeychainRequest {
        let access = try #require(AccessControl(protection: "ak", flags: flags))
        return KeychainRequest(
            .add, query: item([("accc", .accessControl(access)), ("v_Data", .secret)]), value: secret("value"))
    }

    private static func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }

    private static let read = KeychainRequest(.copy, query: item([("r_Data", .bool(true))]))

    /// The status of a read; success only with the value.
    private func status(in context: any AuthenticationSession) -> Status {
        do throws(KeychainError) { return Self.judge(try context.perform(Self.read)) } catch { return error.status }
    }

    private func status(of client: any KeychainTransport) -> Status {
        do throws(KeychainError) { return Self.judge(try client.perform(Self.read)) } catch { return error.status }
    }

    private static func judge(_ answer: KeychainAnswer) -> Status {
        answer.rows.first?.value?.bytes.insecureArray() == Array("value".utf8) ? .success : .internalComponent
    }

    /// Else the contexts of a program would have the connections of its calls.
    @Test func callsHaveAConnectionBesideAnyNumberOfContexts() throws {
        let daemon = try person.daemon()
        let client = daemon.client()
        var contexts: [any AuthenticationSession] = []
        var refused = 0
        for _ in 0..<70 {
            let context = client.authenticationSession()
            do throws(KeychainError) {
                _ = try context.means()
                contexts.append(context)
            } catch {
                #expect(error.reason == .busy)
                refused += 1
            }
        }
        #expect(contexts.count == 56 && refused == 14)
        #expect(try client.perform(KeychainRequest(.status)).status != nil)
        contexts.removeLast()
        _ = try client.authenticationSession().means()
    }

    /// Nothing but the items themselves shows whether a password is theirs.
    @Test func anAccessControlIsNotAgreedToWithoutItsApplicationPassword() throws {
        let daemon = try person.daemon()
        let context = daemon.client().authenticationSession()
        let access = try #require(AccessControl(protection: "ak", flags: .applicationPassword))
        let demand = AuthenticationDemand(.accessControl(access, operation: "od"), reason: "")
        let refusal = #expect(throws: KeychainError.self) { try context.evaluate(demand) }
        #expect(refusal?.reason == .authenticationFailed)
        try context.setApplicationPassword(Self.secret("open sesame"))
        try context.evaluate(demand)
        #expect(person.asked.isEmpty)
    }

    @Test func anApplicationPasswordIsThatOfItsContext() throws {
        let daemon = try person.daemon()
        let client = daemon.client()
        #expect(throws: KeychainError.self) { try client.perform(try Self.add(.applicationPassword)) }
        let right = client.authenticationSession()
        try right.setApplicationPassword(Self.secret("open sesame"))
        _ = try right.perform(try Self.add(.applicationPassword))
        #expect(status(in: right) == .success)
        #expect(status(of: client) == .authFailed)
        let another = daemon.client().authenticationSession()
        #expect(status(in: another) == .authFailed)
        try another.setApplicationPassword(Self.secret("open barley"))
        #expect(status(in: another) == .authFailed)
        try another.setApplicationPassword(Self.secret("open sesame"))
        #expect(status(in: another) == .success)
        try another.setApplicationPassword(nil)
        #expect(status(in: another) == .authFailed)
        // Nobody was asked for what a person does not know.
        #expect(person.asked.isEmpty)
    }

    /// `canEvaluatePolicy` and `biometryType` of a context whose prompt is open: a main thread
    /// would stand still until it is answered.
    @Test func whatAContextCouldProveIsToldWhileItsPromptIsOpen() throws {
        let daemon = try person.daemon()
        let decided = try EventSignal()
        person.answer(.hesitates(decided))
        let context = daemon.client().authenticationSession()
        let outcome = Mutex<Result<Void, KeychainError>?>(nil)
        TestThread.start {
            let result = Result { () throws(KeychainError) in
                try context.evaluate(AuthenticationDemand(.policy(.deviceOwner), reason: "a test"))
            }
            outcome.withLock { $0 = result }
        }
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        while person.asked.isEmpty, !deadline.hasPassed { sched_yield() }
        #expect(try context.means().hasPasscode)
        #expect(outcome.withLock { $0 } == nil, "the prompt is open still")
        decided.signal()
        while outcome.withLock({ $0 }) == nil, !deadline.hasPassed { sched_yield() }
        guard case .failure(let error)? = outcome.withLock({ $0 }) else {
            Issue.record("nobody agreed")
            return
        }
        #expect(error.status == .userCanceled)
        // An end is an end, beside a prompt too.
        context.end()
        #expect(throws: KeychainError(.authFailed, reason: .contextInvalid)) { try context.means() }
    }

    @Test func anAgreementIsThatOfItsContext() throws {
        let daemon = try person.daemon()
        let client = daemon.client()
        _ = try client.perform(try Self.add(.userPresence))
        let context = client.authenticationSession()
        try context.evaluate(AuthenticationDemand(.policy(.deviceOwner), reason: "once"))
        for _ in 0..<3 {
            #expect(status(in: context) == .success)
        }
        #expect(person.asked == [.agree])
        person.answer(.cancels)
        #expect(status(of: client) == .userCanceled)
        let another = client.authenticationSession()
        #expect(status(in: another) == .userCanceled)
        // A lock ends it, and the end of the context.
        try daemon.enclave.lock()
        #expect(status(in: context) == .interactionNotAllowed)
        try person.unlock(daemon)
        #expect(status(in: context) == .userCanceled)
        context.end()
        #expect(status(in: context) == .authFailed)
    }
}
