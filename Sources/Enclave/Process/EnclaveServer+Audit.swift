internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What the audit record waits for: a thread of its own for each block writes where the
/// record ends, and the loop goes on opening keys.
extension EnclaveServer {
    func write(_ confirmation: AuditConfirmation) {
        // Of two at once the first would never be told of.
        finishConfirming()
        confirming = confirmation
        do throws(SystemCallError) {
            try epoll.add(confirmation.done.descriptor, as: Watched.disk, oneShot: false)
            let writeHead = writeHead
            try BackgroundThread.start { writeHead(confirmation) }
        } catch {
            // Without a thread everybody waits, and nothing else is different.
            writeHead(confirmation)
            finishConfirming()
        }
    }

    /// Waits for it where it is not written yet; tells the daemon, if it is still there.
    func finishConfirming() {
        guard let confirmation = confirming else { return }
        confirming = nil
        epoll.remove(confirmation.done.descriptor)
        let outcome: Result<AuditPlace, KeychainError>
        do throws(KeychainError) {
            outcome = .success(try withCore { core throws(KeychainError) in try core.finish(confirmation) })
        } catch { outcome = .failure(error) }
        for (number, connection) in connections {
            guard let request = connection.confirming else { continue }
            connection.confirming = nil
            do {
                let answer = EnclaveSession.answer(outcome, to: request)
                try connection.channel.send(
                    MessageCoding.encode(answer.reply), until: Deadline(after: .zero, on: clock))
            } catch { end(number) }
        }
    }
}
