import Keychain
import KeychainTesting
import Synchronization
import Testing

/// The workflow of WWDC 2013, session 709, and what it warns of.
@Suite struct SecretMemoryTests {
    private let keychain: TestKeychain
    private let address = ItemAddress.internetPassword(server: "example.com", account: "alice")

    init() throws { keychain = try TestKeychain() }

    /// A person with answers prepared.
    private final class Person: Sendable {
        private let state: Mutex<(answers: [String?], questions: [SecretMemory.Question])>
        init(_ answers: String?...) { state = Mutex((answers, [])) }
        var questions: [SecretMemory.Question] { state.withLock { $0.questions } }

        func answer(_ question: SecretMemory.Question) -> Secret? {
            state.withLock { state in
                state.questions.append(question)
                return state.answers.isEmpty ? nil : state.answers.removeFirst().map { Secret($0) }
            }
        }
    }

    private func stored() throws -> String? { try SecretStore().secret(for: address)?.insecureText }

    private func use(
        _ person: Person, isRight: @escaping (String?) -> SecretMemory.Verdict
    ) -> SecretMemory.Outcome {
        SecretMemory(of: address).use(asking: person.answer, trying: { isRight($0.insecureText) })
    }

    @Test func whatWasAcceptedIsNotAskedForAgain() throws {
        try keychain.withScope { () throws in
            let person = Person("right")
            #expect(use(person) { $0 == "right" ? .accepted : .rejected } == .learned)
            #expect(use(person) { $0 == "right" ? .accepted : .rejected } == .remembered)
            #expect(person.questions == [.nothingStored])
            #expect(try stored() == "right")
        }
    }

    @Test func onlyWhatWasAcceptedIsStored() throws {
        try keychain.withScope { () throws in
            let person = Person("wrong", "wrong too", "right", "never asked for")
            #expect(use(person) { $0 == "right" ? .accepted : .rejected } == .learned)
            #expect(person.questions == [.nothingStored, .typedOneRejected, .typedOneRejected])
            #expect(try stored() == "right")
        }
    }

    @Test func aRejectedOneIsReplacedByAnAcceptedOneAlone() throws {
        try keychain.withScope { () throws in
            try SecretStore().set(Secret("old"), for: address)
            #expect(use(Person("typo", "typo", "typo")) { _ in .rejected } == .rejected)
            #expect(try stored() == "old")
            #expect(use(Person(nil)) { _ in .rejected } == .canceled)
            #expect(try stored() == "old")
            let person = Person("new")
            #expect(use(person) { $0 == "new" ? .accepted : .rejected } == .learned)
            #expect(person.questions == [.storedOneRejected])
            #expect(try stored() == "new")
        }
    }

    @Test func whatNobodyCanJudgeChangesNothing() throws {
        try keychain.withScope { () throws in
            try SecretStore().set(Secret("old"), for: address)
            let person = Person("new")
            #expect(use(person) { _ in .unknown } == .unknown)
            #expect(person.questions.isEmpty)
            #expect(use(person) { $0 == "old" ? .rejected : .unknown } == .unknown)
            #expect(try stored() == "old")
            try SecretStore().remove(address)
            #expect(use(Person("new")) { _ in .unknown } == .unknown)
            #expect(try stored() == nil)
        }
    }

    @Test func aKeychainThatFailsLocksNobodyOut() throws {
        try keychain.withScope { () throws in
            keychain.close()
            let person = Person("right")
            let outcome = use(person) { $0 == "right" ? .accepted : .rejected }
            guard case .acceptedOnly(let error) = outcome, case .keychainFailed(let first) = person.questions.first
            else {
                Issue.record("\(outcome) \(person.questions)")
                return
            }
            #expect(error.status == .notAvailable && first.status == .notAvailable)
        }
    }

    @Test func itCanBeAwaited() async throws {
        await keychain.withScope {
            let memory = SecretMemory(of: address)
            for expected in [SecretMemory.Outcome.learned, .remembered] {
                let outcome = await memory.use(
                    asking: { _ in
                        await Task.yield()
                        return Secret("right")
                    },
                    trying: { secret in
                        await Task.yield()
                        return secret.insecureText == "right" ? .accepted : .rejected
                    })
                #expect(outcome == expected)
            }
            let canceled = await SecretMemory(of: .password(service: "x")).use(
                asking: { _ in nil }, trying: { _ async in .accepted })
            #expect(canceled == .canceled)
            let rejected = await memory.use(asking: { _ async in Secret("a") }, trying: { _ async in .rejected })
            #expect(rejected == .rejected)
            let unknown = await memory.use(asking: { _ async in Secret("a") }, trying: { _ async in .unknown })
            #expect(unknown == .unknown)
        }
    }

    /// What a window has: a person's answers and an account, on the main actor.
    @MainActor private final class Window {
        var questions = 0
        let memory: SecretMemory

        init(_ memory: SecretMemory) { self.memory = memory }

        func logIn() async -> SecretMemory.Outcome {
            await memory.use(
                asking: { _ async in
                    questions += 1
                    return Secret("typed")
                },
                trying: { _ async in
                    MainActor.assertIsolated()
                    return .accepted
                })
        }
    }

    @MainActor @Test func anActorsClosuresUseItsState() async throws {
        let keychain = try TestKeychain()
        let window = Window(SecretMemory(of: address))
        let outcome = await keychain.withScope { await window.logIn() }
        #expect(outcome == .learned && window.questions == 1)
    }
}
