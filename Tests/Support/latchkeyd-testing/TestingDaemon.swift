internal import Conformance
internal import Enclave
internal import Foundation
internal import KeychainDaemon
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import KeychainTesting
internal import Logging
internal import PeerIdentity
internal import Synchronization

/// The real daemon over the real engine and a separate enclave, with the tests'
/// word on who calls.
final class TestingDaemon: Sendable {
    private let configuration: DaemonConfiguration
    private let engine: KeychainEngine
    private let daemon: Daemon
    private let terminated: EventSignal
    private let rights: Rights
    private let person: ScriptedPerson

    /// Whose rights every client has at the moment.
    final class Rights: Sendable {
        private let current = Mutex(Entitlements())

        func become(_ entitlements: Entitlements) { current.withLock { $0 = entitlements } }
        var entitlements: Entitlements { current.withLock { $0 } }
    }

    init(dataDirectory: String, runDirectory: String) throws {
        let rights = Rights()
        self.rights = rights
        var configuration = DaemonConfiguration(
            locations: KeychainLocations(dataDirectory: dataDirectory, runDirectory: runDirectory),
            features: try KernelFeatures.probed(), clock: SystemClock(),
            programDirectories: [ProcessEnvironment.executableDirectory ?? "/"])
        let person = ScriptedPerson(runDirectory: runDirectory)
        self.person = person
        configuration.asker = person
        configuration.rights = .decided { _ in rights.entitlements }
        self.configuration = configuration
        engine = try Self.openEngine(configuration)
        daemon = try Daemon(configuration, engine: engine, logger: Self.logger(dataDirectory))
        terminated = try EventSignal()
    }

    private static func openEngine(_ configuration: DaemonConfiguration) throws -> KeychainEngine {
        try KeychainEngine.open(
            dataDirectory: configuration.locations.dataDirectory, clock: configuration.clock
        ) { expected throws(KeychainError) in
            EnclaveLauncher(
                executable: configuration.programDirectories[0] + "/latchkey-enclave",
                dataDirectory: configuration.locations.dataDirectory,
                runDirectory: configuration.locations.runDirectory, expecting: expected, clock: configuration.clock)
        }
    }

    private static func logger(_ folder: String) throws -> Logger {
        let sink = LogSink(in: try PrivateDirectory(folder, creating: true))
        return Logger(label: "latchkeyd-testing") { _ in DaemonLog(sink) }
    }

    /// Serves until the end of standard input.
    func run() throws {
        print(DaemonCommand.ready)
        fflush(nil)
        let commands = Thread { [self] in
            obey()
            terminated.signal()
        }
        commands.start()
        daemon.run(until: terminated)
        try engine.close()
        try RemoteEnclave(
            runDirectory: configuration.locations.runDirectory, expecting: .anyOrNew,
            userID: ProcessEnvironment.effectiveUserID, clock: configuration.clock
        ).askToLeave()
    }

    // MARK: Commands

    private func obey() {
        while let line = readLine() {
            do {
                try obey(DaemonCommand(line: line))
                print(DaemonCommand.ready)
            } catch {
                print("\(error)")
            }
            fflush(nil)
        }
    }

    private func obey(_ command: DaemonCommand) throws {
        switch command {
        case .become(let context): rights.become(context.entitlements.entitlements)
        case .answer(let answer): person.answer(answer)
        case .passcode(let passcode): person.remember(passcode: passcode)
        case .corruptItems(let references):
            try StoreSabotage(engine).insecureCorruptItems(references.map { try Data(hexadecimal: $0) })
        case .corruptMetadataKey(let tag):
            guard let protectionClass = ProtectionClass(rawValue: tag) else { throw CorpusError("no class \(tag)") }
            try StoreSabotage(engine).insecureCorruptMetadataKey(of: protectionClass)
        }
    }
}
