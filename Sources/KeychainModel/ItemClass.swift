/// A class of items; the raw value is the class as it stands in dictionaries
/// and in persistent references (spec section 1.1).
public enum ItemClass: String, Sendable, CaseIterable {
    /// A password or any other secret of a program (kSecClassGenericPassword).
    case genericPassword = "genp"
    /// A password for a server (kSecClassInternetPassword).
    case internetPassword = "inet"
    /// kSecClassCertificate.
    case certificate = "cert"
    /// kSecClassKey.
    case key = "keys"
    /// Not stored: the join of a certificate with its private key.
    case identity = "idnt"

    /// As the compiler writes it, without the table of texts that its own looks up as a type.
    public init?(rawValue: String) {
        switch rawValue {
        case Self.genericPassword.rawValue: self = .genericPassword
        case Self.internetPassword.rawValue: self = .internetPassword
        case Self.certificate.rawValue: self = .certificate
        case Self.key.rawValue: self = .key
        case Self.identity.rawValue: self = .identity
        default: return nil
        }
    }

    /// By its place: the compiler's own hashes the text, and each row and call looks up by class.
    public func hash(into hasher: inout Hasher) {
        let place: UInt8 =
            switch self {
            case .genericPassword: 0
            case .internetPassword: 1
            case .certificate: 2
            case .key: 3
            case .identity: 4
            }
        hasher.combine(place)
    }

    /// The classes that have a table of their own, in the order of the spec.
    package static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]
}
