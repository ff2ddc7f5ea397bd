internal import KeychainPlatform

/// Keeps systemd from starting another provider's unit: a link of the unit's name to
/// /dev/null (systemd.unit(5), "masked"), and beside it a file that says whose it is, since
/// a person's own link looks the same; and when ours was made, since a person may have taken
/// it away and made one in its place.
struct UnitMask: Sendable, Hashable {
    /// In Debian's package, and gnome-keyring's own: started at a login, with the control
    /// socket, the service takes org.freedesktop.secrets before anybody asks for it, and
    /// whoever listens at the control socket stops for it.
    static let ofGnomeKeyring = ["gnome-keyring-daemon.service", SecretServiceUnits.gnomeSocket]

    let name: String
    let folder: String

    var path: String { "\(folder)/\(name)" }

    /// systemd takes no file with such an end for a unit.
    private var recordPath: String { "\(path).masked-by-latchkey" }

    /// - Parameter made: when the link was made, in nanoseconds since 1970; nil: it is about to be.
    private func record(ofLink made: Int64?) -> OwnFile {
        OwnFile(
            recordPath,
            "\(SecretServiceUnits.mark), as is the link to /dev/null beside it; `latchkey secret-service disable` "
                + "removes both.\n" + (made.map { "\(Self.madeAt)\($0)\n" } ?? ""), marked: SecretServiceUnits.mark)
    }

    private static let madeAt = "# The link was made at (nanoseconds since 1970): "

    /// Whether the link to /dev/null that is there is the one that was recorded. Of a record
    /// without a time it is: one of an earlier version, or `enable` was just about to write it.
    private func isRecorded() throws(CommandFailure) -> Bool {
        guard let text = try OwnFile.content(recordPath) ?? nil, text.hasPrefix(SecretServiceUnits.mark) else {
            return false
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix(Self.madeAt) }
        guard let line, let made = Int64(line.dropFirst(Self.madeAt.count)) else { return true }
        guard let present = try linkTime() else { return false }
        // What copied the folder may have kept whole seconds alone.
        let second: Int64 = 1_000_000_000
        return present == made || present % second == 0 && present / second == made / second
    }

    /// Whether a file of ours says that it was made by us.
    func isRemembered() throws(CommandFailure) -> Bool {
        try OwnFile.isOurs(recordPath, marked: SecretServiceUnits.mark) == true
    }

    private func linkTime() throws(CommandFailure) -> Int64? {
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(path), followingLink: false).modifiedNanoseconds
        } catch {
            if error.isNoSuchFile { return nil }
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be read (\(error))",
                "Check its mode and its folders.")
        }
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
            return .masked(byUs: try isRecorded())
        case .link, .somethingElse: return .taken
        }
    }

    /// Where nothing is there. The record first: a link without one would be a person's.
    ///
    /// - Returns: whether it was done now; another `enable` may have been quicker.
    func set() throws(CommandFailure) -> Bool {
        try record(ofLink: nil).write()
        do throws(SystemCallError) { try FileLink.make(path, to: "/dev/null") } catch {
            if error.isAlreadyThere, try state() == .masked(byUs: true) { return false }
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be made (\(error))",
                "Check the folder and try again.")
        }
        do throws(CommandFailure) { try record(ofLink: try linkTime()).write() } catch {
            // Whoever takes back what was done does not know of this one yet.
            _ = try remove()
            throw error
        }
        return true
    }

    /// - Returns: whether there was a link of ours.
    func remove() throws(CommandFailure) -> Bool {
        let isOurs = try state() == .masked(byUs: true)
        let hasRecord = try isRemembered()
        do throws(SystemCallError) {
            if isOurs { _ = try FileRemoval.remove(FilePath(path)) }
            if hasRecord { _ = try FileRemoval.remove(FilePath(recordPath)) }
        } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be removed (\(error))",
                "Check its folder and try again.")
        }
        return isOurs
    }
}
