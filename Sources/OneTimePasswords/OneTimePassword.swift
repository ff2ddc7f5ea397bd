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

    /// Shown as a decimal number with this many digits, zeros in front.
    package static let digitCounts = 6...8
    package static let periods = 1...86_400
    /// RFC 6238 and the otpauth form: what holds where nothing is said.
    static let usualDigitCount = 6
    static let usualPeriod = 30

    package let algorithm: Algorithm
    package let digitCount: Int
    /// Seconds for which a code holds.
    package let period: Int
    private let key: SecretBytes

    /// - Precondition: `digitCount` and `period` lie in their ranges.
    package init(
        key: consuming SecretBytes, algorithm: Algorithm = .sha1, digitCount: Int = 6, period: Int = 30
    ) {
        precondition(Self.digitCounts.contains(digitCount) && Self.periods.contains(period))
        self.key = key
        self.algorithm = algorithm
        self.digitCount = digitCount
        self.period = period
    }

    package struct Code: Sendable {
        package let digits: KeychainPlatform.SharedSecret
        /// For how long it still holds.
        package let secondsLeft: Int
    }

    /// The code at a moment, in seconds since 1970.
    package func code(at seconds: Int64) -> Code {
        let moment = max(0, seconds)
        let step = UInt64(moment / Int64(period))
        var number = truncated(for: step)
        var digits = SecretBytes(count: digitCount)
        for place in (0..<digitCount).reversed() {
            let digit = UInt8(ascii: "0") + UInt8(number % 10)
            unsafe digits.withUnsafeMutableBytes { unsafe $0[place] = digit }
            number /= 10
        }
        return Code(digits: KeychainPlatform.SharedSecret(digits), secondsLeft: period - Int(moment % Int64(period)))
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
