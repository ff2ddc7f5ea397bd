internal import FoundationEssentials
package import KeychainMessages

/// Where a new FIDO2 security key is looked for: `fido2` is the one that is plugged in,
/// `fido2:/dev/hidrawN` the one of several that the kernel calls so until it is pulled.
package enum FIDO2Address: Hashable, Sendable, CustomStringConvertible {
    case plugged
    case device(String)

    private static let name = "fido2"
    private static let folder = "/dev/hidraw"

    /// nil for anything but one of the two forms.
    package init?(_ text: String) {
        guard text != Self.name else {
            self = .plugged
            return
        }
        guard text.hasPrefix("\(Self.name):") else { return nil }
        self.init(path: String(text.dropFirst(Self.name.utf8.count + 1)))
    }

    /// nil for anything but /dev/hidrawN: whoever opens it writes to it before anything is
    /// authenticated.
    package init?(path: String) {
        let number = path.utf8.dropFirst(Self.folder.utf8.count)
        guard path.hasPrefix(Self.folder), (1...6).contains(number.count),
            number.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self = .device(path)
    }

    package var description: String {
        switch self {
        case .plugged: Self.name
        case .device(let path): "\(Self.name):\(path)"
        }
    }
}

/// What a security key made for us: another key, or the same after a reset, makes nothing
/// of it. No secret itself.
package struct FIDO2Credential: Hashable, Sendable {
    /// For whom the key makes it: a name, which is no host of the web.
    package let relyingParty: String
    package let name: [UInt8]
    /// Maker and product as the key says, for people; may be empty.
    package let product: String

    /// What ours are made for.
    package static let ourParty = "latchkey.keychain"
    /// Of its name, in bytes; keys that are sold use up to some 250.
    package static let longestName = 1024
    /// CTAP 2.1, 6.5.1: in bytes of UTF-8.
    package static let longestPIN = 63
    private static let longestText = 128

    /// nil for a name that is empty, or anything that is too long or not printable ASCII.
    package init?(relyingParty: String, name: [UInt8], product: String) {
        guard !relyingParty.isEmpty, (1...Self.longestName).contains(name.count),
            [relyingParty, product].allSatisfy({ text in
                text.utf8.count <= Self.longestText && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            })
        else { return nil }
        self.relyingParty = relyingParty
        self.name = name
        self.product = product
    }

    package init?(_ message: Latchkey_FIDO2Credential) {
        self.init(
            relyingParty: message.relyingParty, name: Array(message.credential), product: message.product)
    }

    package var message: Latchkey_FIDO2Credential {
        var message = Latchkey_FIDO2Credential()
        message.relyingParty = relyingParty
        message.credential = Data(name)
        message.product = product
        return message
    }
}

/// What a security key makes a secret of. No secret itself.
package struct FIDO2Salt: Hashable, Sendable {
    package let bytes: [UInt8]
    package static let byteCount = 32

    /// nil for anything but 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}

/// A secret of 32 bytes that only one security key makes, of this salt and with a touch.
package struct SealedByFIDO2: Hashable, Sendable {
    package let credential: FIDO2Credential
    package let salt: FIDO2Salt

    package init(_ credential: FIDO2Credential, salt: FIDO2Salt) {
        self.credential = credential
        self.salt = salt
    }

    package init?(_ message: Latchkey_SealedByFIDO2) {
        guard let credential = FIDO2Credential(message.credential), let salt = FIDO2Salt(Array(message.salt))
        else { return nil }
        self.init(credential, salt: salt)
    }

    package init?(encoded bytes: [UInt8]) {
        guard let message = decoded(Latchkey_SealedByFIDO2.self, bytes) else { return nil }
        self.init(message)
    }

    package var message: Latchkey_SealedByFIDO2 {
        var message = Latchkey_SealedByFIDO2()
        message.credential = credential.message
        message.salt = Data(salt.bytes)
        return message
    }

    package var encoded: [UInt8] { message.wireBytes }
}
