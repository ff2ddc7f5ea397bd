internal import ArgumentParser
internal import Enclave
internal import KeychainModel
internal import KeychainPlatform

/// The enclave: the one process that has the keys of a keychain.
@main
struct LatchkeyEnclave: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-enclave",
        abstract: "Holds the keys of a Latchkey keychain; started by latchkeyd.",
        discussion: """
            It keeps its keybag in DATA/enclave, listens on RUN/enclave.sock for one daemon of the same user, \
            and ends when no daemon has been connected for a while.
            """,
        version: LatchkeyVersion.text)

    @Option(name: .customLong("data"), help: ArgumentHelp("The keychain's data folder.", valueName: "DATA"))
    var dataDirectory: String

    @Option(name: .customLong("run"), help: ArgumentHelp("The folder for the socket.", valueName: "RUN"))
    var runDirectory: String

    @Option(help: ArgumentHelp("Minutes without a daemon after which it ends.", valueName: "MINUTES"))
    var idleMinutes: UInt16 = 10

    @Option(help: .hidden)
    var readyDescriptor: Int32?

    func validate() throws {
        guard dataDirectory.hasPrefix("/"), runDirectory.hasPrefix("/") else {
            throw ValidationError("--data and --run are absolute paths")
        }
        guard readyDescriptor.map({ $0 > 2 }) ?? true else {
            throw ValidationError("--ready-descriptor is none of the standard descriptors")
        }
    }

    static func main() { main(ProgramArguments.given(to: "latchkey-enclave")) }

    func run() throws {
        ProgramMemory.openPageMap()
        var limits = EnclaveServer.Limits()
        limits.idle = .seconds(60 * Int(idleMinutes))
        let process = EnclaveProcess(
            dataDirectory: dataDirectory, runDirectory: runDirectory, clock: SystemClock(), limits: limits,
            helper: ProcessEnvironment.executableDirectory.map { "\($0)/\(HardwareHelper.programName)" },
            // Without a variable that would name another bus.
            bus: ProcessEnvironment.executableDirectory.map {
                ProgramSpawner.Program("\($0)/\(BusProgram.programName)", as: .peer, environment: [])
            },
            ready: readyDescriptor.map { ReadySignal(descriptor: Descriptor(owning: $0)) })
        do throws(KeychainError) {
            try process.run()
        } catch {
            StandardError.write("latchkey-enclave: \(error)\n")
            throw ExitCode.failure
        }
    }
}
