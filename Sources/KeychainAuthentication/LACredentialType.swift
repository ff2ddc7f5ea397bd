/// What a program can bring in place of a person.
///
/// Apple's counterpart: the type of the same name, with its raw values.
public enum LACredentialType: Int, Hashable, Sendable {
    /// The password of items that ask for one
    /// (`SecAccessControlCreateFlags.applicationPassword`).
    case applicationPassword = 0
    /// The PIN of a smart card. Not taken here.
    case smartCardPIN = -3
}
