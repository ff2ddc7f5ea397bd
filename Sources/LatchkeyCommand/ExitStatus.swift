package import KeychainModel

/// How `latchkey` ends (documented in its --help; `temp` passes its command's on).
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let done = ExitStatus(rawValue: 0)
    package static let noMatch = ExitStatus(rawValue: 1)
    package static let usage = ExitStatus(rawValue: 2)
    /// Locked, or a person would have to be asked and cannot be.
    package static let locked = ExitStatus(rawValue: 3)
    package static let denied = ExitStatus(rawValue: 4)
    package static let damaged = ExitStatus(rawValue: 5)
    /// The keychain cannot be reached or cannot work (EX_UNAVAILABLE of sysexits.h).
    package static let unavailable = ExitStatus(rawValue: 69)
    /// A fault of Latchkey itself (EX_SOFTWARE).
    package static let fault = ExitStatus(rawValue: 70)
}

extension ExitStatus {
    package init(_ error: KeychainError) {
        self =
            switch error.kind {
            case .noMatch: .noMatch
            case .usage: .usage
            case .locked: .locked
            case .denied: .denied
            case .damaged: .damaged
            case .unavailable: .unavailable
            case .fault: .fault
            }
    }
}
