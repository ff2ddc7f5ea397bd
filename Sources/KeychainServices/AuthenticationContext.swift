package import KeychainModel
package import KeychainProtocol

/// The object of kSecUseAuthenticationContext as a call needs it. LAContext is one;
/// it lies in a room of its own, which this one does not know.
package protocol AuthenticationContext: AnyObject {
    /// Nobody is asked, as by kSecUseAuthenticationUIFail.
    var forbidsInteraction: Bool { get }
    /// The prompt of calls that have none of their own (kSecUseOperationPrompt);
    /// empty: none.
    var promptReason: String { get }
    /// Makes a call with what a person agreed to in this context.
    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer
}
