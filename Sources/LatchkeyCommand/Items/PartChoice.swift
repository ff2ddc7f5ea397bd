/// How whoever named several items of one account says which one is meant.
enum PartChoice: Sendable {
    /// By --port and others.
    case options
    /// By --from-port and others, as in `edit`.
    case formerOptions
    /// By ?port= and others of a reference.
    case reference
    /// By what stands around the server's name.
    case address

    func advice(among items: [StoredItem]) -> String {
        var parts: [String] = []
        if Set(items.map(\.protocolName)).count > 1 { parts.append("protocol") }
        if Set(items.map(\.port)).count > 1 { parts.append("port") }
        if Set(items.map(\.path)).count > 1 { parts.append("path") }
        if Set(items.map(\.label)).count > 1 { parts.append("label") }
        guard !parts.isEmpty else {
            return "They differ in what no option names: only a program can choose (SecItemCopyMatching)."
        }
        return switch self {
        case .options: "Choose one with \(Self.list(parts.map { "--\($0)" }))."
        case .formerOptions: "Choose one with \(Self.list(parts.map { "--from-\($0)" }))."
        case .reference: "Choose one behind a question mark: \(Self.list(parts.map { "\($0)=…" })), with & between two."
        case .address: "Say which one: latchkey set --internet PROTOCOL://HOST:PORT/PATH ACCOUNT"
        }
    }

    private static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
