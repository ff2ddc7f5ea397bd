package import KeychainModel
package import KeychainPlatform

/// The sizes of the wire; the same on both hops (FORMATS.md, "Frames").
package enum WireLimit {
    /// One datagram at the most; a longer message travels in a sealed memfd.
    package static let datagram = 64 * 1024
    /// Magic byte, flags, two bytes of zero, length of the header (4 bytes little-endian).
    package static let prefix = 8
    /// A value, spec section 12 and decisions.md.
    package static let value = 64 << 20
    /// Attributes of an item and what goes with them.
    package static let header = 4 << 20
    package static let message = value + header
    /// Rows in one message of an answer.
    package static let rows = 256
    /// Bytes of values after which an answer's message is sent.
    package static let replyBytes = 4 << 20
}

/// Why a frame was refused; each ends the connection it came on.
package enum FrameError: Error, Hashable, Sendable {
    case malformed
    case oversized
    case truncated
    case unexpectedDescriptor
    case timedOut
    /// The other end went away where a message was due.
    case closed
    case system(SystemCallError)
    /// The other end said why it refuses.
    case refused(KeychainError)
}

/// One message as it came: a header to be decoded, a tail of raw bytes that may
/// be secret, and at most one descriptor.
package struct Frame: ~Copyable, Sendable {
    package let header: [UInt8]
    package let tail: SecretBytes
    package let descriptor: Descriptor?
    package let sender: SenderCredentials?
    /// Why the tail was left where it is; nil where it was read.
    package let withheld: Withheld?

    package enum Withheld: Sendable {
        /// Whoever receives did not want so many bytes.
        case notAdmitted
        case noMemory
    }

    /// The tail alone, without a copy.
    package consuming func takeTail() -> SecretBytes { tail }

    /// Splits what the wire brought: prefix, header, tail.
    ///
    /// A large message is a prefix with flag 1 and the length of the whole (8
    /// bytes little-endian), its bytes (header, then tail) in a sealed memfd.
    ///
    /// - Parameter admits: asked with the size of a large message before memory
    ///   is taken for it.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ envelope: PacketEnvelope, _ admits: (Int) -> Bool
    ) throws(FrameError) -> Frame {
        guard !envelope.isTruncated else { throw .truncated }
        guard envelope.descriptorCount <= 1 else { throw .unexpectedDescriptor }
        guard bytes.count >= WireLimit.prefix, unsafe bytes[0] == FramePrefix.magic,
            unsafe bytes[2] == 0, unsafe bytes[3] == 0
        else { throw .malformed }
        let headerCount = unsafe Int(FramePrefix.number(bytes, at: 4, bytes: 4))
        guard headerCount <= WireLimit.header else { throw .oversized }
        switch unsafe FramePrefix.Flag(rawValue: bytes[1]) {
        case .inline:
            let body = unsafe UnsafeRawBufferPointer(rebasing: bytes[WireLimit.prefix...])
            guard headerCount <= body.count else { throw .malformed }
            let header = unsafe Array(body[..<headerCount])
            do throws(SystemCallError) {
                let tail = try unsafe SecretBytes(
                    unsafeAllocating: UnsafeRawBufferPointer(rebasing: body[headerCount...]))
                return Frame(
                    header: header, tail: tail, descriptor: envelope.descriptor, sender: envelope.sender, withheld: nil)
            } catch {
                return Frame(header: header, sender: envelope.sender, withheld: .noMemory)
            }
        case .inMemory:
            guard bytes.count == WireLimit.prefix + 8, let memory = envelope.descriptor else { throw .malformed }
            let total = unsafe FramePrefix.number(bytes, at: 8, bytes: 8)
            guard total <= UInt64(WireLimit.message) else { throw .oversized }
            guard headerCount <= Int(total) else { throw .malformed }
            return try large(memory, headerCount, Int(total), envelope.sender, isAdmitted: admits(Int(total)))
        case nil:
            throw .malformed
        }
    }

    /// The header of a message that is still to be received; nil where it is longer
    /// than a datagram, which only a large message's can be.
    static func header(
        _ bytes: UnsafeRawBufferPointer, _ envelope: PacketEnvelope
    ) throws(FrameError) -> [UInt8]? {
        guard bytes.count >= WireLimit.prefix, unsafe bytes[0] == FramePrefix.magic else { throw .malformed }
        let count = unsafe Int(FramePrefix.number(bytes, at: 4, bytes: 4))
        guard count <= WireLimit.datagram else { return nil }
        switch unsafe FramePrefix.Flag(rawValue: bytes[1]) {
        case .inline:
            guard count <= bytes.count - WireLimit.prefix else { throw .malformed }
            return unsafe Array(bytes[WireLimit.prefix..<WireLimit.prefix + count])
        case .inMemory:
            guard bytes.count == WireLimit.prefix + 8, let memory = envelope.descriptor else { throw .malformed }
            let total = unsafe FramePrefix.number(bytes, at: 8, bytes: 8)
            guard total <= UInt64(WireLimit.message), count <= Int(total) else { throw .malformed }
            do throws(SystemCallError) {
                // Sealed, or its owner could make us wait for pages of a file.
                try SealedMemory.check(memory, byteCount: Int(total))
                return try SealedMemory.read(memory, 0..<count).insecureArray()
            } catch {
                throw .malformed
            }
        case nil: throw .malformed
        }
    }

    private static func large(
        _ memory: Descriptor, _ headerCount: Int, _ total: Int, _ sender: SenderCredentials?, isAdmitted: Bool
    ) throws(FrameError) -> Frame {
        let header: [UInt8]
        do throws(SystemCallError) {
            try SealedMemory.check(memory, byteCount: total)
            header = try SealedMemory.read(memory, 0..<headerCount).insecureArray()
        } catch {
            throw .malformed
        }
        guard isAdmitted else { return Frame(header: header, sender: sender, withheld: .notAdmitted) }
        do throws(SystemCallError) {
            let tail = try SealedMemory.read(memory, headerCount..<total)
            return Frame(header: header, tail: tail, descriptor: nil, sender: sender, withheld: nil)
        } catch {
            guard error.isOutOfMemory else { throw .malformed }
            return Frame(header: header, sender: sender, withheld: .noMemory)
        }
    }

    private init(header: [UInt8], sender: SenderCredentials?, withheld: Withheld) {
        self.init(header: header, tail: SecretBytes(count: 0), descriptor: nil, sender: sender, withheld: withheld)
    }

    private init(
        header: [UInt8], tail: consuming SecretBytes, descriptor: Descriptor?, sender: SenderCredentials?,
        withheld: Withheld?
    ) {
        self.header = header
        self.tail = tail
        self.descriptor = descriptor
        self.sender = sender
        self.withheld = withheld
    }
}

/// The eight bytes before a message.
struct FramePrefix {
    static let magic: UInt8 = 0x4C  // "L"

    enum Flag: UInt8 {
        case inline = 0
        case inMemory = 1
    }

    /// Magic, flag, two bytes of zero, the header's length little-endian.
    private let word: UInt64

    init(_ flag: Flag, headerCount: Int) {
        word = (UInt64(Self.magic) | UInt64(flag.rawValue) << 8 | UInt64(UInt32(headerCount)) << 32).littleEndian
    }

    func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe Swift.withUnsafeBytes(of: word) { bytes throws(E) in try unsafe body(bytes) }
    }

    static func littleEndian(_ number: UInt64) -> [UInt8] {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe Array($0) }
    }

    static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int, bytes count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = unsafe value << 8 | UInt64(bytes[offset + index]) }
        return value
    }
}
