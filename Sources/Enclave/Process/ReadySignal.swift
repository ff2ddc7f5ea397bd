internal import KeychainMessages
internal import KeychainModel
package import KeychainPlatform

/// The new enclave's one word to whoever started it, over a socket pair: that it
/// listens, or why not. An end that closes without a word has failed.
package final class ReadySignal {
    private var socket: PacketSocket?

    /// - Parameter descriptor: the starter's socket, as the new process finds it.
    package init(descriptor: Descriptor) { socket = PacketSocket(owning: descriptor) }

    func listening() {
        var word = Latchkey_EnclaveReply()
        word.process = ProcessEnvironment.processID
        say(word)
    }

    func failed(_ error: KeychainError) {
        var word = Latchkey_EnclaveReply()
        word.failure = error.failureMessage
        say(word)
    }

    /// Says it and closes; a starter that has gone is nobody's concern.
    private func say(_ word: Latchkey_EnclaveReply) {
        defer { socket = nil }
        do throws(SystemCallError) {
            try socket?.setNonBlocking(true)
            try socket?.send(MessageCoding.encode(word))
        } catch {
            return
        }
    }
}
