// The LocalAuthentication framework's name for KeychainAuthentication: `import
// LocalAuthentication` brings LAContext, LAError and their neighbours.
//
// As on Apple's systems it brings Foundation and Security too: files that import
// nothing else say `NSError` and `SecAccessControl`.
@_exported public import Foundation
@_exported public import KeychainAuthentication
@_exported public import Security
