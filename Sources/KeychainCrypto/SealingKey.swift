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
        let nonce = Random.bytes(WipedCipher.nonceCount)
        let cipher = WipedCipher(key: secret)
        let count = plaintext.count + Self.overhead
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let box = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            unsafe box.copyBytes(from: nonce)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: box[nonce.count...])
            let isSealed = unsafe nonce.withUnsafeBytes {
                unsafe cipher.seal(plaintext, nonce: $0, bound: associatedData.bytes, into: rest)
            }
            // Only a wrong key or nonce size can fail, and both are fixed here.
            precondition(isSealed, "AES-GCM refused to seal")
            filled = count
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
        guard box.count >= Self.overhead else { throw .malformed }
        var secret = room
        let isOpen = unsafe secret.withUnsafeMutableBytes { unsafe open(box, associatedData, into: $0) }
        guard isOpen else { throw .doesNotOpen }
        return secret
    }

    /// Opens a box whose content is not a secret value (metadata).
    package func openArray(_ box: [UInt8], bound associatedData: AssociatedData) throws(CryptoError) -> [UInt8] {
        guard box.count >= Self.overhead else { throw .malformed }
        var isOpen = false
        let opened = unsafe [UInt8](unsafeUninitializedCapacity: box.count - Self.overhead) { buffer, filled in
            let place = unsafe UnsafeMutableRawBufferPointer(
                start: buffer.baseAddress, count: box.count - Self.overhead)
            isOpen = unsafe open(box, associatedData, into: place)
            filled = isOpen ? place.count : 0
        }
        guard isOpen else { throw .doesNotOpen }
        return opened
    }

    private func open(
        _ box: [UInt8], _ associatedData: AssociatedData, into place: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let cipher = WipedCipher(key: secret)
        return unsafe box.withUnsafeBytes { all in
            let nonce = unsafe UnsafeRawBufferPointer(rebasing: all[..<WipedCipher.nonceCount])
            let sealed = unsafe UnsafeRawBufferPointer(rebasing: all[WipedCipher.nonceCount...])
            return unsafe cipher.open(sealed, nonce: nonce, bound: associatedData.bytes, into: place)
        }
    }
}
