@_implementationOnly import CLatchkeyPlatform

/// Bytes that nobody else should see: keys, passcodes, values of items.
///
/// They live in ``SecretArena`` (locked where possible, never in a core dump,
/// wiped in a forked child) and are wiped when their owner goes. There is no
/// description, no `Codable` and no equality but ``isEqual(to:)``, which takes
/// the same time for every content of a length.
///
/// Public for the compiler alone: of a `package` type it inlines and specializes nothing in
/// other modules, whatever is `@inlinable`, and looks up types and conformances instead. Its
/// members stay between our own.
@safe public struct SecretBytes: ~Copyable, Sendable {
    @usableFromInline nonisolated(unsafe) let base: UnsafeMutableRawPointer
    @usableFromInline let capacity: Int
    @usableFromInline package private(set) var count: Int

    /// `count` zero bytes.
    ///
    /// - Precondition: there is memory for them. Where another process chooses
    ///   the count it is ``init(allocating:)``.
    package init(count: Int) {
        guard let place = unsafe SecretArena.shared.allocate(count) else {
            preconditionFailure("out of memory for a secret of \(count) bytes")
        }
        unsafe base = place
        capacity = count
        self.count = count
    }

    /// `count` zero bytes, as many as somebody else asks for.
    ///
    /// - Throws: ENOMEM.
    package init(allocating count: Int) throws(SystemCallError) {
        guard let place = unsafe SecretArena.shared.allocate(count) else {
            throw .noMemory
        }
        unsafe base = place
        capacity = count
        self.count = count
    }

    /// A copy of `bytes`; wiping the original is the caller's business.
    package init(copying bytes: [UInt8]) {
        self.init(count: bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe fill(from: $0) }
    }

    /// A copy of bytes that somebody else sent.
    ///
    /// - Throws: ENOMEM.
    package init(unsafeAllocating bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        try self.init(allocating: bytes.count)
        unsafe fill(from: bytes)
    }

    package init(copying span: RawSpan) {
        self.init(count: span.byteCount)
        unsafe span.withUnsafeBytes { unsafe fill(from: $0) }
    }

    package init(unsafeCopying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count)
        unsafe fill(from: bytes)
    }

    private func fill(from source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        unsafe base.copyMemory(from: start, byteCount: source.count)
    }

    deinit { unsafe SecretArena.shared.release(base, capacity) }

    /// `count` bytes from the kernel's generator (getrandom(2)).
    package static func random(count: Int) -> SecretBytes {
        let fresh = SecretBytes(count: count)
        precondition(unsafe lk_random(fresh.base, count) == Int64(count), "the kernel gives no random bytes")
        return fresh
    }

    /// Lends the bytes for reading.
    @inlinable
    package func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count).bytes)
    }

    @inlinable
    package func withUnsafeBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
    }

    @inlinable
    package mutating func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    /// The first `count` bytes stay; the rest is wiped.
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        unsafe lk_wipe(base + count, self.count - count)
        self.count = count
    }

    /// A copy of a part.
    package func copy(_ range: Range<Int>) -> SecretBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe SecretBytes(
            unsafeCopying: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    package func copy() -> SecretBytes { copy(0..<count) }

    /// A copy of a part that is as long as somebody else chose.
    ///
    /// - Throws: ENOMEM.
    package func copy(allocating range: Range<Int>) throws(SystemCallError) -> SecretBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let part = try SecretBytes(allocating: range.count)
        unsafe part.fill(from: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
        return part
    }

    /// Whether both hold the same bytes, in a time that depends on the lengths alone.
    package func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<count {
            difference |=
                unsafe base.load(fromByteOffset: index, as: UInt8.self)
                ^ other.base.load(fromByteOffset: index, as: UInt8.self)
        }
        return difference == 0
    }

    /// One behind the other.
    ///
    /// - Precondition: there is memory for both.
    package init(joining first: borrowing SecretBytes, _ second: borrowing SecretBytes) {
        self.init(count: first.count + second.count)
        unsafe base.copyMemory(from: first.base, byteCount: first.count)
        unsafe (base + first.count).copyMemory(from: second.base, byteCount: second.count)
    }

    /// All parts, one behind the other.
    ///
    /// - Throws: ENOMEM.
    package static func joined(_ parts: [SharedSecret]) throws(SystemCallError) -> SecretBytes {
        var byteCount = 0
        for part in parts { byteCount += part.bytes.count }
        let out = try SecretBytes(allocating: byteCount)
        var at = 0
        for part in parts {
            unsafe part.bytes.withUnsafeBytes { source in
                guard let start = source.baseAddress else { return }
                unsafe (out.base + at).copyMemory(from: start, byteCount: source.count)
            }
            at += part.bytes.count
        }
        return out
    }

    /// The bytes as an array, which nothing wipes.
    ///
    /// - Warning: only for what leaves our hands in this form anyway (the data
    ///   that a caller of SecItemCopyMatching asked for).
    package func insecureArray() -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: base, count: count))
    }
}

/// A shared, immutable owner of ``SecretBytes``, for places that cannot hold a
/// noncopyable value (arrays, task results).
package final class SharedSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
