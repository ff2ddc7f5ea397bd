import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainStore
import Testing

/// A keychain whose class keys become others again and again, by the programs that
/// are shipped. Its rows are looked at from outside, in the database.
final class RenewalHome {
    static let passcode = SharedSecret.text("a passcode")
    /// Those whose keys a person's passcode protects, and get new generations.
    static let classes: [ProtectionClass] = [
        .whenUnlocked, .whenUnlockedThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
    ]

    let home: FaultHome
    private let store: Store
    private(set) var hasPasscode = false
    /// The newest generation of the keys of ``classes``.
    private(set) var generation: UInt32 = 1

    init(_ purpose: String) throws {
        home = try FaultHome(purpose)
        // The daemon makes the database first.
        _ = try home.serving()
        store = try Store(in: PrivateDirectory(home.data, creating: false))
    }

    deinit { try? store.close() }

    // MARK: A person

    func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(
            runDirectory: home.locations.runDirectory, process: try home.serving().enclave, clock: SystemClock())
    }

    /// Gives the classes a new generation of keys: by a first passcode, or by the
    /// removal of the one that is set.
    ///
    /// - Parameter door: nil: that of the enclave that a daemon serves with.
    func renewKeys(at door: RemotePersonDoor? = nil) throws {
        let door = try door ?? self.door()
        if hasPasscode {
            try door.removePasscode(with: .passcode(Self.passcode))
        } else {
            try door.setPasscode(Self.passcode)
        }
        hasPasscode.toggle()
        generation += 1
    }

    /// A passcode in place of the other: the class keys stay.
    func changePasscode() throws {
        try door().changePasscode(from: Self.passcode, to: Self.passcode)
    }

    /// A new generation beside the same passcode: a recovery code is made, and taken away.
    func renewKeysByCode() throws {
        let door = try door()
        try door.confirmRecoveryCode(try door.makeRecoveryCode(passcode: Self.passcode))
        try door.removeRecoveryCode(passcode: Self.passcode)
        generation += 1
    }

    /// Daemon and enclave serve, and everything is open.
    func open() throws {
        let door = try door()
        if hasPasscode { try door.unlock(with: .passcode(Self.passcode)) }
    }

    // MARK: The rows

    /// Whether anything is under older keys than the newest of its class.
    func hasOldRows() throws -> Bool {
        try store.read { [generation] reader throws(KeychainError) in
            for named in Self.classes where try reader.holdsRows(in: named, below: generation) { return true }
            return false
        }
    }

    /// Whether a metadata key of an older generation is kept.
    func hasOldKeys() throws -> Bool {
        try store.read { [generation] reader throws(KeychainError) in
            for named in Self.classes {
                for record in try reader.metadataKeys(of: named) where record.generation < generation { return true }
            }
            return false
        }
    }

    func waitUntilRenewed(_ note: String = "", _ location: SourceLocation = #_sourceLocation) throws {
        let isDone = try eventually(within: 60) { try !hasOldRows() }
        #expect(isDone, "rows stay under old keys \(note)", sourceLocation: location)
    }
}
