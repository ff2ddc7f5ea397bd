package import KeychainPlatform
package import KeychainProtocol

/// Where a client looks for its keychain, and how long it waits.
package struct ClientConfiguration: Sendable {
    package enum Target: Sendable, Hashable {
        /// A store's own daemon, started where it does not run.
        case store(KeychainLocations, autostart: Bool)
        /// A socket at an absolute path, as `latchkey temp` hands it out; it must
        /// say that it is temporary.
        case temporary(socket: String)
        /// The root-owned socket of system mode.
        case system
        /// There is no home to look in.
        case nowhere
    }

    /// What a failure says below its reason where the target is ``Target/nowhere``.
    package static let noHome = "this user has no home, or whoever keeps the accounts does not answer"
    /// The same of a variable that names no temporary keychain.
    package static let noTemporary = "\(temporaryVariable) is no absolute path"
    package static let systemDirectory = "/run/latchkey"
    /// Absolute path of a `latchkey temp` socket.
    package static let temporaryVariable = "LATCHKEY_TEMP"

    package var target: Target
    package var clock: any KeychainClock
    /// Without progress, where no person is involved (architecture section 2).
    package var patience: Duration = .seconds(5)
    private let programs: ProgramSearch

    package init(target: Target, clock: any KeychainClock = SystemClock(), programDirectories: [String] = []) {
        self.init(target, clock, .folders(programDirectories))
    }

    private init(_ target: Target, _ clock: any KeychainClock, _ programs: ProgramSearch) {
        self.target = target
        self.clock = clock
        self.programs = programs
    }

    /// The same keychain; where its daemon does not run, it is left so.
    package var startingNothing: ClientConfiguration {
        guard case .store(let locations, _) = target else { return self }
        var other = self
        other.target = .store(locations, autostart: false)
        return other
    }

    /// Where to look for latchkeyd, in this order.
    package var programDirectories: [String] { programs.folders }

    /// The keychain of this user, as the environment and the machine say.
    package static func user(lookingBesideThisProgram: Bool = false) -> ClientConfiguration {
        ClientConfiguration(userTarget(), SystemClock(), .installed(besideThisProgram: lookingBesideThisProgram))
    }

    private static func userTarget() -> Target {
        // Whatever else it says: who means a temporary keychain does not mean the own one.
        if let socket = ProcessEnvironment.variable(temporaryVariable), !socket.isEmpty {
            return .temporary(socket: socket)
        }
        if SystemSocket.exists(in: systemDirectory) { return .system }
        return KeychainLocations.user().map { .store($0, autostart: true) } ?? .nowhere
    }
}

/// Where programs of ours are looked for. Finding that out asks the name service,
/// so only whoever starts one asks.
private enum ProgramSearch: Sendable {
    case folders([String])
    case installed(besideThisProgram: Bool)

    var folders: [String] {
        switch self {
        case .folders(let named): named
        case .installed(let beside): Self.installed(beside)
        }
    }

    /// /usr/libexec, /usr/local/libexec, then the user's own (decisions.md);
    /// our own programs look beside themselves first, and in the libexec of the
    /// prefix whose bin they lie in.
    private static func installed(_ beside: Bool) -> [String] {
        var found: [String] = []
        if beside, let own = ProcessEnvironment.executableDirectory {
            found.append(own)
            if own.hasSuffix("/bin") { found.append(own.dropLast("/bin".count) + "/libexec/latchkey") }
        }
        found += ["/usr/libexec/latchkey", "/usr/local/libexec/latchkey"]
        if let home = ProcessEnvironment.passwdHome { found.append(home + "/.local/libexec/latchkey") }
        return found
    }
}
