package import KeychainModel

/// Why a helper did not do what it was asked: lines for standard error, of which the last
/// says what to do, and an exit status (those of `latchkey`). Holds no secret.
package struct HelperFailure: Error, Hashable, Sendable {
    package let status: Int32
    package let lines: [String]

    package init(_ status: Int32, _ lines: String...) { (self.status, self.lines) = (status, lines) }

    package init(_ error: KeychainError) {
        let below = error.underlying.map { " (\($0))" } ?? ""
        let why = error.reason.explanation + below
        switch (error.kind, error.reason) {
        case (.locked, .locked):
            self.init(Self.locked, "the keychain is locked\(below); `latchkey unlock` opens it.")
        case (.locked, _): self.init(Self.locked, why, "A helper asks nobody: `latchkey get` does.")
        case (.denied, _): self.init(Self.denied, why, Self.look)
        case (.damaged, _): self.init(Self.damaged, why, "`latchkey doctor` says how to go on.")
        case (_, .mayBeSetAside): self.init(Self.unavailable, why, "`latchkey doctor` says what is missing.")
        // What is not there is an answer and no failure; what a helper asks for is its own.
        case (.noMatch, _), (.usage, _), (.unavailable, _), (.fault, _): self.init(Self.unavailable, why, Self.look)
        }
    }

    private static let look = "`latchkey status` says more."

    static let noMatch: Int32 = 1
    static let usage: Int32 = 2
    private static let locked: Int32 = 3
    private static let denied: Int32 = 4
    private static let damaged: Int32 = 5
    /// EX_UNAVAILABLE of sysexits.h.
    static let unavailable: Int32 = 69
}
