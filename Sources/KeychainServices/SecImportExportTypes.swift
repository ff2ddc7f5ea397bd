public import Foundation

/// The format of exported or imported data (macOS).
public enum SecExternalFormat: UInt32, Sendable {
    /// Not known; an import finds out.
    case formatUnknown = 0
    /// OpenSSL, also for public keys in SubjectPublicKeyInfo.
    case formatOpenSSL = 1
    /// SSH version 1.
    case formatSSH = 2
    /// BSAFE.
    case formatBSAFE = 3
    /// The bytes of a symmetric key.
    case formatRawKey = 4
    /// Encrypted PKCS #8.
    case formatWrappedPKCS8 = 5
    /// Encrypted OpenSSL.
    case formatWrappedOpenSSL = 6
    /// Encrypted SSH version 1.
    case formatWrappedSSH = 7
    /// Not supported by Apple either.
    case formatWrappedLSH = 8
    /// A certificate, DER.
    case formatX509Cert = 9
    /// Several objects, each in PEM.
    case formatPEMSequence = 10
    /// Certificates in PKCS #7.
    case formatPKCS7 = 11
    /// Certificates and keys in PKCS #12.
    case formatPKCS12 = 12
    /// Certificates in Netscape's sequence.
    case formatNetscapeCertSequence = 13
    /// SSH version 2.
    case formatSSHv2 = 14
}

/// The kind of exported or imported item (macOS).
public enum SecExternalItemType: UInt32, Sendable {
    /// Not known; an import finds out.
    case itemTypeUnknown = 0
    /// A private key.
    case itemTypePrivateKey = 1
    /// A public key.
    case itemTypePublicKey = 2
    /// A symmetric key.
    case itemTypeSessionKey = 3
    /// A certificate.
    case itemTypeCertificate = 4
    /// Several items in one.
    case itemTypeAggregate = 5
}

/// How to import or export (macOS).
public struct SecItemImportExportFlags: OptionSet, Sendable {
    /// One bit for each flag, in Apple's places.
    public let rawValue: UInt32

    /// The set with these bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Write PEM.
    public static let pemArmour = SecItemImportExportFlags(rawValue: 1 << 0)
}

/// How to import or export a key (macOS).
public struct SecKeyImportExportFlags: OptionSet, Sendable {
    /// One bit for each flag, in Apple's places.
    public let rawValue: UInt32

    /// The set with these bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Refuse data with more than one private key.
    public static let importOnlyOne = SecKeyImportExportFlags(rawValue: 1 << 0)
    /// Have the system ask for the password.
    public static let securePassphrase = SecKeyImportExportFlags(rawValue: 1 << 1)
    /// Import keys without an access list.
    public static let noAccessControl = SecKeyImportExportFlags(rawValue: 1 << 2)
}

/// The value of ``SecItemImportExportKeyParameters/version``.
public var SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION: Int32 { 0 }

/// What an import or export of keys needs besides the data (macOS).
///
/// Unsafe: whoever fills it keeps the objects alive for as long as it is used.
@unsafe public struct SecItemImportExportKeyParameters {
    /// ``SEC_KEY_IMPORT_EXPORT_PARAMS_VERSION``.
    public var version: UInt32 = 0
    /// How to import or export.
    public var flags: SecKeyImportExportFlags = []
    /// The password: a string or data.
    public var passphrase: Unmanaged<CFTypeRef>!
    /// The title of the prompt for a password.
    public var alertTitle: Unmanaged<CFString>!
    /// The text of the prompt for a password.
    public var alertPrompt: Unmanaged<CFString>!
    /// The access list of imported keys.
    public var accessRef: Unmanaged<SecAccess>?
    /// What imported keys may do: an array of `kSecAttrCan…` values.
    public var keyUsage: Unmanaged<CFArray>?
    /// Further attributes of imported keys: an array of strings.
    public var keyAttributes: Unmanaged<CFArray>?

    /// Nothing set.
    public init() {}

    /// Everything set.
    public init(
        version: UInt32,
        flags: SecKeyImportExportFlags,
        passphrase: Unmanaged<CFTypeRef>!,
        alertTitle: Unmanaged<CFString>!,
        alertPrompt: Unmanaged<CFString>!,
        accessRef: Unmanaged<SecAccess>?,
        keyUsage: Unmanaged<CFArray>?,
        keyAttributes: Unmanaged<CFArray>?
    ) {
        unsafe self.version = version
        unsafe self.flags = flags
        unsafe self.passphrase = passphrase
        unsafe self.alertTitle = alertTitle
        unsafe self.alertPrompt = alertPrompt
        unsafe self.accessRef = accessRef
        unsafe self.keyUsage = keyUsage
        unsafe self.keyAttributes = keyAttributes
    }
}

@available(*, unavailable)
extension SecItemImportExportKeyParameters: Sendable {}
