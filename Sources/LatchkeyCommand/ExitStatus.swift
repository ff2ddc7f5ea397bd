package import KeychainModel

/// How `latchkey` ends (documented in its --help; `temp` passes its command's on).
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let done = ExitStatus(rawValue: 0)
    package static let noMatch = ExitStatus(.noMatch)
    package static let usage = ExitStatus(.usage)
    package static let locked = ExitStatus(.locked)
    package static let denied = ExitStatus(.denied)
    package static let damaged = ExitStatus(.damaged)
    package static let unavailable = ExitStatus(.unavailable)
    package static let fault = ExitStatus(.fault)

    private init(_ kind: FailureKind) { self.init(rawValue: kind.rawValue) }

    package init(_ error: KeychainError) { self.init(error.kind) }
}
