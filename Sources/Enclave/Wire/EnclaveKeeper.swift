internal import KeychainModel

/// The one keybag of an enclave process: opened when the first daemon asks for
/// it, then kept for all connections. Used by the server's one thread.
final class EnclaveKeeper {
    private enum State: ~Copyable {
        case closed
        case open(EnclaveCore)
    }

    private let directory: EnclaveDirectory
    private var state: State = .closed

    init(_ directory: EnclaveDirectory) { self.directory = directory }

    /// Opens the keybag where it is not open yet, and checks the store.
    ///
    /// - Throws: `errSecNotAvailable`; the keybag stays closed then, and the next
    ///   attempt reads the files again.
    func open(_ expected: ExpectedStore) throws(KeychainError) {
        do throws(KeybagError) {
            if let store {
                guard expected.accepts(store) else { throw .mismatch }
            } else {
                state = .open(try directory.open(expected))
            }
        } catch {
            throw error.asKeychainError
        }
    }

    private var store: StoreID? {
        switch state {
        case .closed: nil
        case .open(let core): core.store
        }
    }

    /// Lends the engine.
    ///
    /// - Throws: ``SessionError/outOfTurn`` while the keybag is closed.
    func withCore<R: ~Copyable>(
        _ body: (borrowing EnclaveCore) throws(SessionError) -> R
    ) throws(SessionError) -> R {
        switch state {
        case .closed: throw .outOfTurn
        case .open(let core): return try body(core)
        }
    }
}
