package import KeychainPlatform
package import KeychainProtocol

/// A passcode as the command line takes one: typed without echo, or a line of what
/// is piped in, passed on a descriptor or a credential of a systemd unit; never an argument and never in the
/// environment.
package struct PasscodeInput {
    /// What the enclave takes. Every pinentry takes 2048 (its manual, "Protocol"), so
    /// that a passcode that is set here can be typed at a prompt.
    package static let mostBytes = PersonProtocol.longestSecret
    /// What the enclave takes for a passcode at the least.
    static let leastBytes = 4
    /// Lines that one command can need.
    private static let mostLines = 2
    /// How often two that differ may be typed again.
    private static let tries = 3

    /// Where it comes from.
    package enum Source: Sendable {
        /// Typed, or piped in.
        case console
        case descriptor(Int32)
        /// The name of a file that systemd put into $CREDENTIALS_DIRECTORY for this unit
        /// alone (systemd.exec(5), LoadCredential=).
        case credential(String)

        fileprivate var isConsole: Bool { if case .console = self { true } else { false } }
    }

    private let console: any Console
    private let source: Source
    /// What is left of what was not typed; nil before it was read.
    private var rest: SharedSecret?

    package init(console: any Console, from source: Source = .console) {
        self.console = console
        self.source = source
    }

    /// Whether a person is there who can type something else.
    package var canAskAgain: Bool { source.isConsole && console.inputIsTerminal }

    /// One that exists.
    package mutating func existing(_ prompt: String = "Passcode: ") throws(CommandFailure) -> SecretBytes {
        let passcode = canAskAgain ? try typed(prompt) : try nextLine()
        guard passcode.count > 0 else { throw Self.refusal("no passcode or code was given") }
        guard passcode.count <= Self.mostBytes else { throw Self.tooLong }
        return passcode
    }

    /// What opens the keychain.
    package mutating func credential(recovery: Bool) throws(CommandFailure) -> PersonCredential {
        recovery
            ? .recoveryCode(SharedSecret(try existing("Recovery code: "))) : .passcode(SharedSecret(try existing()))
    }

    /// A new one: on a terminal typed twice, and again where the two differ.
    package mutating func new(_ prompt: String = "New passcode: ") throws(CommandFailure) -> SecretBytes {
        for _ in 1..<Self.tries {
            let first = try choice(prompt)
            if try isRepeated(first) { return first }
            console.note("The two differ. Try again.")
        }
        let last = try choice(prompt)
        guard try isRepeated(last) else { throw Self.refusal("the two passcodes differ") }
        return last
    }

    /// Refused before it has to be typed again.
    private mutating func choice(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        let choice = try existing(prompt)
        guard choice.count >= Self.leastBytes else {
            throw Self.refusal("the passcode has fewer than \(Self.leastBytes) bytes")
        }
        return choice
    }

    private func isRepeated(_ first: borrowing SecretBytes) throws(CommandFailure) -> Bool {
        guard canAskAgain else { return true }
        return try typed("Once more: ").isEqual(to: first)
    }

    private func typed(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        do throws(Terminal.Refusal) { return try console.promptForSecret(prompt) } catch {
            switch error {
            case .canceled: throw Self.refusal("no passcode or code was typed")
            case .tooLong: throw Self.refusal("the passcode is longer than a terminal takes")
            case .system(let below):
                throw CommandFailure(.unavailable, "the terminal failed (\(below))", "Try again; nothing was changed.")
            }
        }
    }

    // MARK: Not typed

    private mutating func nextLine() throws(CommandFailure) -> SecretBytes {
        let whole: SharedSecret
        if let rest { whole = rest } else { whole = SharedSecret(try everything()) }
        let count = whole.bytes.count
        let end = whole.bytes.firstIndex(in: 0..<count) { $0 == UInt8(ascii: "\n") } ?? count
        rest = SharedSecret(whole.bytes.copy(min(end + 1, count)..<count))
        return whole.bytes.copy(0..<end)
    }

    private func everything() throws(CommandFailure) -> SecretBytes {
        if case .credential(let name) = source { return try Self.credential(named: name) }
        guard !source.isConsole || console.inputIsPiped else {
            throw CommandFailure(
                .locked, "a passcode is needed and nobody can be asked",
                "Run it on a terminal, or pipe the passcode in.")
        }
        let read: SecretBytes?
        do throws(SystemCallError) { read = try input() } catch {
            throw CommandFailure(
                .usage, "the passcode cannot be read (\(error)); nothing was changed",
                "Pipe it in, or open a descriptor for it: latchkey … --passcode-fd 3 3< FILE")
        }
        guard let read else { throw Self.tooLong }
        return read
    }

    /// nil where it is longer than anything that could be meant.
    private func input() throws(SystemCallError) -> SecretBytes? {
        guard case .descriptor(let descriptor) = source else { return try console.readSecret(atMost: Self.most) }
        return try InheritedSecret.readAll(descriptor: descriptor, atMost: Self.most)
    }

    /// All lines together, in bytes.
    private static let most = mostLines * (mostBytes + 1)

    /// - Parameter name: of a file in the folder, as the unit calls it.
    private static func credential(named name: String) throws(CommandFailure) -> SecretBytes {
        guard let folder = ProcessEnvironment.variable("CREDENTIALS_DIRECTORY"), folder.hasPrefix("/") else {
            throw CommandFailure(
                .usage, "this program was given no credentials; nothing was changed",
                "Run it in a systemd unit that has LoadCredential=.")
        }
        // What systemd takes for a name: no path, and neither of the two folders.
        guard !name.isEmpty, !name.contains("/"), name != ".", name != "..", name.utf8.count <= 255 else {
            throw refusal("that is no name of a credential")
        }
        do throws(SystemCallError) {
            guard case .file(let secret) = try NamedSource.read("\(folder)/\(name)", atMost: most) else {
                throw SystemCallError("read", errno: 21)
            }
            return secret
        } catch {
            throw CommandFailure(
                .usage, "the credential cannot be read (\(error)); nothing was changed",
                "Name it in the unit: LoadCredential=NAME:FILE.")
        }
    }

    private static let tooLong = refusal("the passcode is longer than \(mostBytes) bytes")

    private static func refusal(_ what: String) -> CommandFailure {
        CommandFailure(.usage, "\(what); nothing was changed", "Try again.")
    }
}
