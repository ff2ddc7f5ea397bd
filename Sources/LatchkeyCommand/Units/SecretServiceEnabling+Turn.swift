internal import KeychainPlatform

/// Two at once would take each other's files for somebody else's, and take them back.
extension SecretServiceEnabling {
    static let lockName = ".latchkey-secret-service.lock"
    /// In the folder of systemd's: sessions of two data folders may have one of those, and the
    /// same folder for both.
    static let unitLockName = ".latchkey-secret-service-units.lock"
    /// Of one that goes on: systemd's manager is asked some ten things, and may be silent.
    static let patienceForOthers = Duration.seconds(60)

    /// The right to change what starts the Secret Service of a person's data folder. Whoever
    /// has it lets it go with its process at the latest.
    ///
    /// - Throws: where somebody keeps it.
    func turn() throws(CommandFailure) -> NamedLock { try turn("\(units.dataHome)/\(Self.lockName)") }

    /// The same of systemd's units, which whoever has the first right takes behind it.
    ///
    /// - Parameter folder: theirs.
    func turn(ofUnitsIn folder: String) throws(CommandFailure) -> NamedLock {
        try turn("\(Self.home(of: folder))/\(Self.unitLockName)")
    }

    /// The same for taking away; nil where no lock can be had in that folder, and nothing of ours is
    /// there: nobody changes anything then.
    func turn(emptyingUnitsIn folder: String) throws(CommandFailure) -> NamedLock? {
        let path = "\(Self.home(of: folder))/\(Self.unitLockName)"
        let lock: NamedLock?
        do throws(SystemCallError) { lock = try take(path) } catch {
            guard try hasUnits(in: folder) else { return nil }
            throw Self.unlockable(path, error)
        }
        guard let lock else { throw Self.busy }
        return lock
    }

    /// Whether anything is there that `disable` takes away or brings back.
    private func hasUnits(in folder: String) throws(CommandFailure) -> Bool {
        let (own, links) = (try units.ownUnits(), try units.danglingLinks())
        guard own.isEmpty, links.isEmpty else { return true }
        for mask in units.masks where try mask.isRemembered() { return true }
        let names = [SecretServiceUnits.service, SecretServiceUnits.socket, SecretServiceUnits.alias]
        return names.contains { HostFiles(root: "").has("\(folder)/\($0)\(Self.aside)") }
    }

    /// The person's XDG_CONFIG_HOME, two above.
    static func home(of unitFolder: String) -> String {
        let path = FilePath(unitFolder)
        return path.folder?.folder?.printable ?? unitFolder
    }

    private func turn(_ path: String) throws(CommandFailure) -> NamedLock {
        let lock: NamedLock?
        do throws(SystemCallError) { lock = try take(path) } catch { throw Self.unlockable(path, error) }
        guard let lock else { throw Self.busy }
        return lock
    }

    private func take(_ path: String) throws(SystemCallError) -> NamedLock? {
        try NamedLock.take(FilePath(path), until: Deadline(after: Self.patienceForOthers, on: clock))
    }

    private static func unlockable(_ path: String, _ error: SystemCallError) -> CommandFailure {
        CommandFailure(
            .unavailable, "\(PrintableText.escaped(path)) cannot be locked (\(error))",
            "Check the folder and try again.")
    }

    private static var busy: CommandFailure {
        CommandFailure(
            .unavailable, "another `latchkey secret-service enable` or `disable` goes on; nothing was changed",
            "Wait until it has ended, or end it, and try again.")
    }
}
