internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainProtocol
internal import Synchronization

extension LAContext {
    /// - Parameter subject: nil: what a companion would have to do.
    func evaluate(
        _ subject: AuthenticationSubject?, _ reason: String, wanted: LAError.Wanted,
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let demand = subject.map {
            AuthenticationDemand(
                $0, reason: reason, mayAsk: !interactionNotAllowed,
                reuse: .seconds(touchIDAuthenticationAllowableReuseDuration))
        }
        let wasEnded = session.isEnded
        // A test's keychain is that of the reply as well.
        let scope = CurrentKeychain.scoped
        Self.replies.async { [self] in
            CurrentKeychain.$scoped.withValue(scope) {
                let failure = failure(of: demand, wanted: wanted, wasEnded: wasEnded)
                reply(failure == nil, failure)
            }
        }
    }

    private func failure(of demand: AuthenticationDemand?, wanted: LAError.Wanted, wasEnded: Bool) -> (any Error)? {
        guard let demand else { return Self.noCompanion }
        guard !demand.reason.isEmpty else {
            return LAError.parameterError("localizedReason is empty; say what it is for")
        }
        do throws(KeychainError) {
            try session.use { session throws(KeychainError) in try session.evaluate(demand) }
            noteDomainState()
            return nil
        } catch {
            if error.reason == .contextInvalid, !wasEnded, session.isEnded {
                return LAError(.appCancel, explanation: "the program invalidated the context", underlying: error)
            }
            return LAError(error, wanted: wanted)
        }
    }

    private static var noCompanion: LAError {
        LAError(.companionNotAvailable, explanation: "there is no watch or other companion")
    }

    /// Why a policy could not be evaluated now; nil: it could.
    func refusal(of policy: LAPolicy) -> LAError? {
        guard let wanted = policy.wanted else { return Self.noCompanion }
        do throws(KeychainError) {
            let means = try session.use { session throws(KeychainError) in try session.means() }
            settings.withLock { $0.seen = means }
            if wanted == .biometry { try Self.check(means.biometry) }
            guard means.hasPasscode else { throw KeychainError(.authFailed, reason: .passcodeNotSet) }
            remember(means)
            return nil
        } catch {
            return LAError(error, wanted: wanted == .biometry ? .biometry : .passcodeOrBiometry)
        }
    }

    private static func check(_ biometry: BiometryState?) throws(KeychainError) {
        guard let biometry else { throw KeychainError(.authFailed, reason: .biometryNotAvailable) }
        guard biometry.isEnrolled else { throw KeychainError(.authFailed, reason: .biometryNotEnrolled) }
        guard !biometry.isLockedOut else { throw KeychainError(.authFailed, reason: .biometryLockedOut) }
    }

    /// What the keychain said last; where it was not asked, it is asked now.
    func lastMeans() -> AuthenticationMeans? {
        settings.withLock({ $0.seen }) ?? means()
    }

    /// A property has no place for a cause; canEvaluatePolicy says it.
    private func means() -> AuthenticationMeans? {
        do throws(KeychainError) {
            let means = try session.use { session throws(KeychainError) in try session.means() }
            settings.withLock { $0.seen = means }
            return means
        } catch {
            return nil
        }
    }

    /// After a yes, which stays one where the state cannot be told.
    private func noteDomainState() {
        if let means = means() { remember(means) }
    }

    /// Notes the state of biometry of a yes.
    private func remember(_ means: AuthenticationMeans) {
        let state = Self.domainState(of: means.biometry)
        settings.withLock {
            $0.seen = means
            $0.domainState = state
        }
    }

    static func domainState(of biometry: BiometryState?) -> Data? {
        guard let biometry, biometry.isEnrolled, !biometry.enrolment.isEmpty else { return nil }
        return Data(biometry.enrolment)
    }
}
