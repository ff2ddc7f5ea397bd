package import KeychainModel
package import KeychainPlatform
internal import FoundationEssentials
internal import KeychainMessages

/// What the program `latchkey-enclave` is: hardened, alone on its folder,
/// listening in the run folder until nobody needs it.
package struct EnclaveProcess {
    private let dataDirectory: String
    private let runDirectory: String
    private let clock: any KeychainClock
    private let limits: EnclaveServer.Limits
    private let ready: ReadySignal?

    /// - Parameter ready: told once that the enclave listens, or why it does not.
    package init(
        dataDirectory: String, runDirectory: String, clock: any KeychainClock, limits: EnclaveServer.Limits,
        ready: ReadySignal?
    ) {
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
        self.clock = clock
        self.limits = limits
        self.ready = ready
    }

    /// Serves until idle or told to leave; reads no key before it is hardened.
    ///
    /// - Throws: `errSecNotAvailable`: `storeInUse` where another enclave has one
    ///   of the folders, else what the system refused.
    package consuming func run() throws(KeychainError) {
        do throws(KeybagError) {
            let (server, socket) = try start()
            ready?.listening()
            try serve(server, socket)
        } catch {
            ready?.failed(error.asKeychainError)
            throw error.asKeychainError
        }
    }

    private func start() throws(KeybagError) -> (EnclaveServer, EnclaveSocket) {
        do throws(SystemCallError) {
            try Hardening.apply()
        } catch {
            throw .system(error)
        }
        Hardening.ignoreBrokenPipes()
        let directory = try EnclaveDirectory(inData: dataDirectory)
        let socket = try EnclaveSocket(inRun: runDirectory)
        do throws(SystemCallError) {
            let server = try EnclaveServer(
                socket.listener, EnclaveKeeper(directory), userID: ProcessEnvironment.effectiveUserID, clock: clock,
                limits: limits, socketIsThere: { socket.isThere })
            return (server, socket)
        } catch {
            throw .system(error)
        }
    }

    private func serve(_ server: EnclaveServer, _ socket: EnclaveSocket) throws(KeybagError) {
        do throws(SystemCallError) {
            _ = try server.run()
            try socket.remove()
        } catch {
            throw .system(error)
        }
    }
}
