internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// A datagram, and perhaps a memfd beside it, as another process may send
    /// them. First byte: 1 sends the rest as the content of a sealed memfd, with
    /// a prefix that says so; 2 leaves it unsealed; otherwise a plain datagram.
    static let frame = FuzzTarget("frame", seeds: { FrameSeeds.all }) { bytes throws(Finding) in
        do {
            try FrameProperty.check(bytes)
        } catch {
            if let finding = error as? Finding { throw finding }
            throw Finding("the socket failed: \(error)")
        }
    }
}

private enum FrameProperty {
    static func check(_ bytes: [UInt8]) throws {
        let (ours, theirs) = try PacketSocket.pair()
        let channel = try MessageChannel(theirs)
        switch bytes.first {
        case 1: try checkMemory(Array(bytes.dropFirst()), ours, channel)
        default:
            let datagram = Array(bytes.dropFirst())
            // An empty datagram is how such a socket shows its end.
            guard !datagram.isEmpty else { return }
            try ours.send(datagram)
            try checkInline(datagram, channel)
        }
    }

    /// What is accepted, our own encoder writes: one message has one form.
    private static func checkInline(_ datagram: [UInt8], _ channel: MessageChannel) throws {
        guard let frame = try received(channel) else { return }
        guard frame.descriptor == nil else { throw Finding("a descriptor out of nothing") }
        let back = try resent(frame.header, frame.tail.insecureArray())
        guard back == datagram else {
            throw Finding("accepted \(datagram.count) bytes that our encoder does not write")
        }
    }

    /// The first eight bytes are the prefix, eight more the length, the rest is in the memfd.
    private static func checkMemory(_ bytes: [UInt8], _ ours: PacketSocket, _ channel: MessageChannel) throws {
        let prefix = Array(bytes.prefix(16))
        guard !prefix.isEmpty else { return }
        let content = Array(bytes.dropFirst(16))
        let memory = try unsafe content.withUnsafeBytes { body in
            try unsafe SealedMemory.make(body, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        try ours.send(prefix, descriptor: memory)
        guard let frame = try received(channel) else { return }
        let header = frame.header
        let tail = frame.tail.insecureArray()
        // A message that came in the datagram may carry a descriptor of its own.
        let whole = frame.descriptor == nil ? content : Array(prefix.dropFirst(WireLimit.prefix))
        guard header + tail == whole else { throw Finding("the message is not what was sent") }
    }

    /// nil where the message was refused.
    private static func received(_ channel: MessageChannel) throws -> Frame? {
        do throws(FrameError) {
            guard let arrival = try channel.receiveNow() else { return nil }
            switch consume arrival {
            case .closed: return nil
            case .frame(let frame): return frame
            }
        } catch {
            if case .system(let below) = error { throw below }
            return nil
        }
    }

    private static func resent(_ header: [UInt8], _ tail: [UInt8]) throws -> [UInt8] {
        let (ours, theirs) = try PacketSocket.pair()
        let deadline = Deadline(after: .seconds(5), on: SystemClock())
        try MessageChannel(ours).send(header, SecretBytes(copying: tail), until: deadline)
        var buffer = [UInt8](repeating: 0, count: WireLimit.datagram)
        let envelope = try unsafe buffer.withUnsafeMutableBytes { try unsafe theirs.receive(into: $0) }
        return Array(buffer[..<(envelope?.byteCount ?? 0)])
    }
}

private enum FrameSeeds {
    static let all: [[UInt8]] = [
        [0, 0x4C, 0, 0, 0, 0, 0, 0, 0], [0, 0x4C, 0, 0, 0, 2, 0, 0, 0, 8, 1, 7, 7, 7],
        [1, 0x4C, 1, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 8, 1, 7, 7, 7],
        [1, 0x4C, 0, 0, 0, 2, 0, 0, 0, 8, 1, 7, 7, 7, 7, 7, 7],
        [0, 0x4C, 0, 0, 0, 255, 255, 255, 255], [0, 0x4C, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0],
    ]
}
