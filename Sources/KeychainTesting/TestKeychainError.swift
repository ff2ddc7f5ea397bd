package import KeychainModel
public import KeychainServices

/// Why a keychain for tests could not be made or tampered with.
public struct TestKeychainError: Error, Hashable, CustomStringConvertible {
    /// The status that a SecItem call would answer.
    public let status: OSStatus
    /// What failed, why, and what to do next.
    public let description: String

    init(status: OSStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    package init(_ error: KeychainError) {
        self.init(status: error.status.rawValue, "\(error)")
    }
}
