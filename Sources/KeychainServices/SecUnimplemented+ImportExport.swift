public import Foundation

// Import and export: declared with Apple's signatures (SecImportExport.h), not
// offered yet.

/// Reads the identities of a PKCS #12 file: an array of dictionaries with the
/// `kSecImportItem…` keys. `options` takes the password under
/// `kSecImportExportPassphrase`.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    Unimplemented.status
}

/// Writes an item, or an array of items, in a format (macOS).
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecItemExport(
    _ secItemOrArray: CFTypeRef,
    _ outputFormat: SecExternalFormat,
    _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?,
    _ exportedData: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    Unimplemented.status
}

/// Reads items from data (macOS). `inputFormat` and `itemType` say what to
/// expect and are set to what was found. A keychain cannot be given: there is
/// no file keychain here.
///
/// - Returns: `errSecUnimplemented` for now, and no result.
@discardableResult
public func SecItemImport(
    _ importedData: CFData,
    _ fileNameOrExtension: CFString?,
    _ inputFormat: UnsafeMutablePointer<SecExternalFormat>?,
    _ itemType: UnsafeMutablePointer<SecExternalItemType>?,
    _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?,
    _ importKeychain: CFTypeRef?,
    _ outItems: UnsafeMutablePointer<CFArray?>?
) -> OSStatus {
    Unimplemented.status
}
