@_implementationOnly import CLatchkeyPlatform

/// Random bytes that are not secret: nonces, salts, identifiers.
package enum Random {
    /// From getrandom(2); a process that gets none cannot go on safely.
    package static func bytes(_ count: Int) -> [UInt8] {
        // An array made of a buffer costs a third of one that is filled in place.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
            precondition(unsafe lk_random(buffer.baseAddress!, count) == Int64(count), "the kernel gives no random bytes")
            return unsafe [UInt8](buffer)
        }
    }
}

/// Overwrites memory that held a secret outside ``SecretBytes`` (explicit_bzero(3)).
package func unsafeWipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    unsafe lk_wipe(base, buffer.count)
}
