import Enclave
import Foundation
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Puppets
import Testing

/// Calls in a person's name, over the items of every program, at the real daemon: by
/// this process, by `latchkey`, and by a program that nobody knows.
@Suite struct DeputyTests {
    private let person = PersonAtHand()
    private static let programs = ProcessEnvironment.executableDirectory ?? "."

    /// In the group that this process alone has.
    private static func add(
        _ account: String, _ daemon: DaemonUnderTest, _ more: [(String, RawValue)] = []
    ) throws {
        let item: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string("mail")), ("acct", .string(account)), ("v_Data", .secret),
        ]
        _ = try daemon.client().perform(
            KeychainRequest(
                .add, query: QueryDictionary(item + more),
                value: SharedSecret(SecretBytes(copying: Array("value".utf8)))))
    }

    private static func request(
        _ more: [(String, RawValue)] = [], _ behalf: KeychainRequest.Behalf = .person
    ) -> KeychainRequest {
        var request = KeychainRequest(
            .copy,
            query: QueryDictionary(
                [
                    ("class", .string("genp")), ("r_Attributes", .bool(true)), ("m_Limit", .string("m_LimitAll")),
                ] + more))
        request.behalf = behalf
        return request
    }

    private static func list(_ daemon: DaemonUnderTest, to file: String = "/dev/null") -> String {
        "\(programs)/latchkey --data-dir \(daemon.locations.dataDirectory) list --all --json > \(file)"
    }

    private static func stranger(_ daemon: DaemonUnderTest) -> String {
        "\(programs)/fault-client deputy \(daemon.locations.dataDirectory) \(daemon.locations.runDirectory)"
    }

    private func failure(_ client: any KeychainTransport, _ request: KeychainRequest) -> KeychainError? {
        do throws(KeychainError) { _ = try client.perform(request) } catch { return error }
        return nil
    }

    // MARK: Who may

    @Test func withoutAPasscodeNobodyIsAsked() throws {
        let daemon = try DaemonUnderTest { $0.asker = person }
        try Self.add("alice", daemon)
        let file = daemon.folder.path("listed")
        #expect(try TerminalShell().run(Self.list(daemon, to: file)) == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"alice\""))
        #expect(person.asked.isEmpty)
    }

    @Test func withAPasscodeTheDaemonHasAPersonAgree() throws {
        let daemon = try person.daemon()
        try Self.add("alice", daemon)
        let file = daemon.folder.path("listed")
        #expect(try TerminalShell().run(Self.list(daemon, to: file)) == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"alice\""))
        #expect(person.asked == [.deputy])
        #expect(person.programs.first?.isEmpty == false)
        person.answer(.cancels)
        #expect(failure(daemon.client(), Self.request())?.status == .userCanceled)
        person.answer(.isAway)
        #expect(failure(daemon.client(), Self.request())?.status == .interactionNotAllowed)
        // And without the word, each has what it had.
        #expect(try daemon.client().perform(Self.request([], .program)).rows.count == 1)
        #expect(
            try TerminalShell().run("\(Self.programs)/latchkey --data-dir \(daemon.locations.dataDirectory) get mail")
                == 1)
        #expect(person.asked.count == 3)
    }

    @Test func whoForbidsAskingIsNotAsked() throws {
        let daemon = try person.daemon()
        let forbidden = failure(daemon.client(), Self.request([("u_AuthUI", .string("u_AuthUIF"))]))
        #expect(forbidden == KeychainError(.interactionNotAllowed, reason: .interactionForbidden))
        // What is no query is not worth a person's time either.
        #expect(failure(daemon.client(), Self.request([("no-such-key", .bool(true))]))?.status == .param)
        #expect(person.asked.isEmpty)
    }

    private static let allowsNamespaces = (try? Puppet(["foreign", "say", "allowed"]).listen()) == "allowed"

    @Test(
        .enabled(if: allowsNamespaces, "this kernel forbids user namespaces: no sandbox can be forged here"),
        arguments: [false, true])
    func aContainedProgramIsNobodysDeputy(hasPasscode: Bool) throws {
        let daemon = hasPasscode ? try person.daemon() : try DaemonUnderTest { $0.asker = person }
        try Data("[Application]\nname=org.example.app\n".utf8).write(
            to: URL(fileURLWithPath: daemon.folder.path(".flatpak-info")))
        let run = daemon.locations.runDirectory.dropFirst(daemon.folder.path.count)
        let refusal = try ExecAttack.contained(
            in: daemon.folder.path, socket: "\(run)/\(Rendezvous.socketName)", asking: Self.request(),
            for: "to act for a person")
        #expect(refusal == "told")
        #expect(Authorization.noDeputy.status == .missingEntitlement)
        #expect(person.asked.isEmpty)
    }

    @Test func otherCallsAreNobodysToMakeForAPerson() throws {
        let daemon = try DaemonUnderTest()
        for operation in [KeychainRequest.Operation.status, .addItems, .census, .doctor(.acceptDamage)] {
            var request = KeychainRequest(
                operation, items: operation == .addItems ? [NewItem(QueryDictionary(), value: nil)] : [])
            request.behalf = .person
            #expect(failure(daemon.client(), request)?.status == .notAvailable, "\(operation)")
        }
        #expect(try daemon.serves())
    }

    // MARK: For how long, and for whom

    @Test func anAgreementCountsForFiveMinutes() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked == [.deputy])
        daemon.clock.advance(by: .seconds(299))
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 1)
        daemon.clock.advance(by: .seconds(2))
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 2)
    }

    @Test func itCountsForOneProgramInOneTerminalSession() throws {
        let daemon = try person.daemon()
        try Self.add("alice", daemon)
        let (shell, other) = (try TerminalShell(), try TerminalShell())
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 1)
        person.answer(.isAway)
        // 3: a person would have to be asked and cannot be.
        #expect(try other.run(Self.list(daemon)) == 3)
        #expect(try shell.run(Self.stranger(daemon)) == 1)
        // A session of its own leads out of the terminal.
        #expect(try shell.run("setsid -w \(Self.list(daemon))") == 3)
        #expect(person.asked.count == 4)
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 4)
        person.answer(.agrees)
        #expect(try shell.run(Self.stranger(daemon)) == 0)
        #expect(person.asked.count == 5)
    }

    @Test func withoutATerminalEachCallIsAsked() throws {
        let daemon = try person.daemon()
        try Self.add("alice", daemon)
        let shell = try TerminalShell()
        for count in [1, 2] {
            #expect(try shell.run("setsid -w \(Self.stranger(daemon))") == 0)
            #expect(person.asked == Array(repeating: .deputyOnce, count: count))
        }
    }

    /// They wait for the one prompt.
    @Test func callsThatComeTogetherAreAgreedToTogether() throws {
        let daemon = try person.daemon()
        try Self.add("alice", daemon)
        let one = "\(Self.stranger(daemon)) || touch \(daemon.folder.path("refused"))"
        #expect(try TerminalShell().run("(\(one)) & (\(one)) & (\(one)) & (\(one)) & wait") == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.folder.path("refused")))
        #expect(person.asked == [.deputy])
    }

    @Test func aLockEndsIt() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        #expect(try shell.run(Self.list(daemon)) == 0)
        try daemon.enclave.lock()
        #expect(try shell.run(Self.list(daemon)) == 3)
        // While it is locked nobody is asked.
        #expect(person.asked.count == 1)
        try person.unlock(daemon)
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 2)
    }

    @Test func aNewPasscodeEndsIt() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 1)
        try daemon.enclave.changePasscode(from: PersonAtHand.passcode, to: PersonAtHand.passcode)
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 2)
    }

    // MARK: What is agreed to

    /// What a program has a person agree to in its own words opens nothing here, and
    /// an item that asks for a person asks for one all the same.
    @Test func presenceIsNothingElseAndNothingElseIsPresence() throws {
        let daemon = try person.daemon()
        let access = try #require(AccessControl(protection: "ak", flags: .userPresence))
        try Self.add("constrained", daemon, [("accc", .accessControl(access))])
        let session = daemon.client().authenticationSession()
        try session.evaluate(AuthenticationDemand(.policy(.deviceOwner), reason: "anything"))
        #expect(person.asked == [.agree])
        let value = Self.request([("acct", .string("constrained")), ("r_Data", .bool(true))])
        // Through the context the item is agreed to already, the reach is not.
        #expect(try session.perform(value).rows.count == 1)
        // In a terminal the agreement counts for the next call as well.
        let isKept = person.asked == [.agree, .deputy]
        #expect(isKept || person.asked == [.agree, .deputyOnce])
        session.end()
        // Without it both are asked for, one after the other.
        #expect(try daemon.client().perform(value).rows.first?.value != nil)
        #expect(Array(person.asked.dropFirst(2)) == (isKept ? [.useItem] : [.deputyOnce, .useItem]))
    }

    /// Five minutes that the machine slept through are over.
    @Test func aGrantEndsWhileTheMachineSleeps() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        #expect(try shell.run(Self.list(daemon)) == 0)
        daemon.clock.sleep(for: .seconds(299))
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 1)
        daemon.clock.sleep(for: .seconds(2))
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 2)
    }

    /// What anybody may set neither prolongs an agreement nor ends one.
    @Test func theWallClockHasNoPartInAGrant() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        #expect(try shell.run(Self.list(daemon)) == 0)
        for jump: Double in [-3600, 86_400 * 365] {
            daemon.clock.setWallClock(daemon.clock.wallClock + jump)
            #expect(try shell.run(Self.list(daemon)) == 0)
        }
        #expect(person.asked.count == 1)
        daemon.clock.advance(by: .seconds(300))
        daemon.clock.setWallClock(0)
        #expect(try shell.run(Self.list(daemon)) == 0)
        #expect(person.asked.count == 2)
    }
}
