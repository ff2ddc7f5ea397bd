package import KeychainModel
package import KeychainPlatform

/// Connections to the enclave of a data folder, which is started where none
/// listens: after a crash of the enclave the next connection brings a new one.
package struct EnclaveLauncher: EnclaveConnector {
    /// Losing a race against another starter is no failure; losing it so often is.
    private static let mostAttempts = 64

    private let executable: String
    private let dataDirectory: String
    private let runDirectory: String
    private let expected: ExpectedStore
    private let clock: any KeychainClock

    /// - Parameters:
    ///   - executable: absolute path of `latchkey-enclave`.
    ///   - dataDirectory: absolute path of the data folder; the enclave's own is
    ///     `enclave` in it.
    ///   - runDirectory: absolute path of the folder in which a new enclave
    ///     listens. One that runs already may listen in another.
    ///   - expected: which store; a new one is made only where there is no database.
    package init(
        executable: String, dataDirectory: String, runDirectory: String, expecting expected: ExpectedStore,
        clock: any KeychainClock
    ) {
        self.executable = executable
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
        self.expected = expected
        self.clock = clock
    }

    /// - Throws: `errSecNotAvailable` within 5 s for the start and 5 s for the
    ///   connection: `enclaveUnreachable`, or what kept the enclave from starting
    ///   or from opening the keybag.
    package func connect() throws(KeychainError) -> any EnclaveConnection { try running().connect() }

    /// The enclave that listens, started where none did.
    package func running() throws(KeychainError) -> RemoteEnclave {
        let deadline = Deadline(after: EnclaveProtocol.exchangeLimit, on: clock)
        for _ in 0..<Self.mostAttempts where !deadline.hasPassed {
            if let found = listening() { return found }
            try launch(until: deadline)
        }
        throw .enclaveUnreachable("another enclave has the folder and does not listen")
    }

    private func listening() -> RemoteEnclave? {
        let elsewhere = EnclaveRendezvous.last(inData: dataDirectory)?.runDirectory
        for folder in [runDirectory, elsewhere].compactMap({ $0 }) {
            let enclave = RemoteEnclave(
                runDirectory: folder, expecting: expected, userID: ProcessEnvironment.effectiveUserID, clock: clock)
            if enclave.isListening { return enclave }
        }
        return nil
    }

    /// Starts the program and hears its word. Returns also where another has the
    /// folder: that one may be about to listen.
    private func launch(until deadline: Deadline) throws(KeychainError) {
        let word: ReadyWord?
        do throws(SystemCallError) {
            word = try ReadyWord.hear(on: try startProcess(), until: deadline)
        } catch {
            throw .enclaveUnreachable(error.description)
        }
        switch word {
        case .listening: return
        case .failed(let error): guard error.reason == .storeInUse else { throw error }
        case nil: throw .enclaveUnreachable("\(executable) ended or said nothing")
        }
    }

    /// Our end of the socket pair; the other end is the new process's alone.
    private func startProcess() throws(SystemCallError) -> PacketSocket {
        let (ours, theirs) = try PacketSocket.pair()
        let arguments = ["--data", dataDirectory, "--run", runDirectory, "--ready-descriptor", "3"]
        try DaemonStarter.start(executable, arguments: arguments, environment: [], keeping: theirs.descriptor)
        return ours
    }
}
