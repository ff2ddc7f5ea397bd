internal import KeychainProtocol

/// The sizes and times of the hop between daemon and enclave.
package enum EnclaveProtocol {
    /// Raised with any change that an older end would not understand.
    /// 2: rows to be opened and their outcomes are packed.
    /// 3: what changes with a passcode: rewrap, retire, lock, await_state,
    /// authentication contexts and questions.
    /// 4: what a person is shown of a constrained row is bound to its key.
    /// 5: the audit record.
    /// 6: what of it cannot be written.
    static let version: UInt32 = 6
    /// The socket's name in the run folder.
    package static let socketName = EnclaveRendezvous.socketName
    /// Held by the process that owns the socket.
    package static let socketLockName = "enclave.lock"
    /// An exchange without an answer for so long has failed: a second less than a
    /// client waits for the daemon, which can then still say what is wrong.
    static let exchangeLimit: Duration = .seconds(4)
    /// The same where the enclave waits for its disk, which keeps nobody else.
    static let diskLimit: Duration = .seconds(30)
    /// Rows in one request; a longer batch is sent in parts.
    static let batch = 256
    /// Every key that travels.
    static let keyByteCount = 32
}
