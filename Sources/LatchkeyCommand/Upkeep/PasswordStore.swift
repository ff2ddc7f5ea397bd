internal import KeychainPlatform

/// Where Chromium, and with it every program of Electron, keeps the key of its passwords
/// when nobody says: it goes by the desktop (Chromium, base/nix/xdg_util.cc and
/// components/os_crypt/sync/key_storage_util_linux.cc).
enum PasswordStore: Sendable, Hashable {
    case secretService
    case kwallet(desktop: String)
    /// Encrypted with a key that is in every copy of the program.
    case plainText(desktop: String)

    /// nil where no display is: there no such program runs.
    static var ofThisSession: PasswordStore? {
        let shown = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap(ProcessEnvironment.variable)
        guard shown.contains(where: { !$0.isEmpty }) else { return nil }
        return PasswordStore(variable: ProcessEnvironment.variable)
    }

    private static let served: Set = [
        "Unity", "Deepin", "GNOME", "X-Cinnamon", "Pantheon", "XFCE", "UKUI",
    ]

    /// - Parameter variable: of the environment.
    init(variable: (String) -> String?) {
        let current = (variable("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":").map {
            $0.drop { $0 == " " }.description
        }
        for desktop in current {
            if Self.served.contains(desktop) {
                self = .secretService
                return
            }
            if desktop == "KDE" {
                self = .kwallet(desktop: desktop)
                return
            }
            // It is known, and has nothing.
            if desktop == "LXQt" {
                self = .plainText(desktop: desktop)
                return
            }
        }
        let session = variable("DESKTOP_SESSION") ?? ""
        let name = current.first { !$0.isEmpty } ?? (session.isEmpty ? "no desktop's name" : session)
        if ["deepin", "gnome", "mate", "ukui", "xubuntu"].contains(session) || session.contains("xfce")
            || variable("GNOME_DESKTOP_SESSION_ID") != nil
        {
            self = .secretService
        } else if session.hasPrefix("kde") || variable("KDE_FULL_SESSION") != nil {
            self = .kwallet(desktop: name)
        } else {
            self = .plainText(desktop: name)
        }
    }

    private static let mend =
        "chromium --password-store=gnome-libsecret   "
        + "# VS Code: \"password-store\": \"gnome-libsecret\" in ~/.vscode/argv.json"

    var findings: [MachineFinding] {
        switch self {
        case .secretService: []
        case .kwallet(let desktop):
            [
                MachineFinding(
                    what: "under this desktop (\(desktop)) Chromium, VS Code and other programs of Electron "
                        + "ask KWallet, and not org.freedesktop.secrets, unless told",
                    command: Self.mend, mend: .byHand)
            ]
        case .plainText(let desktop):
            [
                MachineFinding(
                    what: "under this desktop (\(desktop)) Chromium, VS Code and other programs of Electron "
                        + "keep passwords under a key that everybody has (\"basic\"), unless told",
                    command: Self.mend, mend: .byHand)
            ]
        }
    }
}
