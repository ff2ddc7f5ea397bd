public import Foundation

/// What a certificate chain must satisfy: plain X.509, TLS for a host, or a
/// check of revocation.
///
/// Two policies made alike are equal. A policy can be made and asked for its
/// properties; nothing evaluates it yet.
// @unchecked Sendable: every property is a constant value.
public final class SecPolicy: NSObject, @unchecked Sendable {
    /// The object identifier, one of the `kSecPolicyApple…` values.
    let identifier: String
    /// The host that must match, if any.
    let hostName: String?
    /// Whether the certificate is a client's.
    let isForClient: Bool
    /// How to check revocation; only for the policy about it.
    let revocationFlags: CFOptionFlags?

    init(
        identifier: CFString, hostName: String? = nil, isForClient: Bool = false,
        revocationFlags: CFOptionFlags? = nil
    ) {
        self.identifier = identifier as String
        self.hostName = hostName
        self.isForClient = isForClient
        self.revocationFlags = revocationFlags
    }

    /// Equal identifier, host, side and way to check revocation.
    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecPolicy else { return false }
        return identifier == other.identifier && hostName == other.hostName
            && isForClient == other.isForClient && revocationFlags == other.revocationFlags
    }

    /// Equal for policies made alike.
    override public var hash: Int {
        var hasher = Hasher()
        hasher.combine(identifier)
        hasher.combine(hostName)
        return hasher.finalize()
    }
}

/// The policy for plain X.509 chains.
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(identifier: kSecPolicyAppleX509Basic)
}

/// The policy for TLS.
///
/// - Parameters:
///   - server: Whether the chain is a server's; false for a client's.
///   - hostname: The name that the certificate must be for; nil for any.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(identifier: kSecPolicyAppleSSL, hostName: hostname.map { $0 as String }, isForClient: !server)
}

/// The policy for a check of revocation.
///
/// - Parameter revocationFlags: How to check, `kSecRevocation…`. With no flag
///   the answer is nil, as on Apple's systems.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    guard revocationFlags != 0 else { return nil }
    return SecPolicy(identifier: kSecPolicyAppleRevocation, revocationFlags: revocationFlags)
}

/// The policy with an identifier and properties.
///
/// Not offered yet: the answer is always nil.
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    nil
}

/// The properties of a policy: `kSecPolicyOid`, and `kSecPolicyName` and
/// `kSecPolicyClient` where they apply.
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    let properties = NSMutableDictionary()
    properties[kSecPolicyOid] = policyRef.identifier
    if let hostName = policyRef.hostName { properties[kSecPolicyName] = hostName }
    if policyRef.isForClient { properties[kSecPolicyClient] = kCFBooleanTrue }
    return properties
}
