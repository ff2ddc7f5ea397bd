package import KeychainModel

/// Why a helper did not do what it was asked: lines for standard error, of which the last
/// says what to do, and an exit status (those of `latchkey`). Holds no secret.
package struct HelperFailure: Error, Hashable, Sendable {
    private let kind: FailureKind
    package let lines: [String]

    package var status: Int32 { kind.rawValue }

    package init(_ kind: FailureKind, _ lines: String...) { (self.kind, self.lines) = (kind, lines) }

    package init(_ error: KeychainError) {
        let below = error.underlying.map { " (\($0))" } ?? ""
        let why = error.reason.explanation + below
        switch (error.kind, error.reason) {
        case (.locked, .locked):
            self.init(.locked, "the keychain is locked\(below); `latchkey unlock` opens it.")
        case (.locked, _): self.init(.locked, why, "A helper asks nobody: `latchkey get` does.")
        case (.denied, _): self.init(.denied, why, Self.look)
        case (.damaged, _): self.init(.damaged, why, "`latchkey doctor` says how to go on.")
        case (_, .mayBeSetAside): self.init(.unavailable, why, "`latchkey doctor` says what is missing.")
        // What is not there is an answer and no failure; what a helper asks for is its own.
        case (.noMatch, _), (.usage, _), (.unavailable, _), (.fault, _): self.init(.unavailable, why, Self.look)
        }
    }

    private static let look = "`latchkey status` says more."
}
