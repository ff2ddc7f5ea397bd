/// Whose export a source is. The raw value is what `--format` takes.
package enum SourceFormat: String, Sendable, CaseIterable {
    case apple
    case chrome
    case firefox
    case bitwardenCSV = "bitwarden-csv"
    case bitwardenJSON = "bitwarden-json"
    case onePassword = "1pux"
    case keePass = "kdbx"
    case passwordStore = "pass"
    case latchkey

    /// As a sentence names it.
    package var name: String {
        switch self {
        case .apple: "Apple Passwords (CSV)"
        case .chrome: "Chrome (CSV)"
        case .firefox: "Firefox (CSV)"
        case .bitwardenCSV: "Bitwarden (CSV)"
        case .bitwardenJSON: "Bitwarden (JSON)"
        case .onePassword: "1Password (1PUX)"
        case .keePass: "KeePass (KDBX)"
        case .passwordStore: "pass"
        case .latchkey: "latchkey export"
        }
    }
}
