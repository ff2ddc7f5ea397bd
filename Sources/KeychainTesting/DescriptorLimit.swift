@_implementationOnly import CKeychainTesting
internal import KeychainModel

/// How many files this process may have open: each keychain has a dozen.
enum DescriptorLimit {
    /// What a keychain takes until it is ready.
    private static let mostOfOne = 24

    /// Raises it, once in a process.
    static let raised: Void = lk_testing_raise_descriptors()

    /// The failure of a keychain that could not be made, with its cause where that is the
    /// limit.
    static func explained(_ error: KeychainError) -> TestKeychainError {
        guard lk_testing_has_descriptors(Int32(mostOfOne)) == 0 else { return TestKeychainError(error) }
        return TestKeychainError(
            KeychainError(
                error.status, reason: .internalFault(what: "no more files may be open in this process"),
                underlying: "each TestKeychain has about a dozen open: close() those that are done with, run fewer "
                    + "tests at a time or raise the hard limit (ulimit -Hn); \(error)"))
    }
}
