internal import KeychainCrypto
internal import KeychainPlatform

/// Failed attempts in a row, and how long the next one has to wait
/// (decisions.md, "Passcode"; Apple Platform Security, "Passcodes and passwords").
///
/// The count lasts over a restart, the time begins anew then. It keeps no copy of
/// what was tried: only what tells whether the same was tried again.
struct AttemptCounter: Sendable {
    private(set) var failed: Int
    private var notBefore: Duration
    private var recent: [Failure] = []
    /// How many of them were by the login password, since this process began.
    private var failedLogins = 0
    private let digesting = SharedSecret(.random(count: 32))

    private static let remembered = 16

    private struct Failure {
        let digest: [UInt8]
        let isLogin: Bool
    }

    /// - Parameter failed: how many there were before this process.
    init(failed: Int, at now: Duration) {
        self.failed = failed
        notBefore = now + Self.delay(after: failed)
    }

    static func delay(after failed: Int) -> Duration {
        switch failed {
        case ...4: .zero
        case 5: .seconds(60)
        case 6: .seconds(300)
        case 7, 8: .seconds(900)
        default: .seconds(3600)
        }
    }

    /// Whole seconds until an attempt is looked at; 0: now.
    func secondsToNext(at now: Duration) -> Int {
        let left = notBefore - now
        guard left > .zero else { return 0 }
        return Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)
    }

    /// Whether it failed before, in the same place, so that it need not be tried.
    ///
    /// - Parameter isLogin: as the login password, not as the passcode. What failed as the one says
    ///   nothing of the other: a guess that was not counted would be a free one.
    func knows(_ secret: borrowing SecretBytes, isLogin: Bool) -> Bool { knows(digest(of: secret, isLogin)) }

    private func knows(_ digest: [UInt8]) -> Bool { recent.contains { $0.digest == digest } }

    /// What tells in this process alone whether an attempt is with the same secret, in the same place.
    func mark(of secret: borrowing SecretBytes, isLogin: Bool) -> [UInt8] { digest(of: secret, isLogin) }

    /// Counts a failure; false where the same secret failed before: it does not
    /// count again.
    ///
    /// - Parameter isLogin: with the login password, not with the passcode.
    mutating func fail(with secret: borrowing SecretBytes, isLogin: Bool, at now: Duration) -> Bool {
        let digest = digest(of: secret, isLogin)
        guard !knows(digest) else { return false }
        recent = (recent + [Failure(digest: digest, isLogin: isLogin)]).suffix(Self.remembered)
        failed += 1
        if isLogin { failedLogins += 1 }
        notBefore = now + Self.delay(after: failed)
        return true
    }

    /// The right login password: what was mistyped in its place is forgotten, and nothing else,
    /// so that who has it alone has no more tries at the passcode than before.
    ///
    /// - Returns: whether there was anything to forget.
    mutating func succeedWithLogin() -> Bool {
        defer { failedLogins = 0 }
        failed -= failedLogins
        recent.removeAll(where: \.isLogin)
        return failedLogins > 0
    }

    /// The passcode, or the recovery code.
    ///
    /// - Returns: whether there was anything to forget.
    mutating func succeed() -> Bool {
        defer {
            failed = 0
            failedLogins = 0
            notBefore = .zero
            recent = []
        }
        return failed > 0
    }

    private func digest(of secret: borrowing SecretBytes, _ isLogin: Bool) -> [UInt8] {
        var bytes = secret.insecureArray()
        defer { bytes.wipe() }
        // Behind the digest: before the secret it would take another copy of that, which nobody wipes.
        return KeyDerivation.authenticationCode(bytes, key: digesting.bytes) + [isLogin ? 1 : 0]
    }
}
