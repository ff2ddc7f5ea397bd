package import KeychainPlatform

/// Sends and receives whole messages over one connection, each within a deadline.
///
/// Not safe for use by two threads at once: whoever borrows the connection
/// sends its request and reads its answer before giving it back. The socket is
/// non-blocking underneath; waiting is done here, on the injected clock.
package final class MessageChannel: Sendable {
    package let socket: PacketSocket
    /// How long the kernel waits within a receive, which spares a call for each
    /// answer; nil where it does not. Only where time passes by itself.
    private let waitInReceive: Duration?
    /// Looks for an answer before it is slept; nil where it does not.
    private let brief: BriefWait?

    package init(_ socket: PacketSocket) throws(SystemCallError) {
        self.socket = socket
        waitInReceive = nil
        brief = nil
        try socket.setNonBlocking(true)
    }

    /// For whoever asks and waits for each answer.
    ///
    /// - Parameters:
    ///   - patience: the longest that any deadline gives an answer.
    ///   - looksBefore: whether an answer is looked for before it is slept: for whoever has
    ///     the processor to themselves meanwhile. (The daemon leaves its own to the enclave.)
    package init(
        _ socket: PacketSocket, asking patience: Duration, on clock: any KeychainClock, looksBefore: Bool = false
    ) throws(SystemCallError) {
        self.socket = socket
        waitInReceive = clock.moved == nil ? patience : nil
        brief = looksBefore && clock.moved == nil ? BriefWait() : nil
        if waitInReceive != nil { try socket.waitInReceive(atMost: patience) } else { try socket.setNonBlocking(true) }
    }

    /// Sends one message.
    ///
    /// - Parameter beforeWaiting: called where the other end has to read first.
    /// - Throws: ``FrameError/oversized`` before anything is sent, `timedOut`
    ///   where the other end does not read, `system` where it has gone.
    package func send(
        _ header: [UInt8], _ tail: borrowing SecretBytes, descriptor: Descriptor? = nil, until deadline: Deadline,
        beforeWaiting: () -> Void = {}
    ) throws(FrameError) {
        guard header.count <= WireLimit.header, header.count + tail.count <= WireLimit.message else { throw .oversized }
        if WireLimit.prefix + header.count + tail.count <= WireLimit.datagram {
            try unsafe tail.withUnsafeBytes { bytes throws(FrameError) in
                try unsafe sendDatagram(
                    FramePrefix(.inline, headerCount: header.count), header, bytes, descriptor, deadline, beforeWaiting)
            }
        } else {
            precondition(descriptor == nil, "a large message carries its own descriptor")
            try sendLarge(header, tail, deadline, beforeWaiting)
        }
    }

    /// Sends a message without a tail.
    package func send(
        _ header: [UInt8], descriptor: Descriptor? = nil, until deadline: Deadline, beforeWaiting: () -> Void = {}
    ) throws(FrameError) {
        guard WireLimit.prefix + header.count <= WireLimit.datagram else {
            return try send(
                header, SecretBytes(count: 0), descriptor: descriptor, until: deadline, beforeWaiting: beforeWaiting)
        }
        try unsafe sendDatagram(
            FramePrefix(.inline, headerCount: header.count), header, UnsafeRawBufferPointer(start: nil, count: 0),
            descriptor, deadline, beforeWaiting)
    }

    private func sendLarge(
        _ header: [UInt8], _ tail: borrowing SecretBytes, _ deadline: Deadline, _ beforeWaiting: () -> Void
    ) throws(FrameError) {
        try waitUntilRead(deadline, beforeWaiting)
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
            memory, deadline, beforeWaiting)
    }

    /// The bytes of a large message are the sender's to answer for until they are
    /// read: one at a time lies in the socket, and another only where that is all.
    private func waitUntilRead(_ deadline: Deadline, _ beforeWaiting: () -> Void) throws(FrameError) {
        let outcome: WaitOutcome
        do throws(SystemCallError) {
            outcome = try socket.waitUntilRead(until: deadline, beforeWaiting: beforeWaiting)
        } catch { throw .system(error) }
        if outcome == .timedOut { throw .timedOut }
    }

    private func sendDatagram(
        _ prefix: FramePrefix, _ head: [UInt8], _ tail: UnsafeRawBufferPointer, _ descriptor: Descriptor?,
        _ deadline: Deadline, _ beforeWaiting: () -> Void
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
            beforeWaiting()
            try waitUntilReady(to: .send, deadline)
        }
    }

    /// The next message, or nil when the other end closed between messages.
    ///
    /// Waits first: an answer is hardly ever there when its request has just left.
    package func receive(until deadline: Deadline) throws(FrameError) -> Frame? {
        if let brief, brief.isReadable(socket), let outcome = try receiveNow() { return try Self.whole(outcome) }
        // The kernel's wait is of one length: for a deadline that has just begun. One
        // that a signal ended, and what is left of an older deadline, are waited for
        // by the clock.
        if let waitInReceive, deadline.remaining + .milliseconds(20) >= waitInReceive,
            let outcome = try receive(.waitingOnce, { _ in true })
        {
            return try Self.whole(outcome)
        }
        while true {
            try waitUntilReady(to: .receive, deadline)
            if let outcome = try receiveNow() { return try Self.whole(outcome) }
        }
    }

    /// Whoever waits for a message wants all of it.
    private static func whole(_ arrival: consuming Arrival) throws(FrameError) -> Frame? {
        switch consume arrival {
        case .closed: return nil
        case .frame(let frame):
            guard frame.withheld == nil else { throw .system(.noMemory) }
            return frame
        }
    }

    /// What one recvmsg brought.
    package enum Arrival: ~Copyable {
        case frame(Frame)
        case closed
    }

    /// A message that is there already, or nil where none is.
    ///
    /// - Parameter admits: asked with the size of a message above one datagram
    ///   before memory is taken for it; where it says no, the frame comes
    ///   without its tail (``Frame/withheld``).
    package func receiveNow(admits: (Int) -> Bool = { _ in true }) throws(FrameError) -> Arrival? {
        try receive(.now, admits)
    }

    /// The header of the message that waits to be received and stays where it is;
    /// nil where none waits, or none of which one could say anything.
    package func waitingHeader() -> [UInt8]? {
        do {
            let buffer = try ReceiveBuffer.take()
            defer { buffer.giveBack() }
            guard let envelope = try buffer.receive(from: socket, .looking), !envelope.isTruncated else { return nil }
            return try buffer.header(envelope)
        } catch {
            // Whoever receives it finds out what is wrong with it.
            return nil
        }
    }

    private func receive(_ patience: ReceivePatience, _ admits: (Int) -> Bool) throws(FrameError) -> Arrival? {
        let buffer: ReceiveBuffer
        do throws(SystemCallError) { buffer = try ReceiveBuffer.take() } catch { throw .system(error) }
        defer { buffer.giveBack() }
        let envelope: PacketEnvelope?
        do throws(SystemCallError) {
            envelope = try buffer.receive(from: socket, patience)
        } catch {
            if error.isWouldBlock { return nil }
            if error.isBrokenConnection { return .closed }
            throw .system(error)
        }
        guard let envelope else { return .closed }
        return .frame(try buffer.decode(envelope, admits))
    }

    private func waitUntilReady(to direction: WaitDirection, _ deadline: Deadline) throws(FrameError) {
        do throws(SystemCallError) {
            if case .timedOut = try wait(for: socket.descriptor.raw, to: direction, until: deadline) {
                throw SystemCallError("wait", errno: 110)
            }
        } catch {
            throw error.errno == 110 ? .timedOut : .system(error)
        }
    }
}
