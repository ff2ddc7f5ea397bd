internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import SystemBus

/// The one process that talks to the system bus.
@main
struct LatchkeyBus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-bus",
        abstract: "Talks to fprintd and logind on behalf of the enclave; started by latchkey-enclave.",
        discussion: "It serves whoever holds the other end of descriptor 3, and ends with it.",
        version: LatchkeyVersion.text)

    /// Root alone may have the names of fprintd and logind.
    private static let system: UInt32 = 0

    func run() throws {
        do {
            try Hardening.apply()
            Hardening.ignoreBrokenPipes()
            let bus = Result { () throws(BusFailure) in try BusConnection.connect(to: BusProtocol.systemBus) }
            // Before anything is read from either socket.
            _ = Confinement.ofBus.enter(.all)
            try BusHands.serve(bus, trusting: Self.system)
        } catch {
            StandardError.write("latchkey-bus: \(error)\n")
            throw ExitCode.failure
        }
    }
}
