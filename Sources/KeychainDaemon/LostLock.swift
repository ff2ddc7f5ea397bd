internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The store's lock where its file was removed under a daemon, which puts it back within a
/// second or two. Taken from it meanwhile it would keep both from the store, and who ends the
/// store's programs would find none.
enum LostLock {
    /// How often it is looked for.
    private static let pause: Duration = .milliseconds(50)

    /// Waits until the file is there, nobody listens for the store, or the deadline passes.
    ///
    /// - Throws: `folderUnusable`.
    static func wait(
        in data: PrivateDirectory, for configuration: DaemonConfiguration, until deadline: Deadline
    ) throws(KeychainError) {
        // A service manager listens always.
        guard configuration.activation == nil else { return }
        let places = [configuration.locations.runDirectory, data.path + "/run"]
        do throws(SystemCallError) {
            let never = try EventSignal()
            while try data.holds(KeychainLocations.databaseName), try !data.holds(Rendezvous.lockFile),
                !deadline.hasPassed, places.contains(where: { Doorway.isAnswered(in: $0) })
            {
                let soon = Deadline(after: min(pause, deadline.remaining), on: SystemClock())
                _ = try waitForAny(of: [never.descriptor], until: soon)
            }
        } catch {
            throw KeychainError(.notAvailable, reason: .folderUnusable(why: "\(data.path): \(error)"))
        }
    }
}
