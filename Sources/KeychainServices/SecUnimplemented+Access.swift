public import Foundation

// Access lists of macOS's file keychain: declared with Apple's signatures
// (SecAccess.h, SecTrustedApplication.h), since wrappers name them.

/// Makes an access list that trusts some programs; nil for the calling one.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecAccessCreate(
    _ descriptor: CFString,
    _ trustedlist: CFArray?,
    _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    Unimplemented.status
}

/// Names a program by its path; nil for the calling one.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecTrustedApplicationCreateFromPath(
    _ path: UnsafePointer<CChar>?,
    _ app: UnsafeMutablePointer<SecTrustedApplication?>
) -> OSStatus {
    Unimplemented.status
}
