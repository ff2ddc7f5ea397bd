import KeychainCrypto
import KeychainModel
import KeychainPlatform

@testable import Enclave

extension RootKey {
    /// The root key's own bytes, which nothing but a test wants: taken from a box
    /// that it was sealed into, for it has no reader.
    func insecureArray() -> [UInt8] { copied().insecureArray() }

    private func copied() -> SecretBytes {
        let key = SealingKey.random()
        let binding = AssociatedData("test")
        do {
            return try key.open(wrapped(by: key, bound: binding), bound: binding)
        } catch {
            preconditionFailure("a box that was just sealed does not open")
        }
    }
}
