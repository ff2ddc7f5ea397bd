package import KeychainModel
internal import KeychainPlatform

/// Where latchkeyd is: an absolute path, never PATH (decisions.md, "Processes").
package enum DaemonProgram {
    package static let name = "latchkeyd"

    /// The first folder that holds it, where the program and every folder above
    /// belong to root or the user and nobody else may write.
    ///
    /// - Throws: `errSecNotAvailable`, reason `daemonNotInstalled`; reason `daemonUnreachable`
    ///   where it is there and somebody else decides what it is.
    package static func find(in directories: [String]) throws(KeychainError) -> String {
        var refused: String?
        for directory in directories {
            let path = "\(directory)/\(name)"
            guard let refusal = TrustedPath.refusal(of: path) else { return path }
            if refusal != .noProgram, refused == nil { refused = "\(path) is not started: \(sentence(refusal))" }
        }
        guard let refused else { throw KeychainError(.notAvailable, reason: .daemonNotInstalled) }
        throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: refused)
    }

    /// What to do where its owner has no number here.
    package static let outside = "start latchkey once outside it"

    private static func sentence(_ refusal: TrustedPath.Refusal) -> String {
        if case .unmappedOwner = refusal { "\(refusal): \(outside)" } else { "\(refusal)" }
    }
}
