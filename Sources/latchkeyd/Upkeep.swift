import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService

/// What `latchkey backup` and `latchkey restore` have this program do: it knows
/// the store and its keybag, the command line does not.
struct Upkeep {
    let configuration: DaemonConfiguration
    let replacing: Bool
    let json: Bool

    private static let warning =
        "Keep it as you would the secrets themselves: without a passcode or a hardware protector, whoever has this file "
        + "can open it."

    func backup(to path: String) -> Int32 {
        let making = BackupMaking(of: configuration.locations.dataDirectory, clock: configuration.clock)
        let leftBehind: Int
        do throws(BackupMaking.Failure) { leftBehind = try making.write(to: path, replacing: replacing) } catch {
            switch error {
            case .isThere:
                return fail(2, "\(Self.shown(path)) is there already", "Name another file, or add --replace.")
            case .lacksItems:
                return fail(
                    5,
                    "items may be missing from the keychain, which \(Self.shown(path)) may still have; it was not "
                        + "replaced",
                    "`latchkey doctor` says what is missing. Write another file, or accept it first: "
                        + "`latchkey doctor --accept-damage`.")
            case .writableByOthers(let folder):
                return fail(
                    2,
                    "others can write the folder \(Self.shown(folder)), and so put another file in the backup's place",
                    "Name a folder of your own, or take that right away: chmod go-w.")
            case .unwritable(let error):
                return fail(
                    2, "\(Self.shown(path)) cannot be written (\(error))",
                    "Name a file in a folder that is there and yours.")
            case .keychain(let error): return fail(error, "Nothing was written to \(Self.shown(path)).")
            }
        }
        return say(
            "Backed up to \(Self.shown(path)). \(Self.warning)\(Self.leavesBehind(leftBehind))",
            "{\"file\":\(JSONText.quoted(path)),\"leftBehind\":\(leftBehind)}")
    }

    /// As on Apple's systems, where such items are in no backup.
    private static func leavesBehind(_ count: Int) -> String {
        guard count > 0 else { return "" }
        return "\n\(count) \(count == 1 ? "item" : "items") of the class when-passcode-set-this-device-only "
            + "\(count == 1 ? "goes" : "go") with the passcode of this keychain: no restore brings them back."
    }

    /// - Parameter takesCode: the first line of standard input is the recovery code.
    func restore(from path: String, takesCode: Bool) -> Int32 {
        // A pipe would be waited for.
        if let trouble = Self.trouble(with: path) {
            return fail(2, "\(Self.shown(path)) \(trouble)", "The keychain is as it was. Name a whole backup.")
        }
        var code: SharedSecret?
        if takesCode {
            do throws(SystemCallError) {
                if let line = try InheritedSecret.readLine(descriptor: 0, atMost: PersonProtocol.longestSecret) {
                    code = SharedSecret(line)
                }
            } catch { return fail(2, "the recovery code cannot be read (\(error))", "The keychain is as it was.") }
            guard code != nil else { return fail(2, "that is no recovery code", "The keychain is as it was.") }
        }
        let outcome: Restoration.Outcome
        do throws(RestoreProcess.Failure) {
            outcome = try RestoreProcess(configuration).run(from: path, replacing: replacing, recoveryCode: code)
        } catch {
            switch error {
            case .wouldReplaceItems:
                return fail(
                    2, "the keychain in \(configuration.locations.dataDirectory) has items",
                    "Add --replace to set it aside, whole, and restore: nothing is deleted.")
            case .backup(let error):
                return fail(
                    2, "\(Self.shown(path)) \(Self.trouble(with: path, error))",
                    "The keychain is as it was. Name a whole backup.")
            case .contents(let error):
                let below = error.underlying.map { " (\($0))" } ?? ""
                return fail(
                    5, "what is in \(Self.shown(path)) does not open: \(error.reason.explanation)\(below)",
                    "The keychain is as it was; the backup is damaged, or bound to what is not here. Name another "
                        + "backup." + (takesCode ? "" : Self.hint(at: error)))
            case .keychain(let error):
                return fail(error, "The keychain is as it was." + (takesCode ? "" : Self.hint(at: error)))
            }
        }
        let counts = outcome.inspection
        let damaged =
            counts.unopened > 0
            ? " \(counts.unopened) of them do not open and are set aside as damaged; `latchkey doctor` tells more."
            : ""
        let mended =
            counts.mended > 0 ? " \(counts.mended) of them could not be found by their attributes, and can again." : ""
        let aside = outcome.aside
        let folder = aside.isEmpty ? "" : "\(configuration.locations.dataDirectory)/\(aside)"
        let status = say(
            "Restored \(counts.rows) rows.\(damaged)\(mended)\(Self.leftBehind(outcome.leftBehind))"
                + (folder.isEmpty ? "" : " What was there before is in \(folder)."),
            "{\"rows\":\(counts.rows),\"unopened\":\(counts.unopened),\"leftBehind\":\(outcome.leftBehind),"
                + "\"replaced\":\(folder.isEmpty ? "null" : JSONText.quoted(folder))}"
        )
        guard status == 0, counts.unopened > 0 else { return status }
        return fail(
            5, "\(counts.unopened) of the rows in \(Self.shown(path)) do not open",
            "All others are restored. Keep the backup, and look for one that is whole.")
    }

    private static func leftBehind(_ count: Int) -> String {
        count > 0 ? " \(count) \(count == 1 ? "item" : "items") went with the passcode that the keychain had." : ""
    }

    func erase() -> Int32 {
        let folder = configuration.locations.dataDirectory
        let left: [String]
        do throws(Erasure.Failure) { left = try Erasure(configuration).run() } catch {
            switch error {
            case .foreign(let names):
                let shown = names.prefix(8).map { "  \($0.debugDescription)" } + (names.count > 8 ? ["  …"] : [])
                return fail(
                    2,
                    ["\(folder) holds what is not the keychain's:"] + shown
                        + ["Nothing was deleted. Move these elsewhere and try again."])
            case .keychain(let error): return fail(error, "The keychain is not deleted, or not all of it.")
            }
        }
        for path in left { StandardError.write("latchkey: deleted, but not overwritten before: \(path)\n") }
        return 0
    }

    func stop() -> Int32 {
        do throws(KeychainError) { try StopProcess(configuration).run() } catch {
            return fail(error, "Not every program of the keychain has ended.")
        }
        return 0
    }

    // MARK: Saying

    /// A path as a terminal may have it: a name from somebody else can hold its commands.
    private static func shown(_ path: String) -> String {
        path.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(Character(scalar))
            }
        }.joined()
    }

    /// What is wrong with a file that was to be a backup.
    private static func trouble(with path: String, _ error: KeychainError) -> String {
        if let trouble = trouble(with: path) { return trouble }
        if case .storeNewer = error.reason { return "was written by a newer version" }
        return "is no backup of Latchkey, or not whole"
    }

    private static func trouble(with path: String) -> String? {
        do throws(SystemCallError) {
            guard try FileStatus(at: FilePath(path), followingLink: true).isRegularFile else { return "is no file" }
            _ = try Descriptor.look(at: FilePath(path), .reading)
            return nil
        } catch { return error.isNoSuchFile ? "is not there" : "cannot be read (\(error))" }
    }

    /// What a person may have who cannot open a backup.
    private static func hint(at error: KeychainError) -> String {
        error.reason == .keybagUnreadable
            ? " Where hardware that it was bound to is gone, add --recovery and give the recovery code." : ""
    }

    private func say(_ text: String, _ object: String) -> Int32 {
        do throws(SystemCallError) {
            try StandardStream.output.write(Array(((json ? object : text) + "\n").utf8))
        } catch { return 69 }
        return 0
    }

    private func fail(_ error: KeychainError, _ fate: String) -> Int32 {
        let below = error.underlying.map { " (\($0))" } ?? ""
        switch error.reason {
        case .authenticationFailed, .malformed:
            return fail(3, "the recovery code does not open the backup", fate + " Check the code and the file.")
        case .storeMalformed:
            return fail(
                5, "the database file is malformed\(below)",
                fate + " `latchkey doctor --verify` looks at all of it, and says what mends it.")
        case .storeMismatch, .keybagUnreadable, .storeUnreadable, .databaseAway, .keysAway, .folderMoved:
            return fail(5, error.reason.explanation + below, fate + " `latchkey doctor` looks at the keychain.")
        case .storeInUse:
            return fail(
                69, error.reason.explanation + below,
                fate + " `latchkey lock --stop` ends the keychain's own programs, also one that is stopped; then try "
                    + "again.")
        default: return fail(69, error.reason.explanation + below, fate + " Mend that and try again.")
        }
    }

    /// The statuses of `latchkey` (its --help).
    private func fail(_ status: Int32, _ lines: String...) -> Int32 { fail(status, lines) }

    private func fail(_ status: Int32, _ lines: [String]) -> Int32 {
        for line in lines { StandardError.write("latchkey: \(line)\n") }
        return status
    }
}
