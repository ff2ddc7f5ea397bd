internal import Enclave
package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
package import KeychainService
internal import KeychainStore

/// `latchkeyd --restore`: takes a store from its daemon, puts a backup in its
/// place and leaves; the next call of any program starts a daemon on it.
package struct RestoreProcess {
    private let configuration: DaemonConfiguration

    package init(_ configuration: DaemonConfiguration) { self.configuration = configuration }

    /// Why nothing was restored.
    package enum Failure: Error {
        /// A store with items is there, and nobody said that it may go.
        case wouldReplaceItems
        /// The file that was named is no backup, or not whole; nothing else was looked at.
        case backup(KeychainError)
        /// The file is a whole backup, and what it holds does not open.
        case contents(KeychainError)
        case keychain(KeychainError)
    }

    /// - Parameter recoveryCode: as it was typed, for a backup that nothing else opens.
    package func run(
        from backup: String, replacing: Bool, recoveryCode: SharedSecret?
    ) throws(Failure) -> Restoration.Outcome {
        let data: PrivateDirectory
        do throws(DirectoryRefusal) {
            data = try PrivateDirectory(configuration.locations.dataDirectory, creating: true)
        } catch {
            throw .keychain(KeychainError(folder: error))
        }
        do throws(KeychainError) { try Restoration.check(backup) } catch { throw .backup(error) }
        try refuseItems(in: data, replacing)
        let taken = try keychain { () throws(KeychainError) in try TakenStore(data, from: configuration) }
        // Something may have been stored until the daemon left.
        try refuseItems(in: data, replacing)
        let hardware = HardwareHelper.installed(in: ProcessEnvironment.executableDirectory, clock: configuration.clock)
        let restoration = Restoration(
            into: data, clock: configuration.clock, hardware: hardware, recoveryCode: recoveryCode)
        let staged: Restoration.Staged
        do throws(KeychainError) { staged = try restoration.stage(backup) } catch { throw Self.failure(of: error) }
        let outcome = try keychain { () throws(KeychainError) in try restoration.changeOver(to: staged) }
        taken.release()
        return outcome
    }

    /// What is wrong with what was laid out beside the keychain is the backup's, not the keychain's.
    private static func failure(of error: KeychainError) -> Failure {
        switch error.reason {
        case .storeMalformed, .storeMismatch, .storeUnreadable, .keybagUnreadable, .storeNewer: .contents(error)
        default: .keychain(error)
        }
    }

    private func keychain<R>(_ body: () throws(KeychainError) -> R) throws(Failure) -> R {
        do throws(KeychainError) { return try body() } catch { throw .keychain(error) }
    }

    private func refuseItems(in data: PrivateDirectory, _ replacing: Bool) throws(Failure) {
        if replacing { return }
        let holdsItems = try keychain { () throws(KeychainError) in try Restoration.wouldReplaceItems(in: data) }
        if holdsItems { throw .wouldReplaceItems }
    }
}
