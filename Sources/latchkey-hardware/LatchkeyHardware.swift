internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import SecurityHardware

/// The enclave's hands: the one process that talks to security hardware.
@main
struct LatchkeyHardware: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-hardware",
        abstract: "Talks to a TPM or a security key on behalf of the enclave; started by latchkey-enclave.",
        discussion: "It serves whoever holds the other end of descriptor 3, and ends with it.",
        version: LatchkeyVersion.text)

    func run() throws {
        do {
            try Hardening.apply()
            Hardening.ignoreBrokenPipes()
            // Before a device's library is loaded.
            _ = Confinement.ofHardware.enter(.all)
            try HardwareHands.inherited().serve()
        } catch {
            StandardError.write("latchkey-hardware: \(error)\n")
            throw ExitCode.failure
        }
    }
}
