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

    package init(
        name: String, console: any HelperConsole, clock: any KeychainClock, closing close: @escaping () -> Void,
        keychain: @escaping () -> any KeychainTransport
    ) {
        (self.name, self.console, self.clock, self.close, transport) = (name, console, clock, close, keychain)
    }

    /// As whoever started this process gave it.
    package static func system(_ name: String) -> HelperProgram {
        StandardStream.fillMissing()
        Hardening.forbidCoreDumps()
        Hardening.ignoreBrokenPipes()
        return HelperProgram(
            name: name, console: HelperStreams(), clock: SystemClock(), closing: { Hardening.becomeNotDumpable() }
        ) {
            ExplainedKeychain.around(DaemonConnectionPool(.user(lookingBesideThisProgram: true)))
        }
    }

    /// Ends this process with what its arguments led to.
    package func exit(_ run: ([String]) -> Int32) -> Never {
        guard let arguments = ProgramArguments.given else {
            note(ProgramArguments.notText)
            ProcessEnvironment.exit(HelperFailure.usage)
        }
        ProcessEnvironment.exit(run(arguments))
    }

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
                HelperFailure.unavailable, "standard input or output failed (\(error))",
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
