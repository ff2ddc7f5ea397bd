import Foundation
import Security

/// A wrapper's own error, with the status and its text inside.
enum SampleError: Error, Equatable, LocalizedError {
    case noPassword
    case unexpectedPasswordData
    case unhandledError(status: OSStatus)

    init?(_ status: OSStatus) {
        switch status {
        case errSecSuccess: return nil
        case errSecItemNotFound: self = .noPassword
        case errSecDecode: self = .unexpectedPasswordData
        default: self = .unhandledError(status: status)
        }
    }

    var errorDescription: String? {
        guard case .unhandledError(let status) = self else { return nil }
        return SecCopyErrorMessageString(status, nil) as String?
    }
}

/// Statuses as Swift errors, NSErrors and texts.
func statusErrors() throws {
    func read(_ account: String) throws -> Data {
        var query = [String: AnyObject]()
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrService as String] = "sample.status" as AnyObject?
        query[kSecAttrAccount as String] = account as AnyObject?
        query[kSecReturnData as String] = kCFBooleanTrue
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
        }
        guard status != errSecItemNotFound else { throw SampleError.noPassword }
        guard status == noErr else { throw SampleError.unhandledError(status: status) }
        guard let data = result as? Data else { throw SampleError.unexpectedPasswordData }
        return data
    }
    do {
        _ = try read("nobody")
        expect(false, "nobody's password")
    } catch SampleError.noPassword {
    }

    var status = errSecNotAvailable
    expect(SampleError(status) == .unhandledError(status: -25291))
    status = SecItemAdd([kSecClass: "no such class"] as CFDictionary, nil)
    let error = NSError(
        domain: NSOSStatusErrorDomain, code: Int(status),
        userInfo: [NSLocalizedDescriptionKey: SecCopyErrorMessageString(status, nil) ?? "?" as NSString])
    expect(error.code != 0)
    expect(!error.localizedDescription.isEmpty)
    expect(SampleError(errSecAuthFailed)?.localizedDescription == SecCopyErrorMessageString(errSecAuthFailed, nil)! as String)
}
