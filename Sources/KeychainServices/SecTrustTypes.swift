public import Foundation

/// The result of an evaluation of trust.
public enum SecTrustResultType: UInt32, Sendable {
    /// Nothing has been evaluated yet.
    case invalid = 0
    /// A person or an administrator trusts the chain.
    case proceed = 1
    /// A person must confirm. No longer answered.
    case confirm = 2
    /// A person or an administrator refuses the chain.
    case deny = 3
    /// The chain is good and nobody has said otherwise.
    case unspecified = 4
    /// The chain fails in a way that a person could overrule.
    case recoverableTrustFailure = 5
    /// The chain fails in a way that nobody should overrule.
    case fatalTrustFailure = 6
    /// The evaluation itself failed.
    case otherError = 7
}

/// Takes the result of an evaluation in the background; the older form.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void

/// Takes the result of an evaluation in the background: the trust object,
/// whether the chain is good, and if not, why.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void
