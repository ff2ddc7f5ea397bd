import LocalAuthentication.LAContext
import LocalAuthentication.LAError
import Security.SecAccessControl
import Security.SecBase
import Security.SecCertificate
import Security.SecIdentity
import Security.SecImportExport
import Security.SecItem
import Security.SecKey
import Security.SecPolicy
import Security.SecRandom
import Security.SecSharedCredential
import Security.SecTrust

/// By the names of Apple's headers.
func submodules() {
    let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: "none"] as CFDictionary
    let status: OSStatus = SecItemDelete(query)
    precondition(status == errSecItemNotFound)
    var random: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    precondition(SecRandomCopyBytes(kSecRandomDefault, random.count, &random) == errSecSuccess)
    precondition(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil) != nil)
    precondition(CFGetTypeID(SecPolicyCreateBasicX509()) == SecPolicyGetTypeID())
    precondition(SecKeyGetTypeID() != SecTrustGetTypeID() && SecCertificateGetTypeID() != SecIdentityGetTypeID())
    precondition(SecCreateSharedWebCredentialPassword() != nil)
    precondition(LAContext().interactionNotAllowed == false && LAError.Code.userCancel.rawValue == -2)
}
