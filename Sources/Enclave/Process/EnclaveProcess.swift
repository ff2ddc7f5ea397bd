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
    private let bus: ProgramSpawner.Program?

    /// - Parameters:
    ///   - dataDirectory: absolute path; the enclave's own folder is `enclave` in it.
    ///   - runDirectory: absolute path of the folder of the socket.
    ///   - cost: of an attempt at a passcode that is set here.
    ///   - features: what it may be confined with.
    ///   - helper: absolute path of `latchkey-hardware`; nil: there is no hardware.
    ///   - bus: `latchkey-bus`, as a peer; nil: there is no system bus.
    ///   - ready: told once that the enclave listens, or why it does not.
    package init(
        dataDirectory: String, runDirectory: String, clock: any KeychainClock, limits: EnclaveServer.Limits,
        cost: PasscodeCost = .calibrated(by: AvailableMemory()), features: ConfinementFeatures = .all,
        helper: String?, bus: ProgramSpawner.Program?, ready: ReadySignal?
    ) {
        self.helper = helper
        self.bus = bus
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
            let hands = try hands()
            let directory = try EnclaveDirectory(inData: dataDirectory)
            let spare = dataDirectory + "/run"
            let socket = try EnclaveSocket(inRun: runDirectory, spare: spare == runDirectory ? nil : spare)
            let process = ProcessEnvironment.processID
            try directory.announce(EnclaveRendezvous(processID: process, runDirectory: runDirectory))
            let keeper = EnclaveKeeper(
                directory, clock: clock, cost: cost, hardware: hands.hardware,
                reader: ReaderView(isThere: hands.bus != nil))
            let server = try server(socket, keeper, hands)
            keeper.confined = Confinement.ofEnclave([directory.reach] + socket.reach).enter(features)
            ready?.say(.listening(process: process))
            ProgramMemory.letGoOfCode()
            _ = try server.serve()
            try server.socket.remove()
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

    /// The programs that do for the enclave what it may not.
    private struct Hands {
        var hardware: any HardwareDoor = NoHardware()
        var bus: (any SystemBusDoor)?
        /// Readable once neither can be started any more.
        var spawnerEnd: Descriptor?
    }

    /// Forks what starts them, while there is one thread and no secret; where none is
    /// installed there is nothing to start.
    private func hands() throws(KeybagError) -> Hands {
        var hands = Hands()
        let hardware = helper.map { ProgramSpawner.Program($0, as: .peer, environment: []) }
        let programs = [hardware, bus].compactMap { $0 }.filter { TrustedPath.isExecutableOfOurs($0.path) }
        guard !programs.isEmpty else { return hands }
        ProgramMemory.letGoOfCode()
        ProgramMemory.letGoOfUnwrittenData()
        let spawner: ProgramSpawner
        do throws(SystemCallError) { spawner = try ProgramSpawner(for: programs) } catch { throw .system(error) }
        hands.spawnerEnd = spawner.end
        if let hardware, programs.contains(hardware) {
            hands.hardware = HardwareHelper(clock: clock, at: hardware.path, by: spawner)
        }
        if let bus, programs.contains(bus) { hands.bus = BusProgram(at: bus.path, by: spawner) }
        return hands
    }

    private func server(
        _ socket: EnclaveSocket, _ keeper: EnclaveKeeper, _ hands: Hands
    ) throws(KeybagError) -> EnclaveServer {
        do throws(SystemCallError) {
            let stop = try EventSignal()
            try TerminationSignals.notify(stop)
            return try EnclaveServer(
                socket, keeper, bus: hands.bus ?? NoSystemBus(), spawnerEnd: hands.spawnerEnd,
                userID: ProcessEnvironment.effectiveUserID, clock: clock, limits: limits, stop: stop)
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
