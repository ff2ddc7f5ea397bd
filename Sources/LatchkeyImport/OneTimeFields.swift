/// One-time secrets in the fields of an entry, as KeePassXC (`otp`), KeePass 2.47
/// (`TimeOtp-…`) and KeeTrayTOTP (`TOTP Seed`, `TOTP Settings`) write them.
struct OneTimeFields {
    /// Each with the name of the field that holds its secret.
    private(set) var found: [(name: String, value: SecretText)] = []
    /// The fields that are part of one of them.
    private(set) var names: Set<String> = []
    /// Why one makes no codes here.
    private(set) var reasons: [String] = []

    /// KeePass, "One-Time Passwords": the same in text, hex, base32 and base64.
    private static let timed = [
        "TimeOtp-Secret", "TimeOtp-Secret-Hex", "TimeOtp-Secret-Base32", "TimeOtp-Secret-Base64",
    ]

    init(_ fields: [KeePassField]) {
        func field(_ name: String) -> KeePassField? { fields.first { $0.name == name && !$0.value.isEmpty } }
        func text(_ name: String) -> SecretText? { field(name)?.value }
        if let otp = text("otp") {
            add("otp", otp, [])
        }
        for name in Self.timed where field(name) != nil {
            guard let seed = field(name)?.seed else {
                reasons.append("its \(name) cannot be read as a secret; it is in the note")
                continue
            }
            let address = Self.address(
                seed, period: text("TimeOtp-Period"), digits: text("TimeOtp-Length"),
                algorithm: text("TimeOtp-Algorithm"))
            add(name, address, ["TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm"])
        }
        if let field = field("TOTP Seed") { takeTray(field, settings: text("TOTP Settings")) }
        if fields.contains(where: { $0.name.hasPrefix("HmacOtp-Secret") && !$0.value.isEmpty }) {
            reasons.append("its one-time codes count uses (HmacOtp) and are not made here; the secret is in the note")
        }
    }

    private mutating func takeTray(_ field: KeePassField, settings: SecretText?) {
        guard let seed = field.seed else {
            return reasons.append("its TOTP Seed cannot be read as a secret; it is in the note")
        }
        guard let parts = Self.settings(settings) else {
            return reasons.append("its TOTP Settings cannot be read; the secret is in the note")
        }
        var address = Self.address(seed, period: parts.period, digits: parts.digits, algorithm: nil)
        if parts.isSteam { address.append("&encoder=steam") }
        add(field.name, address, ["TOTP Settings"])
    }

    private mutating func add(_ name: String, _ value: SecretText, _ others: [String]) {
        found.append((name, value))
        names.formUnion([name] + others)
    }

    private struct Settings {
        var period: SecretText?
        var digits: SecretText?
        var isSteam = false
    }

    /// "30;6", or "30;S" for Steam's codes, perhaps with the address of a clock behind.
    private static func settings(_ text: SecretText?) -> Settings? {
        guard let text else { return Settings() }
        let parts = text.text.split(separator: ";").prefix(2)
        guard parts.count == 2, UInt16(parts[0]) != nil else { return nil }
        let period = SecretText(String(parts[0]))
        if parts[1] == "S" { return Settings(period: period, isSteam: true) }
        return UInt16(parts[1]) == nil ? nil : Settings(period: period, digits: SecretText(String(parts[1])))
    }

    /// The form that every program takes (Google Authenticator, "Key URI Format").
    private static func address(
        _ seed: SecretText, period: SecretText?, digits: SecretText?, algorithm: SecretText?
    ) -> SecretText {
        var whole = SecretText("otpauth://totp/?secret=")
        whole.append(seed)
        if let period { whole.append("&period=\(period.text)") }
        if let digits { whole.append("&digits=\(digits.text)") }
        if let algorithm {
            whole.append("&algorithm=\(algorithm.text.replacing("HMAC-", with: "").replacing("-", with: ""))")
        }
        return whole
    }
}
