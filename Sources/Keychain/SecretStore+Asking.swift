internal import KeychainProtocol

extension SecretStore {
    /// What a read does where it meets a guarded item (``Item/isGuarded``). Of others it
    /// says nothing.
    public enum Asking: Sendable, Hashable {
        /// A person is asked, once for all items of the call, and shown the reason: the
        /// end of a sentence, such as "to log in"; empty: none
        /// (`kSecUseOperationPrompt`).
        case person(reason: String = "")
        /// Nobody is asked: the call throws `errSecInteractionNotAllowed` (reason
        /// ``Reason/interactionForbidden``).
        case nobody
        /// Nobody is asked, and guarded items are left out, as if they were not there.
        case nobodySkippingGuarded

        var query: [(String, RawValue)] {
            switch self {
            case .person(reason: ""): []
            case .person(let reason): [("u_OpPrompt", .string(reason))]
            case .nobody: [("u_AuthUI", .string("u_AuthUIF"))]
            case .nobodySkippingGuarded: [("u_AuthUI", .string("u_AuthUIS"))]
            }
        }
    }
}
