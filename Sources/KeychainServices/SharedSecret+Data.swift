package import Foundation
package import KeychainModel
package import KeychainPlatform

extension SharedSecret {
    /// A copy in wiped memory. The original is the caller's.
    ///
    /// - Throws: errSecAllocate where there is no memory for it.
    package convenience init(copying data: Data, what: String) throws(KeychainError) {
        var bytes: SecretBytes
        do throws(SystemCallError) { bytes = try SecretBytes(allocating: data.count) } catch {
            throw .noMemory(for: what)
        }
        unsafe bytes.withUnsafeMutableBytes { place in
            unsafe data.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        self.init(bytes)
    }
}
