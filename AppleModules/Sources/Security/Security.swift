// The Security framework's name for KeychainServices: `import Security` brings
// SecItemAdd and its neighbours, their constants, types and status codes, and the
// Core Foundation names that such code uses (CFString, CFDictionary, OSStatus …).
//
// As on Apple's systems it does not bring Foundation: a file that says `Data` or
// `NSDictionary` imports Foundation itself.
@_exported public import KeychainServices
