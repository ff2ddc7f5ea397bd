internal import KeychainClient
internal import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What the two helpers share: streams, the way to the keychain, and how it ends.
package struct HelperProgram {
    package let name: String
    let console: any HelperConsole
    let clock: any KeychainClock
    private let transport: () -> any KeychainTransport
    private let close: () -> Void
    private let missing: () -> Bool

    /// - Parameter missing: whether no keychain was made yet.
    package init(
        name: String, console: any HelperConsole, clock: any KeychainClock, closing close: @escaping () -> Void,
        missing: @escaping () -> Bool, keychain: @escaping () -> any KeychainTransport
    ) {
        (self.name, self.console, self.clock, self.close) = (name, console, clock, close)
        (self.missing, transport) = (missing, keychain)
    }

    /// As whoever started this process gave it.
    package static func system(_ name: String) -> HelperProgram {
        StandardStream.fillMissing()
        Hardening.forbidCoreDumps()
        Hardening.ignoreBrokenPipes()
        let configuration = ClientConfiguration.user(lookingBesideThisProgram: true)
        return HelperProgram(
            name: name, console: HelperStreams(), clock: SystemClock(), closing: { Hardening.becomeNotDumpable() },
            missing: { configuration.missingKeychain != nil }
        ) {
            ExplainedKeychain.around(DaemonConnectionPool(configuration))
        }
    }

    /// Ends this process with what its arguments led to.
    package func exit(_ run: ([String]) -> Int32) -> Never {
        guard let arguments = ProgramArguments.given else {
            note(ProgramArguments.notText)
            ProcessEnvironment.exit(FailureKind.usage.rawValue)
        }
        ProcessEnvironment.exit(run(arguments))
    }

    /// Whether there is nothing to be looked for yet: who only looks makes no keychain.
    var hasNoKeychain: Bool { missing() }

    func keychain() throws(HelperFailure) -> HelperKeychain {
        try asking { () throws(KeychainError) in try HelperKeychain(transport(), closing: close) }
    }

    /// Runs a call of the keychain, turning what it throws into what a person reads.
    func asking<R>(_ call: () throws(KeychainError) -> R) throws(HelperFailure) -> R {
        do throws(KeychainError) { return try call() } catch { throw HelperFailure(error) }
    }

    func streaming<R: ~Copyable>(_ call: () throws(SystemCallError) -> R) throws(HelperFailure) -> R {
        do throws(SystemCallError) { return try call() } catch {
            throw HelperFailure(
                .unavailable, "standard input or output failed (\(error))",
                "Check where they lead and try again.")
        }
    }

    /// --help and --version, and the status of what is neither.
    func finish(_ work: () throws(HelperFailure) -> Int32) -> Int32 {
        do throws(HelperFailure) { return try work() } catch {
            note(error.lines)
            return error.status
        }
    }

    func note(_ lines: [String]) { for line in lines { console.note("\(name): \(line)") } }
}
