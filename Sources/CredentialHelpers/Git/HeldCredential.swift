internal import KeychainPlatform

/// What an item holds for git.
struct HeldCredential: Sendable {
    let secret: GitSecret
    let extras: GitExtras
    /// Whether the value is the secret and nothing else.
    let isPlain: Bool

    init(secret: GitSecret, extras: GitExtras, isPlain: Bool) {
        (self.secret, self.extras, self.isPlain) = (secret, extras, isPlain)
    }

    /// nil for what no line of git can say.
    ///
    /// git-credential-libsecret, from git 2.43 on, stores the lines of what is beside the
    /// password behind it, in the same value.
    init?(_ value: SharedSecret, of match: GitMatch) {
        let all = 0..<value.bytes.count
        guard value.bytes.count(of: 0, in: all) == 0 else { return nil }
        guard let end = value.bytes.firstIndex(in: all, where: { $0 == UInt8(ascii: "\n") }) else {
            self.init(secret: GitSecret(kind: match.kind, value: value), extras: GitExtras(), isPlain: true)
            return
        }
        guard match.item.origin == .git else { return nil }
        let rest = SharedSecret(value.bytes.copy(end + 1..<value.bytes.count))
        let first = SharedSecret(value.bytes.copy(0..<end))
        do throws(CredentialLines.Flaw) {
            let lines = try CredentialLines(rest)
            self.init(secret: GitSecret(kind: match.kind, value: first), extras: GitExtras(lines), isPlain: false)
        } catch { return nil }
    }
}
