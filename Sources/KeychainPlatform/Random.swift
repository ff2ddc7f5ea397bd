@_implementationOnly import CLatchkeyPlatform

/// Random bytes that are not secret: nonces, salts, identifiers.
package enum Random {
    /// From getrandom(2); a process that gets none cannot go on safely.
    package static func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            precondition(unsafe lk_random(buffer.baseAddress!, count) == Int64(count), "the kernel gives no random bytes")
            filled = count
        }
    }
}

/// Overwrites memory that held a secret outside ``SecretBytes`` (explicit_bzero(3)).
package func unsafeWipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    unsafe lk_wipe(base, buffer.count)
}
