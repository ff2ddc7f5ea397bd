// As on Apple's systems this module brings Foundation and the C-shaped door: files
// that import nothing else say `NSError` and `SecAccessControl`.
@_exported public import Foundation
@_exported public import KeychainServices
