internal import KeychainModel

extension ItemClass {
    /// What the command line calls it.
    var commandName: String {
        switch self {
        case .genericPassword: "generic"
        case .internetPassword: "internet"
        case .certificate: "certificate"
        case .key: "key"
        case .identity: "identity"
        }
    }
}
