internal import Crypto
internal import FoundationEssentials
package import KeychainPlatform

/// A secret from which a code for the moment is made (TOTP, RFC 6238).
package struct OneTimePassword: ~Copyable, Sendable {
    package enum Algorithm: String, Sendable, CaseIterable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// How the number of a moment is shown.
    package enum Form: Hashable, Sendable {
        /// Decimal, with this many digits (`digitCounts`), zeros in front.
        case decimal(Int)
        /// Steam Guard's: five of 26 letters and digits, the last place of the number first.
        /// Valve has no document of it; KeePassXC's tests have codes that Steam's own program made.
        case steam
    }

    package static let digitCounts = 6...8
    package static let periods = 1...86_400
    /// RFC 6238 and the otpauth form: what holds where nothing is said.
    package static let usualDigitCount = 6
    static let usualPeriod = 30

    package let algorithm: Algorithm
    package let form: Form
    /// Seconds for which a code holds.
    package let period: Int
    private let key: SecretBytes

    /// - Precondition: the count of digits and `period` lie in their ranges.
    package init(
        key: consuming SecretBytes, algorithm: Algorithm = .sha1, form: Form = .decimal(usualDigitCount),
        period: Int = 30
    ) {
        if case .decimal(let count) = form { precondition(Self.digitCounts.contains(count)) }
        precondition(Self.periods.contains(period))
        self.key = key
        self.algorithm = algorithm
        self.form = form
        self.period = period
    }

    package struct Code: Sendable {
        /// As it is typed: ASCII, six to eight digits or Steam's five characters.
        package let characters: KeychainPlatform.SharedSecret
        /// For how long it still holds.
        package let secondsLeft: Int
    }

    /// The code at a moment, in seconds since 1970.
    package func code(at seconds: Int64) -> Code {
        let moment = max(0, seconds)
        let number = truncated(for: UInt64(moment / Int64(period)))
        let shown =
            switch form {
            case .decimal(let count): Self.lastPlaces(count, of: number, in: Self.decimalDigits, lastFirst: false)
            case .steam: Self.lastPlaces(Self.steamCount, of: number, in: Self.steamDigits, lastFirst: true)
            }
        return Code(
            characters: KeychainPlatform.SharedSecret(shown), secondsLeft: period - Int(moment % Int64(period)))
    }

    private static let decimalDigits = Array("0123456789".utf8)
    /// Without what looks alike.
    private static let steamDigits = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)
    private static let steamCount = 5

    private static func lastPlaces(
        _ count: Int, of number: UInt32, in alphabet: [UInt8], lastFirst: Bool
    ) -> SecretBytes {
        var shown = SecretBytes(count: count)
        var rest = Int(number)
        for step in 0..<count {
            let character = alphabet[rest % alphabet.count]
            let place = lastFirst ? step : count - 1 - step
            unsafe shown.withUnsafeMutableBytes { unsafe $0[place] = character }
            rest /= alphabet.count
        }
        return shown
    }

    /// RFC 4226 section 5.3: 31 bits at an offset that the last byte names.
    private func truncated(for step: UInt64) -> UInt32 {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * UInt64($0))) }
        let code = authenticationCode(of: message)
        let offset = Int(code[code.count - 1] & 15)
        let word = code[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return word & 0x7fff_ffff
    }

    private func authenticationCode(of message: [UInt8]) -> [UInt8] {
        unsafe key.withUnsafeBytes { raw in
            let key = unsafe SymmetricKey(data: raw)
            return switch algorithm {
            // Named insecure for signatures; within HMAC it stands (RFC 6194 section 3.3).
            case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
            case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            case .sha512: Array(HMAC<SHA512>.authenticationCode(for: message, using: key))
            }
        }
    }
}
