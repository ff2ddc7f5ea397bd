/// A source of random bytes. There is only ``kSecRandomDefault``.
public typealias SecRandomRef = OpaquePointer

/// The system's source of random bytes, which is null, as on Apple's systems.
@safe nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from the system's source, fit for keys.
///
/// - Parameters:
///   - rnd: Ignored.
///   - count: The number of bytes; 0 is fine.
///   - bytes: Where to write them; at least `count` bytes.
/// - Returns: `errSecSuccess`; `errSecParam` for a count below 0.
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var generator = SystemRandomNumberGenerator()
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
    for start in stride(from: 0, to: count, by: MemoryLayout<UInt64>.size) {
        let word = generator.next()
        unsafe withUnsafeBytes(of: word) { random in
            let end = min(start + random.count, count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<end]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: random[..<(end - start)]))
        }
    }
    return errSecSuccess
}
