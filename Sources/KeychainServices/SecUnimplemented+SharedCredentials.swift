public import Foundation

// Shared web credentials: declared with Apple's signatures
// (SecSharedCredential.h). They belong to a web site that vouches for the
// program, which nothing does on Linux yet; only the password is made for real
// (SecSharedCredentialPassword.swift).

/// Stores, changes or, with a nil password, deletes the password of an account
/// on a web site.
///
/// For now the handler is called at once, with an error that says
/// `errSecUnimplemented`.
public func SecAddSharedWebCredential(
    _ fqdn: CFString,
    _ account: CFString,
    _ password: CFString?,
    _ completionHandler: @escaping (CFError?) -> Void
) {
    completionHandler(Unimplemented.error("storing a shared web credential"))
}

/// Asks a person for a password of a web site: an array of dictionaries with
/// `kSecAttrServer`, `kSecAttrAccount` and `kSecSharedPassword`.
///
/// For now the handler is called at once, with an error that says
/// `errSecUnimplemented`.
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?,
    _ account: CFString?,
    _ completionHandler: @escaping (CFArray?, CFError?) -> Void
) {
    completionHandler(nil, Unimplemented.error("asking for a shared web credential"))
}
