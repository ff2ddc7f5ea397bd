public import Foundation
package import KeychainModel
public import KeychainServices

/// Why a keychain for tests could not be made or tampered with.
public struct TestKeychainError: Error, Hashable, CustomStringConvertible {
    /// The status that a SecItem call would answer.
    public let status: OSStatus
    /// What failed, why, and what to do next.
    public let description: String

    package init(_ error: KeychainError) {
        status = error.status.rawValue
        description = "\(error)"
    }
}

/// What Foundation, and with it XCTest, shows of an error.
extension TestKeychainError: LocalizedError, CustomNSError {
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// `NSOSStatusErrorDomain`.
    public static var errorDomain: String { NSOSStatusErrorDomain }

    /// ``status``.
    public var errorCode: Int { Int(status) }

    /// The description. (Foundation on Linux asks an error that has a code for nothing
    /// else.)
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
