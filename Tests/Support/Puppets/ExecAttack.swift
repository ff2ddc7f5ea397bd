internal import Glibc
internal import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol

/// A daemon that is attacked over its socket.
package protocol Victim: Sendable {
    var socketPath: String { get }
    /// Does something while the daemon looks at nobody: what connects meanwhile
    /// is looked at afterwards.
    func whileItLooksAway(_ body: () throws -> Void) throws
}

/// The item that attackers are after. It lies in the group that every program
/// may name, so that nothing but who is speaking stands between it and them.
package struct Bait: Sendable {
    package static let value = "the-value-that-must-not-leave"
    package static let account = "bait-account"

    private static let attributes: [(String, RawValue)] = [
        ("class", .string("genp")), ("agrp", .string("latchkey")), ("acct", .string(account)),
    ]

    package static var store: KeychainRequest {
        KeychainRequest(
            .add, query: QueryDictionary(attributes + [("v_Data", .secret)]),
            value: SharedSecret(SecretBytes(copying: Array(value.utf8))))
    }

    package static var copyValue: KeychainRequest { copy("r_Data") }
    package static var copyAttributes: KeychainRequest { copy("r_Attributes") }

    private static func copy(_ what: String) -> KeychainRequest {
        KeychainRequest(.copy, query: QueryDictionary(attributes + [(what, .bool(true))]))
    }
}

/// Ways to speak on a connection as somebody whom the daemon took for another.
package enum ExecAttack: String, CaseIterable, Sendable {
    /// The connector becomes a trusted program, its child speaks.
    case swap
    /// The connector is a trusted launcher when it is looked at, and comes back.
    case through
    /// A child speaks on the connection that its parent was greeted on.
    case inherited
    /// `echo` writes into the connection, which is its standard output.
    case echo
    /// `cat` gives the nonce back.
    case cat
    /// The program is greeted, and then becomes another.
    case afterTheHello

    /// A program that asks for the bait and is what it seems.
    package static func honestClient(of victim: some Victim) throws -> String? {
        try Puppet(["connect", victim.socketPath] + greeting + asking()).listen()
    }

    /// What a program in a forged Flatpak is told that makes a request.
    ///
    /// - Parameters:
    ///   - root: the folder that is its root, with a `.flatpak-info` in it.
    ///   - socket: the daemon's, as the program sees it there.
    /// - Returns: "told" where the answer holds `text`, else how the connection ended.
    package static func contained(
        in root: String, socket: String, asking request: KeychainRequest, for text: String
    ) throws -> String? {
        try Puppet(
            ["foreign", "enter", root, "connect", socket] + greeting + asking(request, for: text)
        ).listen()
    }

    /// A program that another user runs.
    package static func client(ofUser user: UInt32, of victim: some Victim) throws -> String? {
        let program = try Workshop.shared.get().program
        let person = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--", program]
        return try Puppet(
            running: "/usr/bin/setpriv", person + ["connect", victim.socketPath] + greeting + asking()).listen()
    }

    /// What an exec after the hello still gets without a value.
    package static func attributesAfterTheHello(of victim: some Victim) throws -> String? {
        try execAfterTheHello(victim, asking(Bait.copyAttributes, for: Bait.account))
    }

    /// What the daemon's log says of it: that it failed for the reason it has to.
    package var verdict: String {
        switch self {
        case .swap: "answered by another process"
        case .through: "executed another program"
        case .inherited: "message of another process"
        case .echo: "malformed message"
        case .cat: "carried no descriptor"
        case .afterTheHello: "the program has changed"
        }
    }

    /// Mounts the attack.
    ///
    /// - Returns: "refused" where the connection ended without the value, "told"
    ///   where the value came.
    package func mount(on victim: some Victim) throws -> String? {
        switch self {
        case .swap: try swap(victim)
        case .through: try through(victim)
        case .inherited:
            try Puppet(["connect", victim.socketPath] + Self.greeting + ["fork"] + Self.asking()).listen()
        case .echo: try throughFlock(victim, ["spectate", Bait.value, "stdio"], ["/bin/echo", "-n", "hello"])
        case .cat: try cat(victim)
        case .afterTheHello: try Self.execAfterTheHello(victim, Self.asking())
        }
    }

    private func swap(_ victim: some Victim) throws -> String? {
        var attacker: Puppet?
        try victim.whileItLooksAway {
            attacker = try Puppet(
                ["connect", victim.socketPath, "swap", "/usr/bin/sleep", "say", "swapped"] + Self.greeting + Self.asking())
            try attacker?.expect("swapped")
        }
        return try attacker?.listen()
    }

    private func through(_ victim: some Victim) throws -> String? {
        let itself = try Workshop.shared.get().program
        return try throughFlock(
            victim, [], ["/usr/bin/env", "--", itself, "adopt", "3"] + Self.greeting + Self.asking())
    }

    /// The connector is flock(1) while it is looked at, and becomes the command
    /// once it was asked.
    private func throughFlock(_ victim: some Victim, _ before: [String], _ command: [String]) throws -> String? {
        let folder = try WorkFolder()
        let lock = try LockFile(folder.file("lock"))
        var attacker: Puppet?
        try victim.whileItLooksAway {
            attacker = try Puppet(
                ["connect", victim.socketPath, "watch"] + before
                    + ["exec", "/usr/bin/flock", "--no-fork", lock.path] + command)
            try attacker?.waitUntilItRuns("/usr/bin/flock")
        }
        try attacker?.expect("challenged")
        lock.release()
        return try attacker?.listen()
    }

    /// The connector is cat(1) from before the look to its end.
    private func cat(_ victim: some Victim) throws -> String? {
        var attacker: Puppet?
        try victim.whileItLooksAway {
            attacker = try Puppet([
                "connect", victim.socketPath, "spectate", Bait.value, "stdio", "exec", "/usr/bin/cat",
            ])
            try attacker?.waitUntilItRuns("/usr/bin/cat")
        }
        return try attacker?.listen()
    }

    private static func execAfterTheHello(_ victim: some Victim, _ question: [String]) throws -> String? {
        let itself = try Workshop.shared.get().program
        return try Puppet(
            ["connect", victim.socketPath] + greeting + ["exec", "/usr/bin/env", itself, "adopt", "3"] + question
        ).listen()
    }

    // MARK: Words of the protocol

    /// Protocol 1 to 1 (latchkey_wire.proto, ClientHello).
    private static let greeting = ["hello", "08011001"]

    private static func asking(_ request: KeychainRequest = Bait.copyValue, for secret: String = Bait.value) -> [String] {
        let header = request.encoded(number: 1)
        let frame = [0x4C, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) } + header
        let digits = frame.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        return ["ask", digits, secret, "hear"]
    }
}

/// A lock file that flock(1) waits for.
package final class LockFile: Sendable {
    package let path: String
    private let descriptor: Int32

    package init(_ path: String) throws {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard flock(descriptor, LOCK_EX) == 0 else { throw SystemCallError("flock", errno: errno) }
    }

    package func release() { flock(descriptor, LOCK_UN) }

    deinit { close(descriptor) }
}
