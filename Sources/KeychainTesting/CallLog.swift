internal import KeychainModel
internal import KeychainProtocol
internal import KeychainServices
internal import Synchronization

/// The calls of one test keychain, in the order in which they ended, and the rule
/// by which they are answered.
final class CallLog: Sendable {
    private struct State {
        var calls: [RecordedCall] = []
        var unexpected: [RecordedCall] = []
        var rule: (@Sendable (RecordedCall) -> CallRule)?
    }

    private let state = Mutex(State())

    var calls: [RecordedCall] { state.withLock { $0.calls } }
    var unexpected: [RecordedCall] { state.withLock { $0.unexpected } }

    func forget() {
        state.withLock { state in
            state.calls = []
            state.unexpected = []
        }
    }

    func setRule(_ rule: (@Sendable (RecordedCall) -> CallRule)?) { state.withLock { $0.rule = rule } }

    /// Makes a call, or answers it by the rule, and notes it.
    func perform(
        _ request: KeychainRequest, _ call: () throws(KeychainError) -> KeychainAnswer
    ) throws(KeychainError) -> KeychainAnswer {
        do throws(KeychainError) {
            guard try !refuse(request) else {
                // Also where the call fails: nobody hears that either.
                do throws(KeychainError) { _ = try call() } catch {}
                throw KeychainError(
                    .notAvailable, reason: .noAnswer(mayHaveHappened: request.isWrite),
                    underlying: "as the rule of this test says")
            }
            let answer = try call()
            note(request, errSecSuccess)
            return answer
        } catch {
            note(request, error.status.rawValue)
            throw error
        }
    }

    /// Whether the call is to be made and its answer lost.
    private func refuse(_ request: KeychainRequest) throws(KeychainError) -> Bool {
        // The rule is the test's code: it may look at the calls itself.
        guard let rule = state.withLock({ $0.rule }), let call = RecordedCall(request, errSecSuccess) else {
            return false
        }
        switch rule(call) {
        case .answer: return false
        case .answerLost: return true
        case .failure(let error): throw error
        case .fail(let status):
            precondition(status != errSecSuccess, "a call cannot fail with errSecSuccess: answer .answer")
            throw KeychainError(Status(rawValue: status), reason: .notImplemented(what: "what this test refuses"))
        case .unexpected:
            if let answered = RecordedCall(request, errSecNotAvailable) {
                state.withLock { $0.unexpected.append(answered) }
            }
            throw KeychainError(.notAvailable, reason: .notImplemented(what: "what this test does not expect"))
        }
    }

    private func note(_ request: KeychainRequest, _ status: OSStatus) {
        guard let call = RecordedCall(request, status) else { return }
        state.withLock { $0.calls.append(call) }
    }
}

extension TestKeychain {
    /// Every call so far, in the order in which they ended, whoever made it.
    public var calls: [RecordedCall] { machine.log.calls }

    /// The calls that the rule called ``CallRule/unexpected``.
    public var unexpectedCalls: [RecordedCall] { machine.log.unexpected }

    /// Begins the lists anew.
    public func forgetCalls() { machine.log.forget() }

    /// Asks `rule` before each call, in place of the rule before; nil: every call is
    /// answered.
    ///
    /// ```swift
    /// keychain.intercept { $0.function == .add ? .fail(errSecInteractionNotAllowed) : .answer }
    /// keychain.intercept { $0.function == .copyMatching ? .answer : .unexpected }
    /// ```
    public func intercept(_ rule: (@Sendable (RecordedCall) -> CallRule)?) { machine.log.setRule(rule) }
}
