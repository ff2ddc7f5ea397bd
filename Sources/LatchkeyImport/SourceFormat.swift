/// Whose export a source is. The raw value is what `--format` takes.
package enum SourceFormat: String, Sendable, CaseIterable {
    case apple
    case chrome
    case firefox
    case bitwardenCSV = "bitwarden-csv"
    case lastPass = "lastpass"
    case dashlane
    case nordPass = "nordpass"
    case protonPass = "proton-pass"
    case keePassXC = "keepassxc-csv"
    /// Of no program in particular.
    case plainCSV = "csv"
    case bitwardenJSON = "bitwarden-json"
    case onePassword = "1pux"
    case keePass = "kdbx"
    case passwordStore = "pass"
    case latchkey
    /// Its own file, or what it gives out over the session's bus.
    case gnomeKeyring = "gnome-keyring"
    /// Whoever is org.freedesktop.secrets.
    case secretService = "secret-service"
    case kwallet

    /// What is read over the session's bus (`--from`) instead of from a file.
    package static let overBus: [SourceFormat] = [.gnomeKeyring, .secretService, .kwallet]
    /// What a file or folder may be (`--format`).
    package static let ofFiles: [SourceFormat] = allCases.filter { ![.secretService, .kwallet].contains($0) }

    /// What a heading tells apart.
    package static let ofCSV: [SourceFormat] = CSVLayout.all.map(\.format)

    /// As a sentence names it.
    package var name: String {
        switch self {
        case .apple: "Apple Passwords (CSV)"
        case .chrome: "Chrome (CSV)"
        case .firefox: "Firefox (CSV)"
        case .bitwardenCSV: "Bitwarden (CSV)"
        case .lastPass: "LastPass (CSV)"
        case .dashlane: "Dashlane (CSV)"
        case .nordPass: "NordPass (CSV)"
        case .protonPass: "Proton Pass (CSV)"
        case .keePassXC: "KeePassXC (CSV)"
        case .plainCSV: "CSV of url, username and password"
        case .bitwardenJSON: "Bitwarden (JSON)"
        case .onePassword: "1Password (1PUX)"
        case .keePass: "KeePass (KDBX)"
        case .passwordStore: "pass"
        case .latchkey: "latchkey export"
        case .gnomeKeyring: "gnome-keyring"
        case .secretService: "Secret Service"
        case .kwallet: "KWallet"
        }
    }
}
