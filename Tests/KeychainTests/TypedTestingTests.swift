import Keychain
import KeychainServices
import KeychainTesting
import Testing

/// What KeychainTesting does for code that uses the typed interface.
@Suite(.timeLimit(.minutes(20))) struct TypedTestingTests {
    @Test func aRuleGivesAWholeError() throws {
        let keychain = try TestKeychain()
        let locked = KeychainError(.interactionNotAllowed, reason: .locked(class: "ak"), underlying: "a test")
        keychain.intercept { _ in .failure(locked) }
        #expect(throws: locked) { try keychain.withScope { _ = try SecretStore().items(.passwords()) } }
        #expect(keychain.calls.map(\.status) == [errSecInteractionNotAllowed])
    }

    @Test func anAnswerIsLostOfACallThatWasMade() throws {
        let keychain = try TestKeychain()
        keychain.intercept { $0.function == .add ? .answerLost : .answer }
        try keychain.withScope { () throws in
            #expect(throws: KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: true))) {
                try SecretStore().set(Secret("x"), for: .password(service: "s"))
            }
            #expect(try SecretStore().secret(for: .password(service: "s"))?.insecureText == "x")
        }
        #expect(keychain.calls.map(\.status) == [errSecItemNotFound, errSecNotAvailable, errSecSuccess])
    }

    /// Whoever follows the lock needs the actor on which it is locked.
    @MainActor @Test func anActorIsFreeWhileItLocks() async throws {
        let keychain = try TestKeychain()
        try keychain.setPasscode()
        var iterator = try keychain.withScope { try DeviceLock.changes() }.makeAsyncIterator()
        #expect(try await iterator.next() == .unlocked)
        async let locked: Void = keychain.lockAndWait()
        // The announcement is heard here, and kept waiting until the next element is asked for.
        #expect(try await iterator.next() == .locking)
        #expect(keychain.isUnlocked)
        #expect(try await iterator.next() == .locked)
        try await locked
        #expect(!keychain.isUnlocked)
    }
}
