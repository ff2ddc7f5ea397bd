package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// The enclave's door for a person, at the end of a socket that the daemon gave us.
package enum PersonDoors {
    /// - Throws: `errSecUnimplemented`: the enclave offers none yet.
    package static func open(descriptor: Descriptor) throws(KeychainError) -> any PersonDoor {
        throw KeychainError(
            .unimplemented, reason: .notImplemented(what: "the enclave's door for a person"))
    }
}
