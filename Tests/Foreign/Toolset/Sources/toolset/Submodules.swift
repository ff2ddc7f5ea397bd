import LocalAuthentication.LAContext
import LocalAuthentication.LAError
import Security.SecBase
import Security.SecItem

/// By the names of Apple's headers.
func submodules() {
    let status: OSStatus = SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrService: "none"] as CFDictionary)
    precondition(status == errSecItemNotFound)
    precondition(LAContext().interactionNotAllowed == false && LAError.Code.userCancel.rawValue == -2)
}
