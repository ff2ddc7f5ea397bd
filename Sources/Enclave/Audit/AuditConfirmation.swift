internal import KeychainPlatform
internal import Synchronization

/// On its way into the file that says where the audit record ends: a block that is on the
/// disk, or how much is not. Begun and finished by whoever has the engine, written by any
/// thread in between, so that a slow disk keeps nobody waiting who wants a key.
///
/// There is one at a time (``EnclaveCore/beginConfirming(_:)``). What else writes the file
/// waits for it first (``EnclaveCore/settleConfirmation()``).
final class AuditConfirmation: Sendable {
    /// What counts once it is written.
    let next: AuditLedger.Held
    /// The block that is on the disk.
    struct Block: Sendable {
        let digest: [UInt8]
        /// Events of which it says that they are lost.
        let lost: UInt64
    }
    /// nil: none is, and the next one goes where it would have gone.
    let block: Block?
    /// Readable from then on, and where it could not be written.
    let done: EventSignal
    private let write: @Sendable () throws(KeybagError) -> Void
    private let outcome = Mutex<Result<Void, KeybagError>?>(nil)

    init(
        of next: AuditLedger.Held, block: Block?, write: @escaping @Sendable () throws(KeybagError) -> Void
    ) throws(KeybagError) {
        do throws(SystemCallError) { done = try EventSignal() } catch { throw .system(error) }
        self.next = next
        self.block = block
        self.write = write
    }

    /// Writes it; returns once it is durable, or is not.
    func perform() {
        let result: Result<Void, KeybagError>
        do throws(KeybagError) { result = .success(try write()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        done.signal()
    }

    /// What became of it; waits for that.
    func result() -> Result<Void, KeybagError> {
        while true {
            if let result = outcome.withLock({ $0 }) { return result }
            // Where the system lets nobody wait, it is looked at again: while somebody may
            // be writing, nothing else writes there.
            do throws(SystemCallError) { _ = try waitForAny(of: [done.descriptor]) } catch { continue }
        }
    }
}
