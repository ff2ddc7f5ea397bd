// The LocalAuthentication framework's name for KeychainAuthentication: `import
// LocalAuthentication` brings LAContext, LAError and their neighbours and, as on
// Apple's systems, Foundation and what Security has.
@_exported public import KeychainAuthentication
