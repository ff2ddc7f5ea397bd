package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol

/// What the program `latchkey-enclave` is: hardened, alone on its folder,
/// listening in the run folder until nobody needs it.
package struct EnclaveProcess {
    private let dataDirectory: String
    private let runDirectory: String
    private let clock: any KeychainClock
    private let limits: EnclaveServer.Limits
    private let cost: PasscodeCost
    private let features: ConfinementFeatures
    private let ready: ReadySignal?
    private let helper: String?

    /// - Parameters:
    ///   - dataDirectory: absolute path; the enclave's own folder is `enclave` in it.
    ///   - runDirectory: absolute path of the folder of the socket.
    ///   - cost: of an attempt at a passcode that is set here.
    ///   - features: what it may be confined with.
    ///   - helper: absolute path of `latchkey-hardware`; nil: there is no hardware.
    ///   - ready: told once that the enclave listens, or why it does not.
    package init(
        dataDirectory: String, runDirectory: String, clock: any KeychainClock, limits: EnclaveServer.Limits,
        cost: PasscodeCost = .calibrated(by: AvailableMemory()), features: ConfinementFeatures = .all,
        helper: String?, ready: ReadySignal?
    ) {
        self.helper = helper
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
        self.clock = clock
        self.limits = limits
        self.cost = cost
        self.features = features
        self.ready = ready
    }

    /// Serves until idle, told to leave or asked by SIGTERM; reads no key before
    /// it is hardened and confined. What is opened before that is listed in
    /// ARCHITECTURE.md ("What a process gives up").
    ///
    /// - Throws: `errSecNotAvailable`: `storeInUse` where another enclave has one
    ///   of the folders, else what the system refused.
    package func run() throws(KeychainError) {
        do throws(KeybagError) {
            try Self.harden(features)
            let hardware = try hardware()
            let directory = try EnclaveDirectory(inData: dataDirectory)
            let socket = try EnclaveSocket(inRun: runDirectory)
            let process = ProcessEnvironment.processID
            try directory.announce(EnclaveRendezvous(processID: process, runDirectory: runDirectory))
            let keeper = EnclaveKeeper(directory, clock: clock, cost: cost, hardware: hardware)
            let server = try server(socket, keeper)
            keeper.confined = Confinement.ofEnclave([directory.reach, socket.reach]).enter(features)
            ready?.say(.listening(process: process))
            _ = try server.serve()
            try socket.remove()
        } catch {
            ready?.say(.failed(error.asKeychainError))
            throw error.asKeychainError
        }
    }

    private static func harden(_ features: ConfinementFeatures) throws(KeybagError) {
        do throws(SystemCallError) { try Hardening.apply(features) } catch { throw .system(error) }
        Hardening.ignoreBrokenPipes()
        Hardening.ignoreFileSizeSignal()
    }

    /// Forks what starts the enclave's hands, while there is one thread and no secret;
    /// where the program is not installed there is nothing to start.
    private func hardware() throws(KeybagError) -> any HardwareDoor {
        guard let helper, TrustedPath.isExecutableOfOurs(helper) else { return NoHardware() }
        do throws(SystemCallError) {
            let spawner = try ProgramSpawner(for: [ProgramSpawner.Program(helper, as: .peer, environment: [])])
            return HardwareHelper(clock: clock, at: helper, by: spawner)
        } catch { throw .system(error) }
    }

    private func server(_ socket: EnclaveSocket, _ keeper: EnclaveKeeper) throws(KeybagError) -> EnclaveServer {
        do throws(SystemCallError) {
            let stop = try EventSignal()
            try TerminationSignals.notify(stop)
            return try EnclaveServer(
                socket, keeper, userID: ProcessEnvironment.effectiveUserID, clock: clock, limits: limits, stop: stop)
        } catch {
            throw .system(error)
        }
    }
}

extension EnclaveServer {
    fileprivate func serve() throws(KeybagError) -> Ending {
        do throws(SystemCallError) { return try run() } catch { throw .system(error) }
    }
}
