/// What must be met before a protected item opens.
///
/// Constraints (`userPresence`, `biometryAny`, …) are all to be met unless
/// ``or`` is among them. `SecAccessControlCreateWithFlags` refuses sets that
/// contradict themselves, with `errSecParam`.
///
/// Apple's counterpart: the type of the same name, `SecAccessControl.h`.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    /// One bit for each flag, in Apple's places.
    public let rawValue: CFOptionFlags

    /// The set with these bits, whether they have names here or not.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// A person must show that they are there, by biometry or passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)

    /// Biometry must match, whoever is enrolled by then.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)

    /// The older name of ``biometryAny``.
    @available(*, deprecated, renamed: "biometryAny")
    public static let touchIDAny = SecAccessControlCreateFlags(rawValue: 1 << 1)

    /// Biometry must match those who were enrolled when the item was added.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)

    /// The older name of ``biometryCurrentSet``.
    @available(*, deprecated, renamed: "biometryCurrentSet")
    public static let touchIDCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)

    /// The passcode must be entered.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)

    /// A paired watch must agree. The same bit as ``companion``.
    public static let watch = SecAccessControlCreateFlags(rawValue: 1 << 5)

    /// A paired device must agree.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)

    /// One of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)

    /// Every constraint must be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)

    /// The constraints guard the use of a private key in the enclave.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)

    /// A password of the program's own is mixed into the item's key.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}
