internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainTesting

/// A daemon of its own with its own enclave, as separate processes; the calls
/// take the way of every program, over the socket.
final class DaemonKeychain: KeychainUnderTest {
    private let folder: TemporaryFolder
    private let programs: String
    private var context: CaseContext
    private var daemon: DaemonProcess
    private var pool: DaemonConnectionPool
    private var passcodeText = "0000"
    private var passcode: SharedSecret { Self.secret(passcodeText) }

    init(_ context: CaseContext, programs: String) throws {
        self.context = context
        self.programs = programs
        folder = try TemporaryFolder()
        daemon = try DaemonProcess(in: folder.path, programs: programs, context)
        pool = Self.connect(folder.path)
    }

    private static func connect(_ folder: String) -> DaemonConnectionPool {
        let locations = KeychainLocations(dataDirectory: folder + "/data", runDirectory: folder + "/run")
        return DaemonConnectionPool(ClientConfiguration(target: .store(locations, autostart: false)))
    }

    var now: Date { Date() }

    func calling<R>(_ body: () throws -> R) throws -> R {
        try CurrentKeychain.$scoped.withValue(pool, operation: body)
    }

    func become(_ context: CaseContext) throws {
        self.context = context
        try daemon.tell(.become(context))
        pool = Self.connect(folder.path)
    }

    func corrupt(_ references: [Data]) throws {
        try daemon.tell(.corruptItems(references.map(\.hex)))
    }

    func corruptMetadataKey(of protection: String) throws {
        try daemon.tell(.corruptMetadataKey(protection))
    }

    func corruptDatabase() throws {
        try StoreSabotage.insecureCorruptDatabase(inDataDirectory: folder.path + "/data")
    }

    func change(_ change: DeviceChange) throws {
        // What a person does, straight to the enclave.
        switch change {
        case .lock:
            // Locked is what comes after a first unlock, also where the device has just started.
            // Where there is no passcode nothing is locked.
            try? door().unlock(with: .passcode(passcode))
            try door().lock()
        case .unlock: try door().unlock(with: .passcode(passcode))
        case .setPasscode:
            try door().setPasscode(passcode)
            try daemon.tell(.passcode(passcodeText))
        case .changePasscode:
            try door().changePasscode(from: passcode, to: Self.secret("another"))
            passcodeText = "another"
            try daemon.tell(.passcode(passcodeText))
        case .removePasscode: try door().removePasscode(with: .passcode(passcode))
        // The enclave goes with the daemon; nothing that a person opened is open then.
        case .restart: restart()
        case .enrolBiometry: throw CorpusError("there is no source of biometry in the shipped enclave")
        case .answer(let result): try daemon.tell(.answer(result))
        }
    }

    private func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: folder.path + "/run", process: nil, clock: SystemClock())
    }

    private static func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }

    /// A store that does not open is for the next call to find.
    func restart() {
        daemon.stop()
        pool = Self.connect(folder.path)
        do { daemon = try DaemonProcess(in: folder.path, programs: programs, context) } catch {}
    }

    func close() {
        daemon.stop()
        folder.remove()
    }
}
