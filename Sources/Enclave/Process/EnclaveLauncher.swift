internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform

/// Makes sure that an enclave runs: finds the one that listens, or starts one.
package enum EnclaveLauncher {
    /// Losing a race against another starter is no failure; losing it so often is.
    private static let mostAttempts = 64

    /// - Parameters:
    ///   - executable: absolute path of `latchkey-enclave`.
    ///   - dataDirectory: the data folder; the enclave's own is `enclave` in it.
    ///   - expected: which store; a new one is made only where there is no database.
    /// - Returns: connections to it; one was made already, so it answers.
    /// - Throws: `errSecNotAvailable` within 5 s: `enclaveUnreachable`, or what
    ///   kept the enclave from starting or from opening the keybag.
    package static func start(
        executable: String, dataDirectory: String, runDirectory: String, expecting expected: ExpectedStore,
        clock: any KeychainClock
    ) throws(KeychainError) -> RemoteEnclave {
        let userID = ProcessEnvironment.effectiveUserID
        let deadline = Deadline(after: EnclaveProtocol.exchangeLimit, on: clock)
        for _ in 0..<mostAttempts where !deadline.hasPassed {
            if isListening(in: runDirectory, userID) {
                let enclave = RemoteEnclave(
                    runDirectory: runDirectory, expecting: expected, userID: userID, clock: clock)
                _ = try enclave.connect()
                return enclave
            }
            try launch(executable, dataDirectory, runDirectory, deadline)
        }
        throw .enclaveUnreachable("another enclave has the folder and does not listen")
    }

    private static func isListening(in runDirectory: String, _ userID: UInt32) -> Bool {
        do throws(KeychainError) {
            _ = try RemoteEnclave.reach(in: runDirectory, userID: userID)
            return true
        } catch {
            return false
        }
    }

    /// Starts the program and hears its word. Returns also where another has the
    /// folder: that one may be about to listen.
    private static func launch(
        _ executable: String, _ dataDirectory: String, _ runDirectory: String, _ deadline: Deadline
    ) throws(KeychainError) {
        let word: Latchkey_EnclaveReply?
        do throws(SystemCallError) {
            let socket = try startProcess(
                executable, ["--data", dataDirectory, "--run", runDirectory, "--ready-descriptor", "3"])
            word = try hear(socket, deadline)
        } catch {
            throw .enclaveUnreachable(error.description)
        }
        guard let word else { throw .enclaveUnreachable("\(executable) ended or said nothing") }
        guard word.hasFailure else { return }
        let error = KeychainError(enclaveFailure: word.failure)
        guard error.reason == .storeInUse else { throw error }
    }

    /// Our end of the socket pair; the other end is the new process's alone.
    private static func startProcess(
        _ executable: String, _ arguments: [String]
    ) throws(SystemCallError) -> PacketSocket {
        let (ours, theirs) = try PacketSocket.pair()
        try DaemonStarter.start(executable, arguments: arguments, environment: [], keeping: theirs.descriptor)
        return ours
    }

    /// nil where nothing came, or nothing that makes sense.
    private static func hear(_ socket: PacketSocket, _ deadline: Deadline) throws(SystemCallError)
        -> Latchkey_EnclaveReply?
    {
        guard try wait(for: socket.descriptor.raw, to: .receive, until: deadline) == .ready else { return nil }
        var buffer = SecretBytes(count: 4096)
        let envelope = try unsafe buffer.withUnsafeMutableBytes { space throws(SystemCallError) in
            try unsafe socket.receive(into: space)
        }
        guard let envelope, !envelope.isTruncated else { return nil }
        return MessageCoding.decode(Latchkey_EnclaveReply.self, buffer.copy(0..<envelope.byteCount).insecureArray())
    }
}
