import Foundation
import Security

// Idioms whose ground is not there yet. Each says what it gets today, so that it has
// to change with the issue that brings what is missing (idioms.toml).

/// Keys: made, made from bytes, made in pairs. Nothing is made, and the error says so.
func keysAreNotOffered() throws {
    func failure(_ make: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> SecKey?) -> OSStatus {
        var error: Unmanaged<CFError>?
        guard make(&error) == nil, let error else { return errSecSuccess }
        return OSStatus(CFErrorGetCode(error.takeRetainedValue()))
    }
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
        kSecPrivateKeyAttrs as String: [
            kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data("tag".utf8),
        ] as [String: Any],
    ]
    expect(failure { SecKeyCreateRandomKey(attributes as CFDictionary, $0) } == errSecUnimplemented)
    let enclave = attributes.merging([kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave]) { $1 }
    expect(failure { SecKeyCreateRandomKey(enclave as CFDictionary, $0) } == errSecUnimplemented)
    let imported: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic]
    let made = failure { SecKeyCreateWithData(Data(count: 65) as CFData, imported as CFDictionary, $0) }
    expect(made == errSecUnimplemented)
    var both: (SecKey?, SecKey?)
    expect(SecKeyGeneratePair(attributes as CFDictionary, &both.0, &both.1) == errSecUnimplemented)
    expect(both.0 == nil && both.1 == nil)
}

/// Certificates, identities and files of both.
func certificatesAreNotOffered() throws {
    expect(SecCertificateCreateWithData(nil, Data([0x30, 0]) as CFData) == nil)
    var items: CFArray?
    let options = [kSecImportExportPassphrase as String: "p"] as CFDictionary
    expect(SecPKCS12Import(Data([0x30, 0]) as CFData, options, &items) == errSecUnimplemented && items == nil)
    var exported: CFData?
    expect(SecItemExport("x" as NSString, .formatPEMSequence, [], nil, &exported) == errSecUnimplemented)
    var read: CFArray?
    expect(SecItemImport(Data() as CFData, nil, nil, nil, [], nil, nil, &read) == errSecUnimplemented)
    var trust: SecTrust?
    expect(SecTrustCreateWithCertificates(NSArray(), SecPolicyCreateBasicX509(), &trust) == errSecUnimplemented)
    expect(trust == nil)

    // In items: no object comes out, and none goes in.
    var result: CFTypeRef?
    let identities: [CFString: Any] = [
        kSecClass: kSecClassIdentity, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll,
    ]
    expect(SecItemCopyMatching(identities as CFDictionary, &result) == errSecItemNotFound && result == nil)
    expect(SecItemAdd([kSecClass: kSecClassCertificate, kSecValueRef: NSObject()] as CFDictionary, nil) == errSecParam)
}

/// Passwords of web sites, and access lists of the file keychain.
func sharedCredentialsAreNotOffered() throws {
    var codes: [Int] = []
    SecAddSharedWebCredential("example.com" as CFString, "ann" as CFString, "pw" as CFString) { error in
        codes.append(error.map { CFErrorGetCode($0) } ?? 0)
    }
    SecRequestSharedWebCredential("example.com" as CFString, nil) { found, error in
        expect(found == nil)
        codes.append((error as Error? as NSError?)?.code ?? 0)
    }
    expect(codes == [Int(errSecUnimplemented), Int(errSecUnimplemented)])
    expect((SecCreateSharedWebCredentialPassword() as String?)?.count == 20)

    var access: SecAccess?
    expect(SecAccessCreate("label" as CFString, nil, &access) == errSecUnimplemented && access == nil)
    var program: SecTrustedApplication?
    expect(SecTrustedApplicationCreateFromPath(nil, &program) == errSecUnimplemented && program == nil)
}
