internal import KeychainModel

/// What an access control is evaluated for.
///
/// Apple's counterpart: the type of the same name, with its raw values.
public enum LAAccessControlOperation: Int, Hashable, Sendable {
    /// To add an item.
    case createItem = 0
    /// To read or change an item.
    case useItem = 1
    /// To make a key.
    case createKey = 2
    /// To sign.
    case useKeySign = 3
    /// To decrypt.
    case useKeyDecrypt = 4
    /// To agree on a key with somebody else.
    case useKeyKeyExchange = 5
}

extension LAAccessControlOperation {
    /// The operation's code in an access control (spec section 8); empty for the
    /// making, which is asked for as a whole.
    func code(in accessControl: AccessControl) -> String {
        switch self {
        case .createItem, .createKey: ""
        case .useItem: "od"
        case .useKeySign: "osgn"
        // A key of a curve decrypts by computing a shared key.
        case .useKeyDecrypt: accessControl.constraints["od"] == nil ? "ock" : "od"
        case .useKeyKeyExchange: "ock"
        }
    }
}

extension AccessControl {
    /// Whether nothing but biometry agrees to an operation.
    func wantsBiometryAlone(for code: String) -> Bool {
        if case .biometry = constraints[code] { true } else { false }
    }
}
