/// What went wrong, for the caller (`status`), for a person (`reason`) and for
/// whoever mends it (`underlying`).
///
/// Holds no value of an item, no argument of a query and no key. Equality looks
/// at status and reason alone.
public struct KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number; what a SecItem call returns.
    public let status: Status
    /// Our own, closed list of causes.
    public let reason: Reason
    /// What lies below: a system call with its errno, an SQLite code.
    public let underlying: String?

    /// An error with this status and reason.
    public init(_ status: Status, reason: Reason, underlying: String? = nil) {
        self.status = status
        self.reason = reason
        self.underlying = underlying
    }

    /// Whether status and reason are the same.
    public static func == (a: KeychainError, b: KeychainError) -> Bool {
        a.status == b.status && a.reason == b.reason
    }

    /// Hashes status and reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(reason)
    }

    /// Status, what happened and what to do, and what lies below; no value of
    /// an item.
    public var description: String {
        let below = underlying.map { " (\($0))" } ?? ""
        return "\(status): \(reason.explanation)\(below)"
    }
}

extension KeychainError {
    /// - Parameter what: for what; never of what size.
    package static func noMemory(for what: String) -> KeychainError {
        KeychainError(.allocate, reason: .busy, underlying: "no memory for \(what)")
    }

    package static func parameter(_ reason: Reason) -> KeychainError { KeychainError(.param, reason: reason) }
}
