package import KeychainModel
internal import KeychainPlatform

/// Where latchkeyd is: an absolute path, never PATH (decisions.md, "Processes").
package enum DaemonProgram {
    package static let name = "latchkeyd"

    /// The first folder that holds it, where the program and every folder above
    /// belong to root or the user and nobody else may write.
    ///
    /// - Throws: `errSecNotAvailable`, reason `daemonNotInstalled`.
    package static func find(in directories: [String]) throws(KeychainError) -> String {
        for directory in directories {
            let path = "\(directory)/\(name)"
            if TrustedPath.isExecutableOfOurs(path) { return path }
        }
        throw KeychainError(.notAvailable, reason: .daemonNotInstalled)
    }
}
