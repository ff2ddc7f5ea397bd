import LocalAuthentication

/// A context, invalidated before anybody agrees, in a call and in an evaluation.
func authentication() async throws {
    let context = LAContext()
    context.invalidate()
    let query = [kSecClass: kSecClassGenericPassword, kSecUseAuthenticationContext: context] as [CFString: Any]
    precondition(SecItemCopyMatching(query as CFDictionary, nil) == errSecAuthFailed)
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Why")
        preconditionFailure("nobody agreed")
    } catch LAError.invalidContext {}
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Why")
    } catch let error as NSError {
        precondition(error.domain == LAErrorDomain && (error as? LAError)?.code == .invalidContext)
    }
}
