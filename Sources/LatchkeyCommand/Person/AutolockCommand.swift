internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct AutolockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "autolock", abstract: "Show or choose when the keychain locks by itself.",
        discussion: """
            Without an option it shows what was chosen; at first a keychain stays open until `latchkey lock`, or until \
            its programs end. Changing it takes the passcode; a program that uses the keychain keeps it open.

            --after TIME locks it once nothing that a lock closes was read or stored for so long, from 1m to 30d; \
            "never" lets it stay open. What programs may use in the background after the first unlock \
            (kSecAttrAccessibleAfterFirstUnlock) does not count and stays open. The time goes on while the machine \
            sleeps; after that it locks within a minute. Listing and searching without values does not count either.

            --on-sleep locks it before the machine sleeps, --on-screen-lock with the screen of a session of yours; \
            --no-… takes either back. Both are told by logind, over the system bus: `latchkey status` says where \
            there is none. What is not named stays as it was chosen.

            It locks as `latchkey lock` does: programs that listen hear of it before, and what runs is finished. What \
            opens the keychain without a person (`latchkey slot`) opens it again when it is brought, a TPM's slot when \
            the keychain's programs start.

            EXAMPLES
              latchkey autolock
              latchkey autolock --after 15m --on-sleep
              latchkey autolock --after never

            --json writes {"afterSeconds", "onSleep", "onScreenLock"}: what holds afterwards; afterSeconds null: never.
            """)

    @Option(help: ArgumentHelp("So long without a use, as in 90s, 15m, 8h or 1d; or never.", valueName: "TIME"))
    var after: String?

    @Flag(inversion: .prefixedNo, help: "Before the machine sleeps.")
    var onSleep: Bool?

    @Flag(inversion: .prefixedNo, help: "With the screen of a session.")
    var onScreenLock: Bool?

    @OptionGroup var source: SecretSource

    @Flag(help: "Write what holds afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let after, idle(after) == nil {
            throw ValidationError("--after is never, or a time from 1m to 30d: a number and s, m, h or d")
        }
    }

    /// The policy that has this time and nothing else.
    private func idle(_ after: String) -> LockPolicy? {
        if after == "never" { return .never }
        guard let seconds = TimeSpan(after).flatMap({ UInt32(exactly: $0.seconds) }) else { return nil }
        return LockPolicy(idleSeconds: seconds)
    }

    /// What was chosen with what is named now in its place; nil: nothing is named.
    private func wanted(after present: LockPolicy) -> LockPolicy? {
        guard after != nil || onSleep != nil || onScreenLock != nil else { return nil }
        var wanted = after.flatMap(idle) ?? present
        wanted.locksOnSleep = onSleep ?? present.locksOnSleep
        wanted.locksOnScreenLock = onScreenLock ?? present.locksOnScreenLock
        return wanted
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        let present = reach.state.lockPolicy
        guard let wanted = wanted(after: present) else { return try show(present, console) }
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        var input = source.input(console)
        let passcode = SharedSecret(try input.existing())
        try PersonReach.asking { () throws(KeychainError) in try door.setLockPolicy(wanted, passcode: passcode) }
        return try show(try reach.presentState().lockPolicy, console)
    }

    private func show(_ policy: LockPolicy, _ console: any Console) throws(CommandFailure) -> ExitStatus {
        let text =
            json
            ? JSONValue.object([
                ("afterSeconds", policy.idleSeconds.map { .integer(Int64($0)) } ?? .null),
                ("onSleep", .bool(policy.locksOnSleep)), ("onScreenLock", .bool(policy.locksOnScreenLock)),
            ]).text
            : policy.words
        try printing { () throws(SystemCallError) in try console.write("\(text)\n") }
        return .done
    }
}

extension LockPolicy {
    var words: String {
        let idle = idleSeconds.map { "after \(TimeSpan(seconds: UInt64($0)).words) without a use" }
        let causes = [idle, locksOnSleep ? "before sleep" : nil, locksOnScreenLock ? "with the screen" : nil]
        let named = causes.compactMap { $0 }
        return named.isEmpty ? "never" : named.joined(separator: ", ")
    }

    /// Of `status`.
    var members: [(String, JSONValue)] {
        [
            ("lockAfterSeconds", idleSeconds.map { .integer(Int64($0)) } ?? .null),
            ("locksOnSleep", .bool(locksOnSleep)), ("locksOnScreenLock", .bool(locksOnScreenLock)),
        ]
    }
}
