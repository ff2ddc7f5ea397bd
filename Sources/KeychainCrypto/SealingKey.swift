internal import Crypto
internal import FoundationEssentials
package import KeychainPlatform

/// A 256-bit key for AES-GCM (NIST SP 800-38D). A sealed box is nonce (12
/// bytes, random), ciphertext, tag (16 bytes).
///
/// Each row key seals one plaintext and each metadata key few enough for random
/// nonces (SP 800-38D section 8.3: at most 2^32 under one key).
package struct SealingKey: ~Copyable, Sendable {
    package static let byteCount = 32
    /// What a sealed box is longer than its plaintext.
    package static let overhead = 12 + 16

    package let secret: SecretBytes

    /// - Precondition: 32 bytes.
    package init(_ secret: consuming SecretBytes) {
        precondition(secret.count == Self.byteCount)
        self.secret = secret
    }

    package static func random() -> SealingKey { SealingKey(.random(count: byteCount)) }

    package func copy() -> SealingKey { SealingKey(secret.copy()) }

    package func seal(_ plaintext: borrowing SecretBytes, bound associatedData: AssociatedData) -> [UInt8] {
        unsafe plaintext.withUnsafeBytes { unsafe seal(unsafe: $0, bound: associatedData) }
    }

    package func seal(_ plaintext: [UInt8], bound associatedData: AssociatedData) -> [UInt8] {
        unsafe plaintext.withUnsafeBytes { unsafe seal(unsafe: $0, bound: associatedData) }
    }

    private func seal(unsafe plaintext: UnsafeRawBufferPointer, bound associatedData: AssociatedData) -> [UInt8] {
        withKey { key in
            do {
                let box = try unsafe AES.GCM.seal(
                    plaintext, using: key, nonce: AES.GCM.Nonce(), authenticating: associatedData.bytes)
                guard let whole = box.combined else { preconditionFailure("a nonce of 12 bytes was given") }
                return Array(whole)
            } catch {
                // Only a wrong key or nonce size can fail, and both are fixed here.
                preconditionFailure("AES-GCM refused to seal")
            }
        }
    }

    /// Opens a box that holds a key into memory that is wiped.
    ///
    /// - Throws: ``CryptoError``; nothing of the plaintext is given out then.
    package func open(_ box: [UInt8], bound associatedData: AssociatedData) throws(CryptoError) -> SecretBytes {
        try open(box, associatedData, into: SecretBytes(count: max(0, box.count - Self.overhead)))
    }

    /// Opens a box that holds a value, of whatever size.
    ///
    /// - Throws: ``CryptoError``; `noMemory` says nothing about the seal.
    package func openValue(_ box: [UInt8], bound associatedData: AssociatedData) throws(CryptoError) -> SecretBytes {
        // Before anything is opened: where there is no room nothing is left to be wiped.
        let room: SecretBytes
        do throws(SystemCallError) {
            room = try SecretBytes(allocating: max(0, box.count - Self.overhead))
        } catch { throw .noMemory }
        return try open(box, associatedData, into: room)
    }

    private func open(
        _ box: [UInt8], _ associatedData: AssociatedData, into room: consuming SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var secret = room
        var plain = try openToData(box, bound: associatedData)
        precondition(plain.count == secret.count)
        unsafe secret.withUnsafeMutableBytes { place in
            unsafe plain.withUnsafeMutableBytes { source in
                unsafe place.copyMemory(from: UnsafeRawBufferPointer(source))
                unsafe unsafeWipe(source)
            }
        }
        return secret
    }

    /// Opens a box whose content is not a secret value (metadata).
    package func openArray(_ box: [UInt8], bound associatedData: AssociatedData) throws(CryptoError) -> [UInt8] {
        Array(try openToData(box, bound: associatedData))
    }

    private func openToData(_ box: [UInt8], bound associatedData: AssociatedData) throws(CryptoError) -> Data {
        guard box.count >= Self.overhead else { throw .malformed }
        let result: Result<Data, CryptoError> = withKey { key in
            do {
                // The box as a whole: put together from parts it is copied byte by byte.
                let sealed = try AES.GCM.SealedBox(combined: Data(box))
                return .success(try AES.GCM.open(sealed, using: key, authenticating: associatedData.bytes))
            } catch {
                return .failure(.doesNotOpen)
            }
        }
        return try result.get()
    }

    private func withKey<R>(_ body: (SymmetricKey) -> R) -> R {
        unsafe secret.withUnsafeBytes { unsafe body(SymmetricKey(data: $0)) }
    }
}
