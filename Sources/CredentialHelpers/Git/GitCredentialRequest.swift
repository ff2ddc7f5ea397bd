internal import KeychainModel
internal import KeychainPlatform

/// What git asks or tells a helper (git-credential(1), "INPUT/OUTPUT FORMAT", of git
/// 2.46). Keys of later versions are ignored, as it demands.
package struct GitCredentialRequest: Sendable {
    private(set) var place: ServerPlace
    let scheme: String
    /// nil: whoever's.
    private(set) var username: String?
    let secret: GitSecret?
    let extras: GitExtras
    /// Good for this once, not to be kept (`ephemeral`, git 2.46).
    let isEphemeral: Bool
    /// Whether `authtype` and `credential` can be answered (`capability[]=authtype`, git 2.46).
    let understandsTypes: Bool

    /// nil where it names no place, which matches nothing: git's own helpers take that for
    /// a mistake, since it could as well mean everything.
    package init?(_ lines: CredentialLines) throws(CredentialLines.Flaw) {
        let host = try lines.text("host") ?? ""
        let path = try lines.text("path")
        guard let scheme = try lines.text("protocol"), !scheme.isEmpty, !host.isEmpty || path?.isEmpty == false else {
            return nil
        }
        self.scheme = scheme
        place = ServerPlace(scheme: scheme, server: ServerName(host), path: path)
        username = try lines.text("username")
        secret = try Self.secret(lines)
        extras = GitExtras(lines)
        isEphemeral = ["1", "true"].contains(try lines.text("ephemeral"))
        understandsTypes = try lines.list("capability").contains("authtype")
    }

    /// The same of one account.
    func of(_ account: String) -> GitCredentialRequest {
        var other = self
        other.username = account
        return other
    }

    /// The same of one path.
    func of(path: String) -> GitCredentialRequest {
        var other = self
        other.place = ServerPlace(scheme: scheme, server: place.server, path: path)
        return other
    }

    /// The same of the host in lower case; nil where it is that already.
    var inLowerCase: GitCredentialRequest? {
        let host = place.server.host.lowercased()
        guard !host.hasSameBytes(as: place.server.host) else { return nil }
        var other = self
        other.place = ServerPlace(
            scheme: scheme, server: ServerName(host: host, port: place.server.port), path: place.path)
        return other
    }

    /// What git-credential-libsecret looks for (make_attr_list of git-credential-libsecret.c),
    /// under whichever of its schemas.
    var lookup: LookupAttributes? {
        let named: [(String, String?)] = [
            ("protocol", scheme), ("user", username),
            ("server", place.server.host.isEmpty ? nil : place.server.host),
            ("port", place.server.port.map { "\($0)" }), ("object", place.path),
        ]
        return LookupAttributes(named.compactMap { name, value in value.map { .init(name: name, value: $0) } })
    }

    private static func secret(_ lines: CredentialLines) throws(CredentialLines.Flaw) -> GitSecret? {
        if let type = try lines.text("authtype"), !type.isEmpty, let credential = lines.secret("credential") {
            return GitSecret(kind: .authorization(type: type), value: credential)
        }
        return lines.secret("password").map { GitSecret(kind: .password, value: $0) }
    }
}

/// What proves to a server who is asking.
struct GitSecret: Sendable {
    enum Kind: Sendable, Hashable {
        case password
        /// What follows the type in the header Authorization (`authtype`, `credential`).
        case authorization(type: String)

        /// kSecAttrAuthenticationType of the item. Apple's are four letters.
        var attribute: String {
            switch self {
            case .password: ""
            case .authorization(let type): Self.prefix + type
            }
        }

        /// Apple's own types are all of passwords.
        init(attribute: String) {
            self =
                attribute.hasPrefix(Self.prefix)
                ? .authorization(type: String(attribute.dropFirst(Self.prefix.count))) : .password
        }

        static func == (a: Kind, b: Kind) -> Bool { a.attribute.hasSameBytes(as: b.attribute) }

        private static let prefix = "authtype="
    }

    let kind: Kind
    let value: SharedSecret

    /// What shows that an end and a token are of this one: FNV-1a of 32 bits (draft-eastlake-fnv),
    /// in hex. Whoever reads it can try guesses at the password: it lies sealed beside the password,
    /// for the same programs.
    var check: String {
        var sum: UInt32 = 0x811C_9DC5
        for index in 0..<value.bytes.count { sum = (sum ^ UInt32(value.bytes[index])) &* 0x0100_0193 }
        return String(sum, radix: 16)
    }
}

/// What git knows of a password beside it.
struct GitExtras: Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, from which on it is no use (git 2.40).
    var expiry: Int64?
    /// By which a helper of OAuth gets the next one (git 2.41).
    var refreshToken: SharedSecret?

    /// What is no number, or not above 0, is no end, as git takes it.
    init(_ lines: CredentialLines) {
        do throws(CredentialLines.Flaw) {
            expiry = try lines.text("password_expiry_utc").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        } catch { expiry = nil }
        refreshToken = lines.secret("oauth_refresh_token").flatMap { $0.bytes.count == 0 ? nil : $0 }
    }

    init() {}

    var isEmpty: Bool { expiry == nil && refreshToken == nil }

    func isEqual(to other: GitExtras) -> Bool {
        guard expiry == other.expiry else { return false }
        switch (refreshToken, other.refreshToken) {
        case (nil, nil): return true
        case (let one?, let two?): return one.bytes.isEqual(to: two.bytes)
        default: return false
        }
    }

    /// The line of the value beside the password that says of which one the others are.
    static let checkKey = "password_check"

    /// The value of the item beside the password.
    func lines(with secret: GitSecret) -> SharedSecret {
        let check = "\(Self.checkKey)=\(secret.check)\n"
        let said = lines
        var writer = SecretWriter(byteCount: said.bytes.count + check.utf8.count)
        writer.append(said.bytes)
        writer.append(check)
        return SharedSecret(writer.finish())
    }

    /// The lines in which git says them.
    var lines: SharedSecret {
        var text = ""
        if let expiry { text += "password_expiry_utc=\(expiry)\n" }
        let token = refreshToken.map { $0.bytes.count + Self.tokenKey.utf8.count + 1 } ?? 0
        var writer = SecretWriter(byteCount: text.utf8.count + token)
        writer.append(text)
        if let refreshToken {
            writer.append(Self.tokenKey)
            writer.append(refreshToken.bytes)
            writer.append("\n")
        }
        return SharedSecret(writer.finish())
    }

    private static let tokenKey = "oauth_refresh_token="
}
