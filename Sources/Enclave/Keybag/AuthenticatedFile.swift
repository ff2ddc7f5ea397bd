internal import KeychainCrypto
internal import KeychainPlatform

/// The frame of the keybag's files (FORMATS.md, "Keybag and protector files"):
/// magic, format version, generation, length of the body, body, HMAC-SHA256
/// over every byte before it. Numbers are big-endian.
///
/// The frame is the same for every version, for ever; a version changes what
/// the body says. So an older program can tell a newer file from a damaged one.
enum AuthenticatedFile {
    static let magicCount = 8
    static let headerCount = magicCount + 4 + 8 + 4
    static let codeCount = 32
    /// Larger than any file of ours: refused before it is read.
    static let largestBody = 256 * 1024
    /// No count of ours comes there. What is damaged may claim any, and the next is one more.
    static let mostGenerations = UInt64.max / 2
    static let largestFile = headerCount + largestBody + codeCount

    enum Kind: Sendable {
        case protectors
        case keybag
        /// How often in a row somebody failed to open the keybag.
        case attempts

        var magic: [UInt8] {
            switch self {
            case .protectors: Array("LKPROTEC".utf8)
            case .keybag: Array("LKKEYBAG".utf8)
            case .attempts: Array("LKATTEMP".utf8)
            }
        }

        /// The newest version that this program reads, and writes where nothing less says it
        /// all. `keybag` 2: slots that need a person, and the class akpu; 3: a passcode that
        /// a TPM guards; 4: an effacement secret in a TPM; 5: a counter in a TPM. `attempts` 2: what
        /// that counter vouches for.
        var version: UInt32 {
            switch self {
            case .protectors: 1
            case .attempts: 2
            case .keybag: 5
            }
        }

        /// Name of the file; its copies are `name.0` and `name.1`.
        var fileName: String {
            switch self {
            case .protectors: "protectors"
            case .keybag: "keybag"
            case .attempts: "attempts"
            }
        }

        var authenticationPurpose: String {
            switch self {
            case .protectors: "latchkey protectors authentication 1"
            case .keybag: "latchkey keybag authentication 1"
            case .attempts: "latchkey attempts authentication 1"
            }
        }
    }

    /// - Parameter version: nil: the newest.
    static func encode(
        _ kind: Kind, version: UInt32? = nil, generation: UInt64, body: [UInt8], root: borrowing RootKey
    ) -> [UInt8] {
        precondition(body.count <= largestBody, "a keybag of \(body.count) bytes")
        let bytes =
            kind.magic + bigEndian(version ?? kind.version) + bigEndian(generation) + bigEndian(UInt32(body.count))
            + body
        return bytes + KeyDerivation.authenticationCode(bytes, key: root.authenticationKey(of: kind))
    }

    /// Takes the frame apart; nil where it is not one.
    static func parse(_ kind: Kind, _ bytes: [UInt8]) -> Unverified? {
        guard bytes.count >= headerCount + codeCount, bytes.count <= largestFile,
            Array(bytes[..<magicCount]) == kind.magic
        else { return nil }
        let bodyCount = Int(number(bytes[20..<24]))
        let generation = number(bytes[12..<20])
        guard bytes.count == headerCount + bodyCount + codeCount, generation <= mostGenerations else { return nil }
        return Unverified(kind: kind, version: UInt32(number(bytes[8..<12])), generation: generation, bytes: bytes)
    }

    private static func bigEndian<I: FixedWidthInteger>(_ value: I) -> [UInt8] {
        (1...(I.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> (I.bitWidth - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension AuthenticatedFile {
    /// A frame of which nobody knows yet whether we wrote it.
    struct Unverified: Hashable, Sendable {
        let kind: Kind
        let version: UInt32
        let generation: UInt64
        let bytes: [UInt8]

        /// What the file claims to say.
        ///
        /// - Warning: not authentic; for finding the root key, whose own wrap is.
        var uncheckedBody: [UInt8] { Array(bytes[headerCount..<(bytes.count - codeCount)]) }

        var claimsNewer: Bool { version > kind.version }

        /// nil where the file is not authentic under this root key.
        func verified(by root: borrowing RootKey) -> Verified? {
            let split = bytes.count - codeCount
            let isAuthentic = KeyDerivation.isAuthentic(
                Array(bytes[split...]), Array(bytes[..<split]), key: root.authenticationKey(of: kind))
            return isAuthentic ? Verified(file: self) : nil
        }

        /// The file as it was written, where nothing but its version changed since: authentic with
        /// another one that this program knows. A newer program's file never is.
        func corrected(by root: borrowing RootKey) -> Verified? {
            for version in 1...kind.version where version != self.version {
                var whole = bytes
                whole.replaceSubrange(magicCount..<magicCount + 4, with: bigEndian(version))
                let file = Unverified(kind: kind, version: version, generation: generation, bytes: whole)
                if let verified = file.verified(by: root) { return verified }
            }
            return nil
        }
    }

    /// A file that whoever had the root key wrote.
    struct Verified: Hashable, Sendable {
        private let file: Unverified

        fileprivate init(file: Unverified) { self.file = file }

        var version: UInt32 { file.version }
        var generation: UInt64 { file.generation }
        var bytes: [UInt8] { file.bytes }
        var body: [UInt8] { file.uncheckedBody }
    }
}
