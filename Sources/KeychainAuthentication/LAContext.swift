internal import Dispatch
public import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
public import KeychainServices
internal import Synchronization

/// A context in which a person agrees, by biometry or passcode, and which carries
/// that agreement into calls of the keychain (`kSecUseAuthenticationContext`).
///
/// What was agreed to in a context counts in that context alone, until
/// ``invalidate()`` or its end. It belongs to the keychain that is the current one
/// where it is first used: in a test's scope, to that test's.
///
/// Safe for any number of threads. Apple's counterpart: the class of the same name.
// Unchecked for NSObject's sake: all that changes lies behind the locks of
// `session` and `settings`.
open class LAContext: NSObject, @unchecked Sendable {
    struct Settings {
        var localizedReason = ""
        var fallbackTitle: String?
        var cancelTitle: String?
        var interactionNotAllowed = false
        var reuse: TimeInterval = 0
        var mostFailures: Int?
        /// As the keychain said last; nil: it was not asked.
        var seen: AuthenticationMeans?
        var domainState: Data?
    }

    let session = ContextSession()
    let settings = Mutex(Settings())

    /// Replies come on threads of this queue. Concurrent, so that a reply may wait
    /// for another.
    static let replies = DispatchQueue(label: "latchkey.LAContext", attributes: .concurrent)

    /// A context in which nobody has agreed to anything. Reaches no keychain yet.
    public override init() { super.init() }

    deinit { session.end() }

    // MARK: What a prompt says

    /// The prompt of keychain calls that have none of their own
    /// (`kSecUseOperationPrompt`). ``evaluatePolicy(_:localizedReason:reply:)`` does
    /// not look at it.
    open var localizedReason: String {
        get { settings.withLock { $0.localizedReason } }
        set { settings.withLock { $0.localizedReason = newValue } }
    }

    /// Kept, and shown nowhere: the prompt is the keychain's own and offers the
    /// passcode by itself.
    open var localizedFallbackTitle: String? {
        get { settings.withLock { $0.fallbackTitle } }
        set { settings.withLock { $0.fallbackTitle = newValue } }
    }

    /// Kept, and shown nowhere: the prompt is the keychain's own.
    open var localizedCancelTitle: String? {
        get { settings.withLock { $0.cancelTitle } }
        set { settings.withLock { $0.cancelTitle = newValue } }
    }

    // MARK: What is allowed

    /// Whether asking a person is ruled out: evaluations that would have to fail
    /// with ``LAError/Code/notInteractive``, keychain calls with
    /// `errSecInteractionNotAllowed`.
    open var interactionNotAllowed: Bool {
        get { settings.withLock { $0.interactionNotAllowed } }
        set { settings.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// How old an unlocking by biometry may be, in seconds, to count for an
    /// evaluation. From 0, the default, to
    /// ``LATouchIDAuthenticationMaximumAllowableReuseDuration``; what lies outside
    /// becomes the nearer of the two.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { settings.withLock { $0.reuse } }
        set {
            // A comparison with what is no number is false, so that it becomes 0.
            let clamped = newValue > 0 ? min(newValue, LATouchIDAuthenticationMaximumAllowableReuseDuration) : 0
            settings.withLock { $0.reuse = clamped }
        }
    }

    /// Kept, without effect: the source of biometry counts attempts itself.
    @available(*, deprecated, message: "It has no effect")
    open var maxBiometryFailures: NSNumber? {
        get { settings.withLock { $0.mostFailures }.map { NSNumber(value: $0) } }
        set {
            let count = newValue?.intValue
            settings.withLock { $0.mostFailures = count }
        }
    }

    // MARK: What there is

    /// By what a person could be recognized, enrolled or not. As the last
    /// ``canEvaluatePolicy(_:error:)`` found it; asks the keychain where there was
    /// none, and is `none` where it does not answer.
    open var biometryType: LABiometryType { LABiometryType(lastMeans()?.biometry) }

    /// Changes when a finger or face is enrolled or removed; opaque. Nil until an
    /// evaluation or ``canEvaluatePolicy(_:error:)`` has said yes, and where no
    /// biometry is enrolled or its state cannot be told.
    open var evaluatedPolicyDomainState: Data? { settings.withLock { $0.domainState } }

    /// The same as ``evaluatedPolicyDomainState`` with the kind of biometry, before
    /// any evaluation too.
    open var domainState: LADomainState {
        let biometry = lastMeans()?.biometry
        return LADomainState(
            biometry: LADomainStateBiometry(
                biometryType: LABiometryType(biometry), stateHash: Self.domainState(of: biometry)))
    }

    /// Whether a person could be asked now. Asks nobody; waits no longer than
    /// five seconds for a keychain that does not answer.
    ///
    /// - Parameters:
    ///   - policy: What would be asked.
    ///   - error: Receives the ``LAError`` where the answer is no: the biometry's
    ///     codes, then ``LAError/Code/passcodeNotSet``; `invalidContext`; or
    ///     `systemCancel` where no keychain answers.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        guard let failure = refusal(of: policy) else { return true }
        if let place = unsafe error { unsafe place.pointee = failure._nsError }
        return false
    }

    // MARK: Evaluating

    /// Has a person agree, unless one did before in this context. The reply comes on
    /// a thread of its own, after 60 s at the latest, and keeps the context until
    /// then.
    ///
    /// - Parameters:
    ///   - policy: What they have to prove.
    ///   - localizedReason: What the program says it is for; shown as a quotation.
    ///     Empty is an error of the domain ``LAErrorDomain``, number -1001 (Apple's
    ///     framework raises an exception).
    ///   - reply: Receives true, or false with an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(
            policy.wanted.map(AuthenticationSubject.policy), localizedReason,
            wanted: policy.wanted == .biometry ? .biometry : .passcodeOrBiometry, reply)
    }

    /// The same for who can wait: see ``evaluatePolicy(_:localizedReason:reply:)``.
    /// Cancelling the task ends no prompt; ``invalidate()`` does.
    ///
    /// - Returns: true.
    /// - Throws: ``LAError``; NSError -1001 of the same domain for an empty reason.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { agreed, error in
                continuation.resume(with: error.map(Result.failure) ?? .success(agreed))
            }
        }
    }

    /// Has a person agree to what an access control asks before an operation; see
    /// ``evaluatePolicy(_:localizedReason:reply:)``.
    ///
    /// - Parameters:
    ///   - accessControl: That of an item or a key.
    ///   - operation: What is to be done with it.
    ///   - localizedReason: What the program says it is for; not empty.
    ///   - reply: Receives true, or false with an ``LAError``.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let inner = accessControl.accessControl
        let code = operation.code(in: inner)
        evaluate(
            .accessControl(inner, operation: code), localizedReason,
            wanted: inner.wantsBiometryAlone(for: code) ? .biometry : .passcodeOrBiometry, reply)
    }

    /// The same for who can wait; see
    /// ``evaluatePolicy(_:localizedReason:reply:)``.
    ///
    /// - Returns: true.
    /// - Throws: ``LAError``; NSError -1001 of the same domain for an empty reason.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                continuation.resume(with: $1.map(Result.failure) ?? .success($0))
            }
        }
    }

    /// Nothing that was agreed to in the context counts any more. An evaluation that
    /// waits ends with ``LAError/Code/appCancel``, later ones with
    /// ``LAError/Code/invalidContext``, keychain calls with `errSecAuthFailed`.
    open func invalidate() { session.end() }

    // MARK: Credentials

    /// Brings the application password of items that ask for one, for calls through
    /// this context.
    ///
    /// - Parameters:
    ///   - credential: The password in UTF-8; it is copied into wiped memory. Nil
    ///     takes it back.
    ///   - type: `applicationPassword`; others are not taken.
    /// - Returns: Whether the keychain has it now; false also for an invalidated
    ///   context.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        do throws(KeychainError) {
            var password: SharedSecret?
            if let credential { password = try SharedSecret(copying: credential, what: "the credential") }
            try session.setApplicationPassword(password)
            return true
        } catch {
            // Apple's signature has no place for the cause.
            return false
        }
    }

    /// Whether ``setCredential(_:type:)`` has brought one that counts still.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && session.hasCredential
    }
}
