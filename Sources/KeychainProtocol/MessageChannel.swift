package import KeychainPlatform

/// Sends and receives whole messages over one connection, each within a deadline.
///
/// Not safe for use by two threads at once: whoever borrows the connection
/// sends its request and reads its answer before giving it back. The socket is
/// non-blocking underneath; waiting is done here, on the injected clock.
package final class MessageChannel: Sendable {
    package let socket: PacketSocket
    /// Whether the kernel waits within a receive, which spares a call for each
    /// answer. Only where time passes by itself.
    private let waitsInReceive: Bool

    package init(_ socket: PacketSocket) throws(SystemCallError) {
        self.socket = socket
        waitsInReceive = false
        try socket.setNonBlocking(true)
    }

    /// For whoever asks and waits for each answer.
    ///
    /// - Parameter patience: the longest that any deadline gives an answer.
    package init(_ socket: PacketSocket, asking patience: Duration, on clock: any KeychainClock) throws(SystemCallError) {
        self.socket = socket
        waitsInReceive = clock.moved == nil
        if waitsInReceive { try socket.waitInReceive(atMost: patience) } else { try socket.setNonBlocking(true) }
    }

    /// Sends one message.
    ///
    /// - Throws: ``FrameError/oversized`` before anything is sent, `timedOut`
    ///   where the other end does not read, `system` where it has gone.
    package func send(
        _ header: [UInt8], _ tail: borrowing SecretBytes, descriptor: Descriptor? = nil, until deadline: Deadline
    ) throws(FrameError) {
        guard header.count <= WireLimit.header, header.count + tail.count <= WireLimit.message else { throw .oversized }
        if WireLimit.prefix + header.count + tail.count <= WireLimit.datagram {
            try unsafe tail.withUnsafeBytes { bytes throws(FrameError) in
                try unsafe sendDatagram(FramePrefix(.inline, headerCount: header.count), header, bytes, descriptor, deadline)
            }
        } else {
            precondition(descriptor == nil, "a large message carries its own descriptor")
            try sendLarge(header, tail, deadline)
        }
    }

    /// Sends a message without a tail.
    package func send(
        _ header: [UInt8], descriptor: Descriptor? = nil, until deadline: Deadline
    ) throws(FrameError) {
        guard WireLimit.prefix + header.count <= WireLimit.datagram else {
            return try send(header, SecretBytes(count: 0), descriptor: descriptor, until: deadline)
        }
        try unsafe sendDatagram(
            FramePrefix(.inline, headerCount: header.count), header, UnsafeRawBufferPointer(start: nil, count: 0),
            descriptor, deadline)
    }

    private func sendLarge(_ header: [UInt8], _ tail: borrowing SecretBytes, _ deadline: Deadline) throws(FrameError) {
        let memory = try unsafe tail.withUnsafeBytes { bytes throws(FrameError) -> Descriptor in
            do throws(SystemCallError) {
                return try unsafe header.span.bytes.withUnsafeBytes { head throws(SystemCallError) in
                    try unsafe SealedMemory.make(head, bytes)
                }
            } catch {
                throw .system(error)
            }
        }
        let total = FramePrefix.littleEndian(UInt64(header.count + tail.count))
        try unsafe sendDatagram(
            FramePrefix(.inMemory, headerCount: header.count), total, UnsafeRawBufferPointer(start: nil, count: 0),
            memory, deadline)
    }

    private func sendDatagram(
        _ prefix: FramePrefix, _ head: [UInt8], _ tail: UnsafeRawBufferPointer, _ descriptor: Descriptor?,
        _ deadline: Deadline
    ) throws(FrameError) {
        while true {
            do throws(SystemCallError) {
                try unsafe prefix.withUnsafeBytes { first throws(SystemCallError) in
                    try unsafe head.span.bytes.withUnsafeBytes { bytes throws(SystemCallError) in
                        try unsafe socket.send(first, bytes, tail, descriptor: descriptor)
                    }
                }
                return
            } catch {
                guard error.isWouldBlock else { throw .system(error) }
            }
            try waitUntilReady(to: .send, deadline)
        }
    }

    /// The next message, or nil when the other end closed between messages.
    ///
    /// Waits first: an answer is hardly ever there when its request has just left.
    package func receive(until deadline: Deadline) throws(FrameError) -> Frame? {
        while true {
            if waitsInReceive {
                if let outcome = try receive(now: false) { return try outcome.frame() }
                guard !deadline.hasPassed else { throw .timedOut }
            } else {
                try waitUntilReady(to: .receive, deadline)
                if let outcome = try receiveNow() { return try outcome.frame() }
            }
        }
    }

    /// What one recvmsg brought.
    package enum Arrival: ~Copyable {
        case frame(Frame)
        case closed

        consuming func frame() throws(FrameError) -> Frame? {
            switch consume self {
            case .frame(let frame): frame
            case .closed: nil
            }
        }
    }

    /// A message that is there already, or nil where none is.
    package func receiveNow() throws(FrameError) -> Arrival? { try receive(now: true) }

    private func receive(now: Bool) throws(FrameError) -> Arrival? {
        let buffer = ReceiveBuffer.take()
        defer { buffer.giveBack() }
        let envelope: PacketEnvelope?
        do throws(SystemCallError) {
            envelope = try buffer.receive(from: socket, now: now)
        } catch {
            if error.isWouldBlock { return nil }
            if error.isBrokenConnection { return .closed }
            throw .system(error)
        }
        guard let envelope else { return .closed }
        return .frame(try buffer.decode(envelope))
    }

    private func waitUntilReady(to direction: WaitDirection, _ deadline: Deadline) throws(FrameError) {
        do throws(SystemCallError) {
            if try wait(for: socket.descriptor.raw, to: direction, until: deadline) == .timedOut { throw SystemCallError("wait", errno: 110) }
        } catch {
            throw error.errno == 110 ? .timedOut : .system(error)
        }
    }
}
