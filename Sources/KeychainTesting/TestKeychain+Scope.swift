internal import KeychainClient
internal import KeychainProtocol

extension TestKeychain {
    /// Runs `body` with this keychain as the keychain of its calls.
    ///
    /// Scopes nest: the innermost counts.
    public func withScope<R>(_ body: () throws -> R) rethrows -> R {
        try withScope(as: entitlements, body)
    }

    /// Runs `body` with this keychain as the keychain of its calls and of the
    /// tasks it starts.
    public func withScope<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await withScope(as: entitlements, isolation: isolation, body)
    }

    /// Runs `body` as another program that calls the same keychain.
    ///
    /// ```swift
    /// let shared = TestEntitlements(applicationIdentifier: "TEAM.widget", keychainAccessGroups: ["TEAM.shared"])
    /// keychain.withScope(as: shared) {
    ///     // sees what the application stored in TEAM.shared, and nothing else
    /// }
    /// ```
    public func withScope<R>(as other: TestEntitlements, _ body: () throws -> R) rethrows -> R {
        try CurrentKeychain.$scoped.withValue(program(other), operation: body)
    }

    /// Runs `body` as another program that calls the same keychain.
    public func withScope<R>(
        as other: TestEntitlements, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await CurrentKeychain.$scoped.withValue(program(other), operation: body, isolation: isolation)
    }
}
