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

    /// The person's XDG_CONFIG_HOME, two above.
    static func home(of unitFolder: String) -> String {
        let path = FilePath(unitFolder)
        return path.folder?.folder?.printable ?? unitFolder
    }

    private func turn(_ path: String) throws(CommandFailure) -> NamedLock {
        let lock: NamedLock?
        do throws(SystemCallError) {
            lock = try NamedLock.take(FilePath(path), until: Deadline(after: Self.patienceForOthers, on: clock))
        } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be locked (\(error))",
                "Check the folder and try again.")
        }
        guard let lock else {
            throw CommandFailure(
                .unavailable, "another `latchkey secret-service enable` or `disable` goes on; nothing was changed",
                "Wait until it has ended, or end it, and try again.")
        }
        return lock
    }
}
