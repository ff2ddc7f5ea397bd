internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Something about this machine that weakens the protection or stands in the way.
struct MachineFinding: Sendable, Hashable {
    enum Mend: Sendable, Hashable {
        /// Nothing that `doctor --fix` may do by itself.
        case byHand
        /// Takes away what the file allows others.
        case closeFile(String)
        case closeFolder(String)
        /// Ends the daemon; the next call starts the one of this version.
        case endDaemon(process: Int32)
    }

    let what: String
    /// What a person types to mend it; nil where there is nothing to mend.
    let command: String?
    let mend: Mend

    var json: JSONValue {
        .object([("what", .string(what)), ("command", JSONValue(command)), ("fixable", .bool(mend != .byHand))])
    }
}

/// Looks at files, kernel and versions around the store.
struct MachineCheck {
    let surroundings: Surroundings
    let dataDirectory: String?

    // MARK: Before the daemon is asked

    /// Files of the store that others could read or write, which the daemon or the
    /// enclave refuse.
    func fileFindings() -> [MachineFinding] {
        guard let folder else { return [] }
        if let foreign = foreignOwner(of: folder) { return [foreign] }
        var findings = exposure(of: folder) + look(at: folder, isFolder: true)
        for name in FolderContent.names(at: folder).sorted() {
            let path = "\(folder)/\(name)"
            findings += look(at: path, isFolder: isFolder(path))
        }
        let enclave = "\(folder)/enclave"
        for name in FolderContent.names(at: enclave).sorted() {
            findings += look(at: "\(enclave)/\(name)", isFolder: false)
        }
        return findings
    }

    /// What a small write to the store comes to: room for the pages of one item and what
    /// leads to them.
    private static let trialSize = 65_536

    /// Why nothing can be written into a store's folder; nil where it can, or where the folder is
    /// not ours to write.
    static func obstacle(toWritingIn folder: String) -> String? {
        do throws(SystemCallError) {
            try UnnamedFile.tryWriting(byteCount: trialSize, in: folder)
            return nil
        } catch {
            if error.isDiskFull { return "there is no room left" }
            return error.isReadOnly ? "its file system is read-only" : "\(error)"
        }
    }

    /// The mode of the folder of the keys where its owner can not do everything in it: its enclave
    /// writes nothing there then, and a new one opens nothing. nil: nothing is the matter with it.
    static func modeOfKeys(in folder: String) -> String? {
        do throws(SystemCallError) {
            let status = try FileStatus(at: FilePath("\(folder)/enclave"), followingLink: false)
            return status.isDirectory && status.mode & 0o700 != 0o700 ? String(status.mode & 0o777, radix: 8) : nil
        } catch { return nil }
    }

    /// What lies in the folder of the keys in the place of one of their files, and is a folder: no
    /// file can be renamed over it, so that the other copy is the only one.
    static func foldersAmongKeys(in folder: String) -> [String] {
        let names = ["protectors", "keybag", "software-secret", "attempts"].flatMap { ["\($0).0", "\($0).1"] }
        return names.map { "\(folder)/enclave/\($0)" }.filter { path in
            do throws(SystemCallError) {
                return try FileStatus(at: FilePath(path), followingLink: false).isDirectory
            } catch {
                return false
            }
        }
    }

    /// The store's own folder; nil for a temporary keychain.
    private var folder: String? {
        if let dataDirectory { return surroundings.absolute(dataDirectory) }
        if case .store(let locations, _) = surroundings.configuration.target { return locations.dataDirectory }
        return nil
    }

    /// Nothing in the folder can be read through one above it; it can be exchanged.
    private func exposure(of folder: String) -> [MachineFinding] {
        guard status(folder) != nil, let exposure = TrustedPath.exposure(of: folder) else { return [] }
        let command: String? =
            if case .open(let path) = exposure { "chmod go-w \(Self.quoted(path))" } else { nil }
        return [
            MachineFinding(
                what: "\(exposure): who writes there can take the keychain away, and lay another in its place",
                command: command, mend: .byHand)
        ]
    }

    /// A keychain of somebody else's is theirs to look at: who took its files would shut them out.
    private func foreignOwner(of folder: String) -> MachineFinding? {
        guard let owner = status(folder)?.userID, owner != ProcessEnvironment.effectiveUserID else { return nil }
        let name = UserDatabase.machine[.userID(owner)]?.name
        return MachineFinding(
            what: "\(folder) is the keychain of \(name ?? "user \(owner)"), not yours",
            command: "sudo -u \(name ?? "'#\(owner)'") latchkey doctor", mend: .byHand)
    }

    private func isFolder(_ path: String) -> Bool { status(path)?.isDirectory == true }

    private func status(_ path: String) -> FileStatus? {
        // What is not there needs no mending.
        do throws(SystemCallError) { return try FileStatus(at: FilePath(path), followingLink: false) } catch {
            return nil
        }
    }

    private func look(at path: String, isFolder: Bool) -> [MachineFinding] {
        guard let status = status(path), status.isDirectory || status.isRegularFile else { return [] }
        let quoted = Self.quoted(path)
        if status.userID != ProcessEnvironment.effectiveUserID {
            let command = isFolder ? "sudo chown -R $(id -un) \(quoted)" : "sudo chown $(id -un) \(quoted)"
            return [MachineFinding(what: "\(path) belongs to another user", command: command, mend: .byHand)]
        }
        guard status.mode & 0o077 != 0 else { return [] }
        return [
            MachineFinding(
                what: "\(path) is open to others", command: "chmod \(isFolder ? "700" : "600") \(quoted)",
                mend: isFolder ? .closeFolder(path) : .closeFile(path))
        ]
    }

    /// For a shell.
    private static func quoted(_ path: String) -> String { "'" + path.replacing("'", with: "'\\''") + "'" }

    // MARK: What the daemon says

    private var files: HostFiles { HostFiles(root: surroundings.hostRoot) }

    func measures(_ status: KeychainStatus) -> ProcessMeasures { ProcessMeasures(status, files: files) }

    func findings(_ status: KeychainStatus, _ session: SessionInformation) -> [MachineFinding] {
        var findings: [MachineFinding] = []
        if session.serverVersion != LatchkeyVersion.text {
            findings.append(
                MachineFinding(
                    what: session.serverVersion == LatchkeyVersion.replaced
                        ? "the running daemon was started before its program was updated, and goes on as it was"
                        : "the running daemon is version \(session.serverVersion), this program \(LatchkeyVersion.text)",
                    command: "kill \(status.daemonProcess)", mend: .endDaemon(process: status.daemonProcess)))
        }
        if !status.memoryLocked {
            findings.append(
                MachineFinding(
                    what: "memory with secrets cannot be locked here and can reach the swap",
                    command: "ulimit -l 4096   # or LimitMEMLOCK=4M in the unit, or an encrypted swap", mend: .byHand))
        }
        if !session.missingFeatures.isEmpty {
            findings.append(
                MachineFinding(
                    what:
                        "this kernel lacks \(session.missingFeatures.joined(separator: ", ")), so less is known about who calls",
                    command: "uname -r   # Linux 6.9 or newer has all of them", mend: .byHand))
        }
        return findings + measures(status).findings + HostCheck(files: files).findings(daemon: status.daemonProcess)
            + stores() + homes(ProcessEnvironment.variable("HOME"))
            + SecretServiceCheck(surroundings: surroundings).findings() + unitFindings()
    }

    /// HOME is not looked at, where it matters: a person may have expected it.
    func homes(_ named: String?) -> [MachineFinding] {
        guard dataDirectory == nil, let folder, let home = ProcessEnvironment.passwdHome, let named, named != home,
            folder == home + "/.local/share/latchkey"
        else { return [] }
        return [
            MachineFinding(
                what:
                    "HOME is \(named) and is not looked at: the keychain lies in \(home), your home in the user database",
                command: "export XDG_DATA_HOME=\(Self.quoted(named + "/.local/share"))   # to have one there",
                mend: .byHand)
        ]
    }

    /// A store elsewhere that a person may be missing.
    private func stores() -> [MachineFinding] {
        guard dataDirectory == nil, let folder, let home = ProcessEnvironment.passwdHome else { return [] }
        let usual = home + "/.local/share/latchkey"
        guard folder != usual, status(usual + "/keychain.db") != nil else { return [] }
        return [
            MachineFinding(
                what: "XDG_DATA_HOME leads to \(folder); another store of yours lies in \(usual)",
                command: "latchkey --data-dir \(Self.quoted(usual)) list", mend: .byHand)
        ]
    }
}

extension MachineFinding {
    /// Mends it; false where that is a person's.
    func fix() throws(SystemCallError) -> Bool {
        switch mend {
        case .byHand: return false
        case .closeFile(let path): try FileMode.close(FilePath(path), isFolder: false)
        case .closeFolder(let path): try FileMode.close(FilePath(path), isFolder: true)
        case .endDaemon(let process): try ProcessHandle.askToEnd(process)
        }
        return true
    }
}
