internal import MessageBus

/// The program that gives out the items, and how it is reached.
struct ServiceProvider {
    /// The name of its connection: whoever takes the well-known name meanwhile is not meant.
    let connection: String
    /// For people.
    let name: String

    private static let service = "org.freedesktop.secrets"
    /// gnome-keyring's own name, which it keeps where another program has the other one.
    private static let ownOfGnome = "org.gnome.keyring"
    /// What the kernel, which keeps 15 bytes of a name, calls the programs.
    private static let gnome = "gnome-keyring-d"
    private static let ours = "latchkey-secret"

    static func find(for keyring: ForeignKeyring, _ client: SessionClient) throws(ReadingFailure) -> ServiceProvider {
        keyring == .gnomeKeyring ? try findGnome(client) : try findAny(client)
    }

    private static func findGnome(_ client: SessionClient) throws(ReadingFailure) -> ServiceProvider {
        for name in [service, ownOfGnome] {
            guard let connection = try client.owner(of: name), client.program(of: connection) == gnome else { continue }
            return ServiceProvider(connection: connection, name: "gnome-keyring")
        }
        throw ReadingFailure(
            "gnome-keyring does not run in this session",
            "Log in where it is the keyring, or import its files: latchkey import ~/.local/share/keyrings/login.keyring"
        )
    }

    private static func findAny(_ client: SessionClient) throws(ReadingFailure) -> ServiceProvider {
        guard let connection = try client.owner(of: service) else {
            throw ReadingFailure(
                "no program is \(service) in this session",
                "Start the one that has your items (KeePassXC: with the Secret Service integration), then try again.")
        }
        let program = client.program(of: connection)
        guard program != ours else {
            throw ReadingFailure(
                "\(service) is Latchkey itself in this session, which has nothing to take over from itself",
                "Start the other program in its place: latchkey secret-service disable, then log in anew.")
        }
        return ServiceProvider(connection: connection, name: program.isEmpty ? service : program)
    }
}
