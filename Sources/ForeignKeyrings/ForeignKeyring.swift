/// Whose items are read out over the session's bus. The raw value is what `latchkey import
/// --from` takes.
package enum ForeignKeyring: String, Sendable, CaseIterable {
    case gnomeKeyring = "gnome-keyring"
    /// Whoever is org.freedesktop.secrets: KeePassXC, ksecretd.
    case secretService = "secret-service"
    case kwallet
}

extension ForeignKeyring {
    /// Writes all that there is, line by line (``KeyringLines``).
    ///
    /// - Parameter patience: what a person may take to answer the other program; nil: there is
    ///   no display on which it could ask.
    package func read(askingFor patience: Duration?, into lines: inout KeyringLines) throws(ReadingFailure) {
        let bus = try SessionClient()
        switch self {
        case .gnomeKeyring, .secretService:
            let provider = try ServiceProvider.find(for: self, bus)
            try ServiceReader(provider, bus, askingFor: patience).read(into: &lines)
        case .kwallet: try WalletReader.open(bus, askingFor: patience).read(into: &lines)
        }
        try lines.end()
    }
}
