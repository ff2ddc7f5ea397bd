package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
package import KeychainService
package import PeerIdentity

/// What a daemon is started with.
package struct DaemonConfiguration: Sendable {
    package var locations: KeychainLocations
    /// A `latchkey temp` keychain: wiped when its parent is gone.
    package var isTemporary = false
    /// Readable at its end once the starter of a temporary keychain is gone.
    package var parent: Descriptor?
    /// The listening socket that a service manager holds and gave to us.
    package var activation: PacketSocket?
    package var rights: ClientRights = .byIdentity
    package var features: KernelFeatures
    package var clock: any KeychainClock
    package var limits = DaemonLimits()
    /// Keeps no audit record, for a measurement of what it costs; no program that is
    /// installed sets it.
    ///
    /// - Warning: nobody learns who read what.
    package var insecureWithoutRecord = false
    /// Brings what a person has to agree to before one.
    package var asker: any PersonAsker = NobodyToAsk()
    /// Starts programs for a daemon that may not do so itself; nil: it may.
    package var spawner: ProgramSpawner?
    /// When it lets go of what it can do without.
    package var rest = ServerRest()
    /// What the daemon gave up; nil within a program that is not ours alone.
    package var confined: Confined?
    /// Where latchkey-enclave is looked for.
    package var programDirectories: [String]

    package init(
        locations: KeychainLocations, features: KernelFeatures, clock: any KeychainClock, programDirectories: [String]
    ) {
        self.locations = locations
        self.features = features
        self.clock = clock
        self.programDirectories = programDirectories
    }
}

extension DaemonConfiguration {
    /// All that its daemon ever starts: the enclave and the prompt, where they are looked
    /// for.
    package var startable: [ProgramSpawner.Program] {
        programDirectories.flatMap { folder in
            [
                ProgramSpawner.Program("\(folder)/\(EnclaveKeeping.program)", as: .daemon, environment: []),
                ProgramSpawner.Program(
                    "\(folder)/\(PromptProgram.name)", as: .child, environment: PromptProgram.environment),
            ]
        }
    }
}

/// How the rights of a client are found.
package enum ClientRights: Sendable {
    /// From who it is: the rungs of its identity.
    case byIdentity
    /// The same for every client (`latchkey temp`).
    case fixed(Entitlements)
    /// Decided anew at each call, by the client's process number; test daemons
    /// only.
    case decided(@Sendable (Int32) -> Entitlements)
}

/// Bounds of one daemon (decisions.md, "Limits").
package struct DaemonLimits: Sendable {
    package var connectionsOfOneProcess = 64
    package var connections = 1024
    /// Bytes of large requests at work at once, counted before they are read.
    package var bytesInFlight = 256 << 20
    package var workers = 8
    /// Requests of one process at work at once.
    package var requestsOfOneProcess = 4
    /// For how long a client is told that its request is still at work.
    package var longestWork: Duration = .seconds(60)
    /// For a hello, for a message that is being sent or received.
    package var patience: Duration = .seconds(5)
    /// Without a connection, while there is no passcode.
    package var idleLife: Duration = .seconds(600)

    package init() {}
}
