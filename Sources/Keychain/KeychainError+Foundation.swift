public import Foundation

/// What Foundation asks of an error that it shows or turns into an `NSError`: the text,
/// the domain of Apple's statuses and the number.
extension KeychainError: LocalizedError, CustomNSError {
    /// Status, what happened and what to do; the same as ``description``. No value of an
    /// item.
    public var errorDescription: String? { description }

    /// The reason alone, in words.
    public var failureReason: String? { reason.explanation }

    /// `NSOSStatusErrorDomain`: code that looks at the domain and the code of an
    /// `NSError` finds what Security's own have there.
    public static var errorDomain: String { NSOSStatusErrorDomain }

    /// ``status``, as a number.
    public var errorCode: Int { Int(status.rawValue) }

    /// The two texts. (Foundation on Linux asks an error that has a code for nothing
    /// else.)
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: reason.explanation]
    }
}
