package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Connections to the enclave of a data folder, which is started where none
/// listens: after a crash of the enclave the next connection brings a new one.
package final class EnclaveLauncher: EnclaveConnector {
    /// Losing a race against another starter is no failure; losing it so often is.
    private static let mostAttempts = 64
    /// Between attempts while another process is in the way.
    private static let pause: Duration = .milliseconds(50)

    private let executable: String
    private let dataDirectory: String
    private let runDirectory: String
    /// Once a connection was made, all others are to the same store: a keybag that
    /// was lost in the meantime is never made anew.
    private let expected: Mutex<ExpectedStore>
    /// The data folder, once a connection was made.
    private let folder = Mutex<PrivateDirectory?>(nil)
    private let clock: any KeychainClock
    /// Starts it for us; nil: we do.
    private let spawner: ProgramSpawner?

    /// - Parameters:
    ///   - executable: absolute path of `latchkey-enclave`.
    ///   - dataDirectory: absolute path of the data folder; the enclave's own is
    ///     `enclave` in it.
    ///   - runDirectory: absolute path of the folder in which a new enclave
    ///     listens. One that runs already may listen in another.
    ///   - spawner: of a process that may not start programs itself.
    ///   - expected: which store; a new one is made only where there is no database.
    package init(
        executable: String, dataDirectory: String, runDirectory: String, expecting expected: ExpectedStore,
        clock: any KeychainClock, by spawner: ProgramSpawner? = nil
    ) {
        self.spawner = spawner
        self.executable = executable
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
        self.expected = Mutex(expected)
        self.clock = clock
    }

    /// - Throws: `errSecNotAvailable` within 4 s for the start and 4 s for the
    ///   answer: `enclaveUnreachable`, or what kept the enclave from starting or
    ///   from opening the keybag.
    package func connect() throws(KeychainError) -> any EnclaveConnection {
        let deadline = Deadline(after: EnclaveProtocol.exchangeLimit, on: clock)
        var obstacle = KeychainError.enclaveUnreachable("there was no time to start it")
        for _ in 0..<Self.mostAttempts where !deadline.hasPassed {
            switch try attempt(until: deadline) {
            case .connected(let connection): return connection
            case .started: continue
            case .inTheWay(let error): obstacle = error
            }
            // An enclave that is ending, that is about to listen or that serves
            // another daemon: all of it changes soon or not at all.
            waitForLast(until: deadline)
        }
        throw obstacle
    }

    private enum Attempt {
        case connected(any EnclaveConnection)
        case started
        /// Another enclave keeps us from both.
        case inTheWay(KeychainError)
    }

    private func attempt(until deadline: Deadline) throws(KeychainError) -> Attempt {
        guard let found = listening() else {
            try refuseWhereFolderWent()
            return try launch(until: deadline)
        }
        do throws(KeychainError) {
            let connection = try found.connect()
            expected.withLock { $0 = .named(connection.storeID) }
            keepFolder()
            return .connected(connection)
        } catch {
            // One of an earlier version that an update left running: it serves
            // nobody, and goes when asked.
            if error.reason == .versionMismatch { try found.askToLeave() }
            guard error.reason == .enclaveUnreachable || error.reason == .versionMismatch else { throw error }
            return .inTheWay(error)
        }
    }

    private func keepFolder() {
        folder.withLock { folder in
            guard folder == nil else { return }
            do throws(DirectoryRefusal) { folder = try PrivateDirectory(dataDirectory, creating: false) } catch {
                // Not to be looked at: it is known by its path alone then.
                return
            }
        }
    }

    /// An enclave that is started where nothing lies any more would make the folder anew, in the
    /// way of whoever puts the right one back; what lies there instead is another store's.
    ///
    /// - Throws: `errSecNotAvailable`, reason `folderMoved` or `keysAway`.
    private func refuseWhereFolderWent() throws(KeychainError) {
        guard let folder = folder.withLock({ $0 }), !folder.isInPlace else { return }
        if let place = folder.movedTo { throw KeychainError(.notAvailable, reason: .folderMoved(to: place)) }
        do throws(SystemCallError) { _ = try FileStatus(at: FilePath(dataDirectory), followingLink: true) } catch {
            throw KeychainError(
                .notAvailable, reason: .keysAway,
                underlying: "\(dataDirectory) was moved or removed, and its enclave has ended: put it back")
        }
    }

    /// What the enclave wrote that has the data folder, wherever that was moved to.
    private var rendezvous: EnclaveRendezvous? {
        guard let place = folder.withLock({ $0?.movedTo }) else {
            return EnclaveRendezvous.last(inData: dataDirectory)
        }
        guard let last = EnclaveRendezvous.last(inData: place) else { return nil }
        guard last.runDirectory.hasPrefix(dataDirectory + "/") else { return last }
        return EnclaveRendezvous(
            processID: last.processID, runDirectory: place + last.runDirectory.dropFirst(dataDirectory.count))
    }

    private func waitForLast(until deadline: Deadline) {
        guard let last = rendezvous else { return }
        let soon = Deadline(after: min(Self.pause, deadline.remaining), on: clock)
        do throws(SystemCallError) {
            _ = try ProcessHandle.waitForEnd(of: last.processID, until: soon)
        } catch {
            // Not to be watched: then the next attempt is made at once.
            return
        }
    }

    /// Asks the enclave that listens to end; starts none. It has given its socket
    /// up when this returns.
    ///
    /// - Throws: `errSecNotAvailable`, reason `enclaveUnreachable`, where one
    ///   listens that does not agree: it serves another daemon.
    package func dismiss() throws(KeychainError) { try listening()?.askToLeave() }

    /// The enclave that has our data folder, as the lock file there says. One that
    /// listens in our run folder and has another data folder keeps the keys of
    /// another store: what were sealed under them would be lost with it.
    private func listening() -> RemoteEnclave? {
        guard let last = rendezvous else { return nil }
        let enclave = remote(in: last.runDirectory, process: last.processID)
        return enclave.isListening ? enclave : nil
    }

    private func remote(in folder: String, process: Int32?) -> RemoteEnclave {
        RemoteEnclave(
            runDirectory: folder, expecting: expected.withLock { $0 }, userID: ProcessEnvironment.effectiveUserID,
            process: process, clock: clock)
    }

    /// Where a new enclave listens: our run folder, or the data folder where
    /// another store's enclave has that one.
    private var placeToListen: String {
        remote(in: runDirectory, process: nil).isListening ? dataDirectory + "/run" : runDirectory
    }

    /// Starts the program and hears its word.
    ///
    /// - Throws: what the program said, or `enclaveUnreachable` where it could not
    ///   be started or ended without a word.
    private func launch(until deadline: Deadline) throws(KeychainError) -> Attempt {
        let word: ReadyWord?
        do throws(SystemCallError) {
            word = try ReadyWord.hear(on: try startProcess(), until: deadline)
        } catch {
            throw .enclaveUnreachable("\(executable): \(error)")
        }
        switch word {
        case .listening: return .started
        case .failed(let error) where error.reason == .storeInUse: return .inTheWay(error)
        case .failed(let error): throw error
        case nil: throw .enclaveUnreachable("\(executable) ended or said nothing")
        }
    }

    /// Our end of the socket pair; the other end is the new process's alone.
    private func startProcess() throws(SystemCallError) -> PacketSocket {
        let (ours, theirs) = try PacketSocket.pair()
        let arguments = ["--data", dataDirectory, "--run", placeToListen, "--ready-descriptor", "3"]
        if let spawner {
            try spawner.startDaemon(executable, arguments: arguments, keeping: theirs.descriptor)
            return ours
        }
        try DaemonStarter.start(executable, arguments: arguments, environment: [], keeping: theirs.descriptor)
        return ours
    }
}
