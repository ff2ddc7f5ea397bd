internal import Enclave
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// `latchkeyd --stop`: ends the daemon and the enclave of a store, and with them every
/// key that they hold.
package struct StopProcess {
    private let configuration: DaemonConfiguration

    package init(_ configuration: DaemonConfiguration) { self.configuration = configuration }

    /// Returns once neither runs; does nothing where there is no store.
    ///
    /// One that does not leave when it is asked is killed.
    ///
    /// - Throws: `errSecNotAvailable`: `storeInUse` where one stays all the same (of another
    ///   container, say), `folderUnusable`.
    package func run() throws(KeychainError) {
        let data: PrivateDirectory
        do throws(DirectoryRefusal) {
            data = try PrivateDirectory(configuration.locations.dataDirectory, creating: false)
        } catch {
            if case .system(_, let below) = error, below.isNoSuchFile { return }
            throw KeychainError(folder: error)
        }
        // Nobody starts them anew before they have ended.
        let taken = try TakenStore(data, from: configuration, killing: true)
        defer { taken.release() }
        try taken.waitForHolders(until: Deadline(after: configuration.limits.patience, on: configuration.clock))
    }
}
