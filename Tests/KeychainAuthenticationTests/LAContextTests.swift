import Dispatch
import Foundation
import KeychainAuthentication
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices
import Synchronization
import Testing

/// What an LAContext asks its session for, and what it makes of the answer.
@Suite struct LAContextTests {
    private func within<Outcome>(
        _ keychain: ScriptedKeychain, _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        try await CurrentKeychain.$scoped.withValue(keychain, operation: body)
    }

    // MARK: Asking

    @Test func aPersonWhoAgreesIsAYes() async throws {
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            let context = LAContext()
            context.touchIDAuthenticationAllowableReuseDuration = 30
            let agreed = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "pay")
            #expect(agreed)
            let demand = AuthenticationDemand(.policy(.deviceOwner), reason: "pay", reuse: .seconds(30))
            #expect(keychain.sessions.first?.demands == [demand])
        }
    }

    @Test func theReplyComesInTheKeychainOfTheCall() async throws {
        let keychain = ScriptedKeychain(.init())
        let agreed = try await within(keychain) {
            await withCheckedContinuation { continuation in
                // As programs do: nothing but the evaluation holds the context.
                LAContext().evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "pay") {
                    let isSame = (CurrentKeychain.scoped as? ScriptedKeychain) === keychain
                    continuation.resume(returning: $0 && $1 == nil && isSame)
                }
            }
        }
        #expect(agreed)
        #expect(keychain.sessions.first?.demands.first?.subject == .policy(.biometry))
        #expect(keychain.sessions.first?.ends == 1)
    }

    @Test(arguments: [
        (Reason.userCanceled, LAError.Code.userCancel), (.promptTimedOut, .systemCancel),
        (.interactionForbidden, .notInteractive), (.nobodyToAsk(why: "no display"), .notInteractive),
        (.authenticationFailed, .authenticationFailed), (.attemptsDelayed(seconds: 60), .authenticationFailed),
        (.passcodeNotSet, .passcodeNotSet), (.biometryNotAvailable, .biometryNotAvailable),
        (.biometryNotEnrolled, .biometryNotEnrolled), (.contextInvalid, .invalidContext),
        (.daemonUnreachable, .systemCancel), (.noAnswer(mayHaveHappened: false), .systemCancel),
    ])
    func causesAreApplesCodes(_ reason: Reason, _ code: LAError.Code) async throws {
        let cause = KeychainError(.authFailed, reason: reason)
        try await within(ScriptedKeychain(.init(refusal: cause))) {
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "pay")
            }
            #expect(error?.code == code)
            #expect(error?.localizedDescription == reason.explanation)
            #expect(error?.userInfo[NSUnderlyingErrorKey] as? KeychainError == cause)
        }
    }

    private func failure(_ policy: LAPolicy, _ context: LAContext = LAContext(), reason: String = "pay") async
        -> LAError.Code?
    {
        do {
            try await context.evaluatePolicy(policy, localizedReason: reason)
            return nil
        } catch let error as LAError {
            return error.code
        } catch {
            Issue.record(error)
            return nil
        }
    }

    @Test func biometryThatIsDelayedIsLockedOut() async throws {
        let cause = KeychainError(.authFailed, reason: .attemptsDelayed(seconds: 60))
        try await within(ScriptedKeychain(.init(refusal: cause))) {
            #expect(await failure(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
        }
    }

    @Test(arguments: [
        (SecAccessControlCreateFlags.biometryAny, LAError.Code.biometryLockout),
        (.userPresence, .authenticationFailed),
    ])
    func anAccessControlOfBiometryAloneIsLockedOutToo(
        _ flags: SecAccessControlCreateFlags, _ code: LAError.Code
    ) async throws {
        let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
        let access = try #require(made)
        let cause = KeychainError(.authFailed, reason: .attemptsDelayed(seconds: 60))
        try await within(ScriptedKeychain(.init(refusal: cause))) {
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluateAccessControl(access, operation: .useItem, localizedReason: "read")
            }
            #expect(error?.code == code)
        }
    }

    @Test func nobodyHasAWatch() async throws {
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            #expect(await failure(.deviceOwnerAuthenticationWithWatch) == .watchNotAvailable)
        }
        #expect(keychain.sessions.isEmpty)
    }

    @Test func anEmptyReasonIsAnErrorOfTheProgram() async throws {
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            do {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "")
                Issue.record("agreed")
            } catch let error as NSError {
                #expect(error.domain == LAErrorDomain && error.code == -1001)
            }
        }
        #expect(keychain.sessions.isEmpty)
    }

    @Test func whoMayNotAskSaysSo() async throws {
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            let context = LAContext()
            context.interactionNotAllowed = true
            _ = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "pay")
        }
        #expect(keychain.sessions.first?.demands.first?.mayAsk == false)
    }

    @Test func noKeychainIsSystemCancel() async throws {
        try await within(ScriptedKeychain()) {
            #expect(await failure(.deviceOwnerAuthentication) == .systemCancel)
        }
    }

    @Test(
        arguments: [
            (LAAccessControlOperation.useItem, SecAccessControlCreateFlags.userPresence, "od"),
            (.createItem, .userPresence, ""), (.createKey, [.privateKeyUsage, .userPresence], ""),
            (.useKeySign, [.privateKeyUsage, .userPresence], "osgn"),
            (.useKeyDecrypt, [.privateKeyUsage, .userPresence], "ock"), (.useKeyDecrypt, .userPresence, "od"),
            (.useKeyKeyExchange, [.privateKeyUsage, .userPresence], "ock"),
        ] as [(LAAccessControlOperation, SecAccessControlCreateFlags, String)])
    func anAccessControlIsEvaluated(
        _ operation: LAAccessControlOperation, _ flags: SecAccessControlCreateFlags, _ code: String
    ) async throws {
        let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
        let access = try #require(made)
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            _ = try await LAContext().evaluateAccessControl(access, operation: operation, localizedReason: "sign")
        }
        #expect(
            keychain.sessions.first?.demands.map(\.subject) == [.accessControl(access.accessControl, operation: code)])
    }

    // MARK: Ending

    @Test func anInvalidContextStaysSo() async throws {
        let keychain = ScriptedKeychain(.init())
        try await within(keychain) {
            let context = LAContext()
            #expect(unsafe context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            context.invalidate()
            context.invalidate()
            #expect(keychain.sessions.map(\.ends) == [1])
            #expect(await failure(.deviceOwnerAuthentication, context) == .invalidContext)
            var error: NSError?
            #expect(unsafe !context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(error?.code == LAError.Code.invalidContext.rawValue)
            #expect(!context.setCredential(Data("p".utf8), type: .applicationPassword))
            #expect(keychain.sessions.count == 1)
        }
    }

    @Test func whoIsBeingAskedIsLeftAlone() async throws {
        let keychain = ScriptedKeychain(.init(isPersonSlow: true))
        try await within(keychain) {
            let context = LAContext()
            #expect(unsafe context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            let session = try #require(keychain.sessions.first)
            DispatchQueue.global().async {
                session.waitUntilAsked()
                context.invalidate()
            }
            #expect(await failure(.deviceOwnerAuthentication, context) == .appCancel)
        }
    }

    /// A daemon that was started anew knows nothing of what was agreed to.
    @Test func aLostSessionIsReplaced() async throws {
        let lost = KeychainError(.authFailed, reason: .contextInvalid)
        let keychain = ScriptedKeychain(.init(failure: lost), .init())
        try await within(keychain) {
            let context = LAContext()
            #expect(await failure(.deviceOwnerAuthentication, context) == .invalidContext)
            #expect(await failure(.deviceOwnerAuthentication, context) == nil)
        }
        #expect(keychain.sessions.map(\.demands.count) == [1, 1])
    }

    @Test func itsEndIsTheSessions() throws {
        let keychain = ScriptedKeychain(.init())
        CurrentKeychain.$scoped.withValue(keychain) {
            _ = unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
        }
        #expect(keychain.sessions.map(\.ends) == [1])
    }

    @Test func threadsThatBeginTogetherShareOneSession() {
        let keychain = ScriptedKeychain(.init())
        let context = LAContext()
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            CurrentKeychain.$scoped.withValue(keychain) {
                _ = unsafe context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            }
        }
        #expect(keychain.sessions.count { $0.ends == 0 } == 1)
        context.invalidate()
        #expect(keychain.sessions.allSatisfy { $0.ends == 1 })
    }

    @Test func aContextThatNobodyUsesReachesNoKeychain() {
        let keychain = ScriptedKeychain(.init())
        CurrentKeychain.$scoped.withValue(keychain) {
            let context = LAContext()
            context.localizedReason = "pay"
            #expect(context.evaluatedPolicyDomainState == nil && !context.isCredentialSet(.applicationPassword))
            context.invalidate()
        }
        #expect(keychain.sessions.isEmpty)
    }
}

/// What an LAContext says of what there is, and keeps of what it is told.
@Suite struct LAContextStateTests {
    static let finger = BiometryState(kind: .fingerprint, isEnrolled: true, enrolment: [1, 2])

    @Test(
        arguments: [
            (AuthenticationMeans(hasPasscode: true, biometry: finger), nil, nil),
            (AuthenticationMeans(hasPasscode: false, biometry: finger), .passcodeNotSet, .passcodeNotSet),
            (AuthenticationMeans(hasPasscode: true), .biometryNotAvailable, nil),
            (AuthenticationMeans(hasPasscode: false), .biometryNotAvailable, .passcodeNotSet),
            (
                AuthenticationMeans(
                    hasPasscode: true, biometry: BiometryState(kind: .face, isEnrolled: false, enrolment: [])),
                .biometryNotEnrolled, nil
            ),
            (
                AuthenticationMeans(
                    hasPasscode: true,
                    biometry: BiometryState(kind: .fingerprint, isEnrolled: true, isLockedOut: true, enrolment: [])),
                .biometryLockout, nil
            ),
        ] as [(AuthenticationMeans, LAError.Code?, LAError.Code?)])
    func whatCouldBeAskedIsSaid(_ means: AuthenticationMeans, _ biometry: LAError.Code?, _ owner: LAError.Code?) {
        CurrentKeychain.$scoped.withValue(ScriptedKeychain(.init(means: means))) {
            for (policy, wanted) in [
                (LAPolicy.deviceOwnerAuthenticationWithBiometrics, biometry), (.deviceOwnerAuthentication, owner),
            ] {
                var error: NSError?
                #expect(unsafe LAContext().canEvaluatePolicy(policy, error: &error) == (wanted == nil))
                #expect((error as? LAError)?.code == wanted)
                #expect(error.map { LAError(_nsError: $0).code } == wanted)
            }
        }
    }

    @Test func theStateOfBiometryIsTold() {
        let means = AuthenticationMeans(hasPasscode: true, biometry: Self.finger)
        CurrentKeychain.$scoped.withValue(ScriptedKeychain(.init(means: means))) {
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(context.biometryType == .touchID)
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(unsafe context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(context.evaluatedPolicyDomainState == Data([1, 2]))
            #expect(context.domainState.biometry.biometryType == .touchID)
            #expect(context.domainState.stateHash == Data([1, 2]))
        }
    }

    @Test func whereNothingAnswersThereIsNoBiometry() {
        CurrentKeychain.$scoped.withValue(ScriptedKeychain()) {
            #expect(LAContext().biometryType == .none && LAContext().domainState.stateHash == nil)
        }
    }

    @Test(arguments: [(30, 30), (-1, 0), (.nan, 0), (300, 300), (1e9, 300), (.infinity, 300)] as [(Double, Double)])
    func theDurationIsClamped(_ given: Double, _ kept: Double) {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = given
        #expect(context.touchIDAuthenticationAllowableReuseDuration == kept)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }

    @Test func whatIsSetIsKept() {
        let context = LAContext()
        #expect(context.localizedReason.isEmpty && !context.interactionNotAllowed)
        #expect(context.localizedFallbackTitle == nil && context.localizedCancelTitle == nil)
        (context.localizedFallbackTitle, context.localizedCancelTitle) = ("Passcode", "No")
        context.localizedReason = "pay"
        #expect(context.localizedFallbackTitle == "Passcode" && context.localizedCancelTitle == "No")
        #expect(context.localizedReason == "pay")
    }

    @Test func anApplicationPasswordIsBroughtAndTakenBack() {
        let keychain = ScriptedKeychain(.init())
        CurrentKeychain.$scoped.withValue(keychain) {
            let context = LAContext()
            #expect(context.setCredential(Data("p".utf8), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword) && !context.isCredentialSet(.smartCardPIN))
            #expect(!context.setCredential(Data("1".utf8), type: .smartCardPIN))
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(!context.isCredentialSet(.applicationPassword))
            context.setCredential(Data(), type: .applicationPassword)
            context.invalidate()
            #expect(!context.isCredentialSet(.applicationPassword))
        }
        #expect(keychain.sessions.first?.passwords == [Array("p".utf8), nil, []])
    }
}

/// Programs replace it in their tests.
@Suite struct LAContextSubclassTests {
    final class Agreeing: LAContext, @unchecked Sendable {
        override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }

        override func evaluatePolicy(
            _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
        ) {
            reply(true, nil)
        }

        override var biometryType: LABiometryType { .faceID }
    }

    @Test func bothFormsAreReplaced() async throws {
        let context: LAContext = Agreeing()
        #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: ""))
        #expect(context.biometryType == .faceID)
        #expect(unsafe context.canEvaluatePolicy(.deviceOwnerAuthenticationWithWatch, error: nil))
    }
}
