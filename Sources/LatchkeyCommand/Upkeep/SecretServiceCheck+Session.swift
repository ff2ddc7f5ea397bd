internal import KeychainPlatform

/// What of this session keeps the bus from starting us, or has somebody take the name first.
extension SecretServiceCheck {
    // MARK: The bus

    /// Where the session's bus does not look at the file by which it would start us.
    func unseenFile(_ owner: SecretServiceName.Owner?) -> [MachineFinding] {
        let file: String
        let dataHome: String
        do throws(CommandFailure) {
            let units = try SecretServiceUnits(surroundings)
            (file, dataHome) = (units.busFile, units.dataHome)
        } catch { return [] }
        guard let isActivatable = SecretServiceName.isActivatable else { return [] }
        let bus = BusFolder.ofThisSession
        if !isActivatable {
            return [unseen("the session bus knows nobody to start for \(SecretServiceName.bus)", file, bus)]
        }
        // Somebody is started: another, where the bus looks elsewhere.
        guard owner?.isOurs != true, let bus, let looked = bus.dataHome,
            FilePath(looked).resolved != FilePath(dataHome).resolved
        else { return [] }
        return [unseen("the session bus starts another for \(SecretServiceName.bus)", file, bus)]
    }

    private func unseen(_ what: String, _ file: String, _ bus: BusFolder?) -> MachineFinding {
        let why = bus.map { bus in
            "it was started " + (bus.variable.map { "with XDG_DATA_HOME \($0)" } ?? "without XDG_DATA_HOME")
        }
        return MachineFinding(
            what: "\(what), and does not look at \(file)" + (why.map { ": \($0)" } ?? ""),
            command: "man environment.d   # XDG_DATA_HOME for the whole session, from the next login on",
            mend: .byHand)
    }

    // MARK: KeePassXC

    /// Its own switch (KeePassXC 2.7, src/core/Config.cpp: "FdoSecrets/Enabled", roaming), by
    /// which it takes the name once it runs, whoever the bus would start.
    func keePassXC() -> [MachineFinding] {
        let files = HostFiles(root: surroundings.hostRoot)
        return Self.keePassXCFiles.filter { files.text($0).map(Self.serves) ?? false }.map { file in
            MachineFinding(
                what: "KeePassXC serves \(SecretServiceName.bus) as well (\(file)), and has the name where it "
                    + "starts before a program asks for it; its settings, \"Secret Service Integration\", say so",
                command: nil, mend: .byHand)
        }
    }

    /// As Qt finds them (QStandardPaths, AppConfigLocation), and in its Flatpak.
    private static var keePassXCFiles: [String] {
        if let named = ProcessEnvironment.variable("KPXC_CONFIG"), named.hasPrefix("/") { return [named] }
        let home =
            ProcessEnvironment.variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? ProcessEnvironment.passwdHome
        let configuration = ProcessEnvironment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folders = [
            configuration ?? home.map { "\($0)/.config" },
            home.map { "\($0)/.var/app/org.keepassxc.KeePassXC/config" },
        ]
        return folders.compactMap { $0.map { "\($0)/keepassxc/keepassxc.ini" } }
    }

    /// `Enabled=true` in its section `FdoSecrets` (QSettings, IniFormat).
    static func serves(_ text: String) -> Bool {
        var isThere = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isThere = line == "[FdoSecrets]" }
            if isThere, line == "Enabled=true" { return true }
        }
        return false
    }
}

/// Where the session's bus looks for whom to start, as its own environment says.
private struct BusFolder {
    /// XDG_DATA_HOME of the bus; nil: it has none.
    let variable: String?
    /// The folder that stands for it; nil where that cannot be told.
    let dataHome: String?

    /// Of dbus-daemon, and of dbus-broker's launcher, which looks for the files and is the process that
    /// this bus says it is. nil where there is another, or it cannot be seen.
    static var ofThisSession: BusFolder? {
        guard let process = SecretServiceName.busProcess else { return nil }
        let files = HostFiles(root: "")
        guard let name = files.line("/proc/\(process)/comm"), starters.contains(name),
            let text = files.text("/proc/\(process)/environ")
        else { return nil }
        func value(_ name: String) -> String? {
            let found = text.split(separator: "\0").first { $0.hasPrefix("\(name)=/") }
            return found.map { String($0.dropFirst(name.count + 1)) }
        }
        let variable = value("XDG_DATA_HOME")
        return BusFolder(variable: variable, dataHome: variable ?? value("HOME").map { "\($0)/.local/share" })
    }

    /// As the kernel has their names, of which it keeps 15 characters (proc(5), "comm").
    private static let starters = ["dbus-daemon", "dbus-broker-lau"]
}
