/// Remembers a secret that a person has typed once, and asks again only when it
/// has really become wrong.
///
/// The workflow: look the secret up; where there is one, try it; where there is
/// none or it was rejected, ask the person and try that; store what was accepted,
/// and only that.
///
/// ```swift
/// let memory = SecretMemory(of: .internetPassword(server: "example.com", account: "alice"))
/// let outcome = memory.use(
///     asking: { reason in terminal.prompt(reason) },
///     trying: { password in server.logIn(password) })
/// ```
///
/// Three things that are easily got wrong are settled here. A failure that leaves
/// open whether the secret is right (no network, a server that is down) never
/// removes or replaces what is stored. A secret is stored only after it was
/// accepted. And where the keychain itself fails, the person is asked all the
/// same: nobody is locked out of a service because a keychain is locked.
///
/// Nothing removes a stored secret: one that was rejected stays until another was
/// accepted in its place, so that a service with a bad day costs nobody a password
/// that lies on paper in a safe.
public struct SecretMemory: Sendable {
    /// Where the secret is kept.
    public let address: ItemAddress
    /// In which keychain, and in which groups.
    public let store: SecretStore
    /// How often a person is asked at most.
    public let mostQuestions: Int

    /// A memory of one secret.
    ///
    /// - Parameters:
    ///   - address: where the secret is kept.
    ///   - store: in which keychain, and in which groups.
    ///   - mostQuestions: how often a person is asked at most; at least 1.
    public init(of address: ItemAddress, in store: SecretStore = SecretStore(), mostQuestions: Int = 3) {
        precondition(mostQuestions > 0, "a memory that never asks never learns")
        self.address = address
        self.store = store
        self.mostQuestions = mostQuestions
    }

    /// What trying a secret showed.
    public enum Verdict: Sendable, Hashable {
        /// It is right.
        case accepted
        /// Whoever it is for has said that it is wrong.
        case rejected
        /// Nobody can say: the service was not reached, or failed for another reason.
        case unknown
    }

    /// Why a person is asked.
    public enum Question: Sendable, Hashable {
        /// No secret is stored.
        case nothingStored
        /// The stored one was rejected.
        case storedOneRejected
        /// What was typed last was rejected.
        case typedOneRejected
        /// The keychain could not be read.
        case keychainFailed(KeychainError)
    }

    /// How it ended.
    public enum Outcome: Sendable, Hashable {
        /// The stored secret was accepted; nobody was asked.
        case remembered
        /// A typed secret was accepted, and is stored now.
        case learned
        /// A typed secret was accepted and could not be stored: the person will be
        /// asked again next time.
        case acceptedOnly(KeychainError)
        /// As many secrets as may be asked for were rejected.
        case rejected
        /// Nobody could say whether a secret is right. What is stored is untouched.
        case unknown
        /// The person gave none.
        case canceled
    }

    /// Runs the workflow, and blocks the thread meanwhile; it cannot be called where one
    /// can `await`.
    ///
    /// - Parameters:
    ///   - ask: gives what a person typed; nil where they gave up.
    ///   - attempt: tries a secret where it is needed.
    @available(*, noasync, message: "await it; a closure that awaits nothing begins with `_ async in`")
    public func use(asking ask: (Question) -> Secret?, trying attempt: (Secret) -> Verdict) -> Outcome {
        var steps = Steps(mostQuestions)
        let stored: Secret?
        do throws(KeychainError) { stored = try store.secret(for: address) } catch {
            stored = nil
            steps.question = .keychainFailed(error)
        }
        if let stored, let outcome = steps.heard(attempt(stored)) { return outcome }
        while steps.mayAsk {
            guard let typed = ask(steps.question) else { return .canceled }
            switch steps.heardOfTyped(attempt(typed)) {
            case .end(let outcome): return outcome
            case .again: continue
            case .store:
                do throws(KeychainError) { try store.set(typed, for: address) } catch { return .acceptedOnly(error) }
                return .learned
            }
        }
        return .rejected
    }

    /// Runs the workflow without blocking a thread. The closures run where the caller
    /// does, and may use what belongs to its actor.
    ///
    /// A closure that awaits nothing has to say that it might, or the compiler takes it for
    /// one of the function that blocks:
    ///
    /// ```swift
    /// await memory.use(asking: { _ async in field.secret }, trying: { await server.logIn($0) })
    /// ```
    ///
    /// - Parameters:
    ///   - isolation: the caller's actor.
    ///   - ask: gives what a person typed; nil where they gave up.
    ///   - attempt: tries a secret where it is needed.
    public func use(
        isolation: isolated (any Actor)? = #isolation, asking ask: (Question) async -> Secret?,
        trying attempt: (Secret) async -> Verdict
    ) async -> Outcome {
        var steps = Steps(mostQuestions)
        let stored: Secret?
        do throws(KeychainError) { stored = try await store.secret(for: address) } catch {
            stored = nil
            steps.question = .keychainFailed(error)
        }
        if let stored, let outcome = steps.heard(await attempt(stored)) { return outcome }
        while steps.mayAsk {
            guard let typed = await ask(steps.question) else { return .canceled }
            switch steps.heardOfTyped(await attempt(typed)) {
            case .end(let outcome): return outcome
            case .again: continue
            case .store:
                do throws(KeychainError) { try await store.set(typed, for: address) } catch {
                    return .acceptedOnly(error)
                }
                return .learned
            }
        }
        return .rejected
    }
}

/// The decisions of the workflow, apart from what waits.
private struct Steps {
    var question = SecretMemory.Question.nothingStored
    private var questionsLeft: Int

    init(_ mostQuestions: Int) { questionsLeft = mostQuestions }

    var mayAsk: Bool { questionsLeft > 0 }

    enum Next {
        case end(SecretMemory.Outcome)
        case again
        case store
    }

    /// nil: a person has to be asked.
    mutating func heard(_ verdict: SecretMemory.Verdict) -> SecretMemory.Outcome? {
        switch verdict {
        case .accepted: return .remembered
        case .unknown: return .unknown
        case .rejected:
            question = .storedOneRejected
            return nil
        }
    }

    mutating func heardOfTyped(_ verdict: SecretMemory.Verdict) -> Next {
        questionsLeft -= 1
        switch verdict {
        case .accepted: return .store
        case .unknown: return .end(.unknown)
        case .rejected:
            question = .typedOneRejected
            return .again
        }
    }
}
