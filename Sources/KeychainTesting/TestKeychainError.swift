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
