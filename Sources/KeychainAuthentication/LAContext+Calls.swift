package import KeychainModel
package import KeychainProtocol
internal import KeychainServices

// What SecItemAdd and its neighbours need of kSecUseAuthenticationContext.
extension LAContext: AuthenticationContext {
    package var forbidsInteraction: Bool { interactionNotAllowed }

    package var promptReason: String { localizedReason }

    package func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        try session.use { session throws(KeychainError) in try session.perform(request) }
    }
}
