package import KeychainPlatform

/// otpauth://totp/LABEL?secret=…&algorithm=…&digits=…&period=…, the form in which
/// services hand out their secrets (github.com/google/google-authenticator, wiki
/// "Key Uri Format"; draft-linuxgemini-otpauth-uri). Steam's are written in three ways:
/// encoder=steam among the parameters (KeePassXC), otpauth://steam/ (Aegis), and
/// steam://SECRET (Bitwarden).
extension OneTimePassword {
    /// Why a text is none. Holds nothing of it.
    package enum Fault: Error, Hashable, Sendable {
        case notAnAddress
        /// otpauth://hotp: counts uses instead of time.
        case counterBased
        case secretMissing
        case secretMalformed
        case algorithmUnknown
        case digitCountOutOfRange
        case periodOutOfRange
        /// encoder= something that we do not know: the code would be a wrong one.
        case encoderUnknown
        case parameterTwice
        case escapeMalformed

        /// What to do about it.
        package var advice: String {
            switch self {
            case .counterBased, .encoderUnknown: "Have its program show it; latchkey makes codes of the time."
            default:
                "Store the otpauth://totp/ address that the service shows: latchkey set SERVICE \"ACCOUNT (otp)\""
            }
        }

        package var explanation: String {
            switch self {
            case .notAnAddress: "it is no otpauth://totp/ address"
            case .counterBased: "its codes count uses (hotp), which would have to be written back at each use"
            case .secretMissing: "it names no secret"
            case .secretMalformed: "its secret is not base32"
            case .algorithmUnknown: "its algorithm is none of SHA1, SHA256 and SHA512"
            case .digitCountOutOfRange: "it wants other than 6 to 8 digits"
            case .periodOutOfRange: "its period is not from 1 to 86400 seconds"
            case .encoderUnknown: "it wants its code written in a way that latchkey does not know (encoder)"
            case .parameterTwice: "it says one thing twice"
            case .escapeMalformed: "a percent sign in it is not followed by two hex digits"
            }
        }
    }

    /// Whether a secret claims to be such an address.
    package static func isAddress(_ text: borrowing SecretBytes) -> Bool {
        starts(text, with: "otpauth:") || starts(text, with: "steam:")
    }

    /// From a bare secret in base32, everything else as usual.
    package init(base32 text: borrowing SecretBytes, form: Form = .decimal(usualDigitCount)) throws(Fault) {
        guard let key = Base32.decoded(text), key.count > 0 else { throw .secretMalformed }
        self.init(key: key, form: form)
    }

    package init(address text: borrowing SecretBytes) throws(Fault) {
        if Self.starts(text, with: "otpauth://hotp") { throw .counterBased }
        if Self.starts(text, with: "steam:") {
            let start = Self.starts(text, with: "steam://") ? "steam://".utf8.count : "steam:".utf8.count
            try self.init(base32: text.copy(start..<text.count), form: .steam)
            return
        }
        let isSteam = Self.starts(text, with: "otpauth://steam/")
        guard isSteam || Self.starts(text, with: "otpauth://totp/") || Self.starts(text, with: "otpauth://totp?") else {
            throw .notAnAddress
        }
        let parameters = try Parameters(Self.query(of: text), in: text)
        guard let secret = parameters.secret else { throw .secretMissing }
        let unescaped = try Self.unescaped(text.copy(secret))
        guard let key = Base32.decoded(unescaped) else { throw .secretMalformed }
        guard key.count > 0 else { throw .secretMissing }
        let form = try parameters.form(isSteam: isSteam)
        self.init(key: key, algorithm: parameters.algorithm, form: form, period: parameters.period)
    }

    // MARK: Parts

    /// Between the question mark and the fragment.
    private static func query(of text: borrowing SecretBytes) -> Range<Int> {
        unsafe text.withUnsafeBytes { bytes in
            let end = unsafe bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
            let mark = unsafe bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
            return min(mark + 1, end)..<end
        }
    }

    private static func starts(_ text: borrowing SecretBytes, with prefix: StaticString) -> Bool {
        guard text.count >= prefix.utf8CodeUnitCount else { return false }
        return unsafe text.withUnsafeBytes { bytes in
            // The scheme's letters count in any case (RFC 3986 section 3.1).
            prefix.withUTF8Buffer { unsafe zip($0, bytes).allSatisfy { $0 == $1 || $0 == $1 | 0x20 } }
        }
    }

    /// RFC 3986 section 2.1; of a query that a form wrote, a plus sign is a blank (HTML,
    /// "application/x-www-form-urlencoded"), which a secret in base32 has no other use for.
    private static func unescaped(_ text: borrowing SecretBytes) throws(Fault) -> SecretBytes {
        var out = SecretBytes(count: text.count)
        var count = 0
        var index = 0
        while index < text.count {
            let place = count
            var byte = text.byte(index)
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.count, let high = hexDigit(text.byte(index + 1)),
                    let low = hexDigit(text.byte(index + 2))
                else { throw .escapeMalformed }
                byte = high << 4 | low
                index += 2
            }
            let whole = byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte
            unsafe out.withUnsafeMutableBytes { unsafe $0[place] = whole }
            index += 1
            count += 1
        }
        out.truncate(to: count)
        return out
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// What stands behind the question mark; the secret only as where it lies.
    private struct Parameters {
        var secret: Range<Int>?
        var algorithm = Algorithm.sha1
        var period = OneTimePassword.usualPeriod
        private var digits: String?
        private var encoder: String?

        init(_ query: Range<Int>, in text: borrowing SecretBytes) throws(Fault) {
            var seen: Set<String> = []
            var start = query.lowerBound
            while start < query.upperBound {
                let end = Self.first(UInt8(ascii: "&"), in: start..<query.upperBound, text) ?? query.upperBound
                if let equals = Self.first(UInt8(ascii: "="), in: start..<end, text) {
                    let name = Self.word(start..<equals, text).lowercased()
                    if Self.known.contains(name), !seen.insert(name).inserted { throw .parameterTwice }
                    try take(name, equals + 1..<end, text)
                }
                start = end + 1
            }
        }

        private static let known: Set<String> = ["secret", "algorithm", "digits", "period", "encoder"]

        private mutating func take(
            _ name: String, _ value: Range<Int>, _ text: borrowing SecretBytes
        ) throws(Fault) {
            switch name {
            case "secret": secret = value
            // Said without a value, it is what it usually is.
            case _ where value.isEmpty: break
            case "algorithm":
                let word = Self.word(value, text).uppercased().filter { $0 != "-" }
                guard let named = Algorithm(rawValue: word) else { throw .algorithmUnknown }
                algorithm = named
            case "digits": digits = Self.word(value, text)
            case "encoder": encoder = Self.word(value, text).lowercased()
            case "period":
                guard let seconds = Int(Self.word(value, text)), periods.contains(seconds) else {
                    throw .periodOutOfRange
                }
                period = seconds
            // Issuer, image and what others add say nothing about the code.
            default: break
            }
        }

        /// Steam's has five characters, whatever else is said.
        func form(isSteam: Bool) throws(Fault) -> Form {
            switch encoder {
            case _ where isSteam: return .steam
            case "steam": return .steam
            case nil: break
            default: throw .encoderUnknown
            }
            guard let digits else { return .decimal(OneTimePassword.usualDigitCount) }
            guard let count = Int(digits), digitCounts.contains(count) else { throw .digitCountOutOfRange }
            return .decimal(count)
        }

        private static func first(_ byte: UInt8, in range: Range<Int>, _ text: borrowing SecretBytes) -> Int? {
            for index in range where text.byte(index) == byte { return index }
            return nil
        }

        /// A short word that is no secret; a longer one is none that is known.
        private static func word(_ range: Range<Int>, _ text: borrowing SecretBytes) -> String {
            var bytes: [UInt8] = []
            guard range.count <= 16 else { return "" }
            for index in range { bytes.append(text.byte(index)) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension SecretBytes {
    fileprivate func byte(_ index: Int) -> UInt8 { unsafe withUnsafeBytes { unsafe $0[index] } }
}
