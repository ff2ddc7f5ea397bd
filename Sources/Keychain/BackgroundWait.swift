internal import KeychainPlatform
internal import KeychainProtocol

/// One wait, on a thread of its own: it may take for ever, and Swift's own threads
/// are few.
enum BackgroundWait {
    /// What the wait ended with. Its event is signalled when the task is cancelled.
    static func result<R: Sendable>(
        of wait: @escaping @Sendable (EventSignal) throws(KeychainError) -> R?
    ) async throws(KeychainError) -> R? {
        let cancelled: EventSignal
        do throws(SystemCallError) { cancelled = try EventSignal() } catch { throw failure(error) }
        let result: Result<R?, KeychainError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do throws(SystemCallError) {
                    try BackgroundThread.start {
                        continuation.resume(returning: Result { () throws(KeychainError) in try wait(cancelled) })
                    }
                } catch {
                    continuation.resume(returning: .failure(failure(error)))
                }
            }
        } onCancel: {
            cancelled.signal()
        }
        return try result.get()
    }

    /// Nothing can be waited for: no descriptor or no thread is left.
    static func failure(_ error: SystemCallError) -> KeychainError {
        KeychainError(.notAvailable, reason: .internalFault(what: "waiting for changes"), underlying: "\(error)")
    }
}
