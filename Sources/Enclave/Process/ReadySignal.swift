internal import KeychainMessages
internal import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol

/// A new enclave's one word to whoever started it.
enum ReadyWord: Sendable {
    case listening(process: Int32)
    case failed(KeychainError)

    private static let sizeLimit = 8192

    /// nil where the other end closed without a word, or said nothing in time or
    /// nothing that makes sense: it has failed.
    static func hear(on socket: PacketSocket, until deadline: Deadline) throws(SystemCallError) -> ReadyWord? {
        guard try wait(for: socket.descriptor.raw, to: .receive, until: deadline) == .ready else { return nil }
        var buffer = SecretBytes(count: sizeLimit)
        let envelope = try unsafe buffer.withUnsafeMutableBytes { space throws(SystemCallError) in
            try unsafe socket.receive(into: space)
        }
        guard let envelope, !envelope.isTruncated else { return nil }
        return ReadyWord(encoded: buffer.copy(0..<envelope.byteCount).insecureArray())
    }

    init?(encoded bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_EnclaveReply.self, bytes) else { return nil }
        if message.hasFailure {
            self = .failed(KeychainError(enclaveFailure: message.failure))
        } else if message.process > 0 {
            self = .listening(process: message.process)
        } else {
            return nil
        }
    }

    var encoded: [UInt8] {
        var message = Latchkey_EnclaveReply()
        switch self {
        case .listening(let process): message.process = process
        case .failed(let error): message.failure = Latchkey_Failure(error)
        }
        return MessageCoding.encode(message)
    }
}

/// The new process's end: says one word, once, and closes.
package final class ReadySignal {
    private var socket: PacketSocket?

    /// - Parameter descriptor: the starter's socket, as the new process finds it.
    package init(descriptor: Descriptor) { socket = PacketSocket(owning: descriptor) }

    /// A starter that has gone is nobody's concern.
    func say(_ word: ReadyWord) {
        defer { socket = nil }
        do throws(SystemCallError) {
            try socket?.setNonBlocking(true)
            try socket?.send(word.encoded)
        } catch {
            return
        }
    }
}
