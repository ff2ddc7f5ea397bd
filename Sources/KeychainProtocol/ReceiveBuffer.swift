internal import KeychainPlatform
internal import Synchronization

/// Room for one datagram, in memory that is wiped. A few are kept for the whole
/// process: as many as threads receive at once, not one a connection.
final class ReceiveBuffer: @unchecked Sendable {
    // @unchecked: between `take` and `giveBack` one thread has it for itself.
    private var bytes: SecretBytes
    private var used = 0

    private init() throws(SystemCallError) { bytes = try SecretBytes(allocating: WireLimit.datagram) }

    private static let mostKept = 8
    private static let kept = Mutex<[ReceiveBuffer]>([])

    /// - Throws: ENOMEM.
    static func take() throws(SystemCallError) -> ReceiveBuffer {
        if let buffer = kept.withLock({ $0.popLast() }) { return buffer }
        return try ReceiveBuffer()
    }

    /// Wipes what was received.
    func giveBack() {
        let count = used
        unsafe bytes.withUnsafeMutableBytes { unsafe unsafeWipe(.init(rebasing: $0[..<count])) }
        used = 0
        Self.kept.withLock { kept in
            if kept.count < Self.mostKept { kept.append(self) }
        }
    }

    func receive(from socket: PacketSocket, _ patience: ReceivePatience) throws(SystemCallError) -> PacketEnvelope? {
        let envelope = try unsafe bytes.withUnsafeMutableBytes { space throws(SystemCallError) in
            try unsafe socket.receive(into: space, patience)
        }
        used = min(envelope?.byteCount ?? 0, bytes.count)
        return envelope
    }

    /// The header of a message, without its tail.
    func header(_ envelope: PacketEnvelope) throws(FrameError) -> [UInt8]? {
        let count = used
        return try unsafe bytes.withUnsafeBytes { bytes throws(FrameError) in
            try unsafe Frame.header(UnsafeRawBufferPointer(rebasing: bytes[..<count]), envelope)
        }
    }

    func decode(_ envelope: PacketEnvelope, _ admits: (Int) -> Bool) throws(FrameError) -> Frame {
        let count = used
        return try unsafe bytes.withUnsafeBytes { bytes throws(FrameError) in
            try unsafe Frame.decode(UnsafeRawBufferPointer(rebasing: bytes[..<count]), envelope, admits)
        }
    }
}
