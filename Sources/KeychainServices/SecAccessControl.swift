public import Foundation
package import KeychainModel

/// Who has to agree before an item is used.
///
/// Apple's counterpart: `SecAccessControl`. Two objects made alike are equal.
/// The enclave enforces it: an item is bound to the object that it was stored with,
/// and its value is opened only once what the object asks for was proved.
/// SecItemAdd answers errSecAuthFailed where nobody here could ever prove it
/// (biometry without a reader, a passcode where none is set).
public final class SecAccessControl: NSObject, Sendable, TypeNumbered {
    package let accessControl: AccessControl

    package var typeNumber: TypeNumber { .accessControl }

    package init(_ accessControl: AccessControl) { self.accessControl = accessControl }

    /// Equal protection and equal constraints.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecAccessControl)?.accessControl == accessControl
    }

    /// Equal for objects made alike.
    public override var hash: Int { accessControl.hashValue }

    /// The protection and nothing else: constraints say how a person is asked,
    /// which a log has no need of.
    public override var description: String { "<SecAccessControl \(accessControl.protection)>" }
}

/// Makes an access control from a protection and flags (spec section 8).
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of the kSecAttrAccessible… constants.
///   - flags: see ``SecAccessControlCreateFlags``; `[]` is no constraint.
///   - error: receives errSecParam for an unknown protection, for `or` beside
///     `and`, for both kinds of biometry, and for `userPresence` beside anything
///     but `applicationPassword` and `privateKeyUsage`.
/// - Returns: the object, or nil with `error` set.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    if let tag = (protection as? NSString).map({ $0 as String }),
        let made = AccessControl(protection: tag, flags: AccessControlFlags(rawValue: UInt64(flags.rawValue)))
    {
        return SecAccessControl(made)
    }
    let failure = NSError(
        domain: NSOSStatusErrorDomain, code: Int(Status.param.rawValue),
        userInfo: [NSLocalizedDescriptionKey: Status.param.message])
    if let error = unsafe error { unsafe error.pointee = Unmanaged.passRetained(failure) }
    return nil
}
