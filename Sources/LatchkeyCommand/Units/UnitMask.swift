internal import KeychainPlatform

/// Keeps systemd from starting another provider's unit: a link of the unit's name to
/// /dev/null (systemd.unit(5), "masked"), and beside it a file that says whose it is, since
/// a person's own link looks the same.
struct UnitMask: Sendable, Hashable {
    /// In Debian's package, and gnome-keyring's own: started at a login, with the control
    /// socket, the service takes org.freedesktop.secrets before anybody asks for it, and
    /// whoever listens at the control socket stops for it.
    static let ofGnomeKeyring = ["gnome-keyring-daemon.service", SecretServiceUnits.gnomeSocket]

    let name: String
    let folder: String

    var path: String { "\(folder)/\(name)" }

    /// systemd takes no file with such an end for a unit.
    private var record: OwnFile {
        OwnFile(
            "\(path).masked-by-latchkey",
            "\(SecretServiceUnits.mark), as is the link to /dev/null beside it; `latchkey secret-service disable` "
                + "removes both.\n", marked: SecretServiceUnits.mark)
    }

    enum State: Sendable, Hashable {
        case absent
        /// Whether `enable` did it.
        case masked(byUs: Bool)
        /// A unit of the person's own, which has the place of the other provider's.
        case taken
    }

    func state() throws(CommandFailure) -> State {
        let finding: FileLink.Finding
        do throws(SystemCallError) { finding = try FileLink.look(at: FilePath(path)) } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be read (\(error))",
                "Check its mode and its folders.")
        }
        switch finding {
        case .nothing: return .absent
        case .link(let target) where target == FilePath("/dev/null"):
            return .masked(byUs: try OwnFile.isOurs(record.path, marked: SecretServiceUnits.mark) == true)
        case .link, .somethingElse: return .taken
        }
    }

    /// Where nothing is there. The record first: a link without one would be a person's.
    ///
    /// - Returns: whether it was done now; another `enable` may have been quicker.
    func set() throws(CommandFailure) -> Bool {
        try record.write()
        do throws(SystemCallError) {
            try FileLink.make(path, to: "/dev/null")
            return true
        } catch {
            if error.isAlreadyThere, try state() == .masked(byUs: true) { return false }
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be made (\(error))",
                "Check the folder and try again.")
        }
    }

    /// - Returns: whether there was a link of ours.
    func remove() throws(CommandFailure) -> Bool {
        let isOurs = try state() == .masked(byUs: true)
        let hasRecord = try OwnFile.isOurs(record.path, marked: SecretServiceUnits.mark) == true
        do throws(SystemCallError) {
            if isOurs { _ = try FileRemoval.remove(FilePath(path)) }
            if hasRecord { _ = try FileRemoval.remove(FilePath(record.path)) }
        } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be removed (\(error))",
                "Check its folder and try again.")
        }
        return isOurs
    }
}
