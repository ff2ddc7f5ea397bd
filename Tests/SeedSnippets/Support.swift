import Foundation
import Security

// What the documents leave to their reader, and what the test needs itself.

/// Ends the program where a claim does not hold.
func expect(_ holds: Bool, _ what: String = "", file: String = #fileID, line: Int = #line) {
    guard !holds else { return }
    print("\(file):\(line): does not hold\(what.isEmpty ? "" : ": \(what)")")
    exit(1)
}

/// Takes every generic password away.
func clear() {
    SecItemDelete([kSecClass: kSecClassGenericPassword] as NSDictionary)
}

/// Stores a generic password.
func put(_ service: String, _ account: String, _ value: String, generic: String? = nil) {
    let item = NSMutableDictionary()
    item[kSecClass] = kSecClassGenericPassword
    item[kSecAttrService] = service
    item[kSecAttrAccount] = account
    item[kSecValueData] = Data(value.utf8)
    if let generic { item[kSecAttrGeneric] = Data(generic.utf8) }
    expect(SecItemAdd(item, nil) == errSecSuccess, "put \(service)")
}

/// The value of a generic password.
func value(_ service: String, _ account: String) -> String? {
    var result: CFTypeRef?
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account, kSecReturnData: true,
    ]
    SecItemCopyMatching(query as CFDictionary, &result)
    return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
}

/// Stands for an expression that a document leaves out.
func elided<Value>() -> Value { fatalError("left out by the document") }

enum KeychainError: Error {
    case saveFailed(OSStatus)
    case updateFailed(OSStatus)
    case readFailed(OSStatus)
    case deleteFailed(OSStatus)
}

enum AuthError: Error {
    case biometricsUnavailable
}

enum SecurityError: Error {
    case invalidURL
    case pathTraversal
}

struct Log {
    func debug(_ message: String) {}
}

/// Turns a status into an error; one of several of this name that the forum posts
/// link to.
func secCall(_ body: () -> OSStatus) throws {
    let status = body()
    guard status == errSecSuccess else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
}

func secCall<Result>(_ body: (UnsafeMutablePointer<Result?>) -> OSStatus) throws -> Result {
    var result: Result?
    try secCall { body(&result) }
    return result!
}

func secCall<Result>(_ body: () -> Result?) throws -> Result {
    guard let result = body() else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(errSecParam)) }
    return result
}
