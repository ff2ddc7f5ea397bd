internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import MessageBus
internal import SecretService

/// `org.freedesktop.secrets` on the session bus.
@main
struct LatchkeySecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-secret-service",
        abstract: "Serves the keychain as org.freedesktop.secrets; started by the session bus.",
        discussion: """
            It takes the name once the keychain answers, and leaves when the bus ends its connection.
            """,
        version: LatchkeyVersion.text)

    @Flag(help: "Take the name from a service that allows it.")
    var replace = false

    func run() throws {
        do {
            // Dumpable it stays: the daemon has to see who calls, also after it was started anew.
            Hardening.forbidCoreDumps()
            Hardening.ignoreBrokenPipes()
            let keychain = DaemonConnectionPool(.user(lookingBesideThisProgram: true))
            let bus = try SessionBus.user()
            let door = SecretServiceDoor(keychain, on: bus)
            try door.open()
            guard try bus.request(SecretServiceNames.bus, replacing: replace) else {
                StandardError.write("latchkey-secret-service: another program is org.freedesktop.secrets here\n")
                throw ExitCode(69)
            }
            try withExtendedLifetime(door) { try bus.run() }
        } catch let error as ExitCode {
            throw error
        } catch {
            StandardError.write("latchkey-secret-service: \(error)\n")
            throw ExitCode.failure
        }
    }
}
