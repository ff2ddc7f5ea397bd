import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A server with a passcode, a daemon's connection to it, and a person at its other
/// door: what a daemon that tells the truth does with them.
struct HonestScene {
    static let passcode = "1234"
    /// What a person knows the keys' items by.
    static let shown = ShownItem(label: "mail", group: "group.a")
    /// What the passcode alone opens.
    static let constrained = encoding([.devicePasscode])

    let server: RunningServer
    let daemon: any EnclaveConnection
    var clock: ManualClock { server.clock }

    init(bus: (any SystemBusDoor)? = nil) throws {
        server = try RunningServer(bus: bus)
        // A look at the reader has its own limit, by the clock that the test moves.
        daemon = try server.connector(clock: bus == nil ? SystemClock() : server.clock).connect()
        try door().setPasscode(.text(Self.passcode))
    }

    static func encoding(_ flags: AccessControlFlags, _ named: ProtectionClass = .whenUnlocked) -> [UInt8] {
        AccessControl(protection: named.rawValue, flags: flags)!.encoded
    }

    /// A key whose row the passcode alone opens.
    func key(_ named: ProtectionClass = .whenUnlocked) throws -> MadeKey {
        try MadeKey(in: daemon, .row(named, accessControl: Self.encoding([.devicePasscode], named), shown: Self.shown))
    }

    func door(_ question: [UInt8] = []) throws -> RemotePersonDoor {
        try RemotePersonDoor(
            runDirectory: server.home.runDirectory, process: nil, asked: question, clock: SystemClock())
    }

    // MARK: A question

    func ask(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, seconds: Int = 60
    ) throws -> [UInt8]? {
        var question = PersonQuestion(purpose: .useItem)
        question.secondsLeft = seconds
        return try daemon.ask(AuthenticationCase(subject, question: question), in: session)
    }

    func ask(about keys: [MadeKey], in session: AuthenticationSessionID) throws -> [UInt8]? {
        try ask(.rows(keys.map { ($0.binding, $0.wrapped) }, operation: "od"), in: session)
    }

    /// The person agrees to use these keys.
    func agree(to keys: [MadeKey], in session: AuthenticationSessionID) throws {
        let name = try #require(try ask(about: keys, in: session))
        try door(name).agree(with: .passcode(.text(Self.passcode)))
        #expect(try daemon.outcome(of: name) == .agreed)
    }

    /// A session in which the person agreed to use these keys.
    func session(agreeingTo keys: [MadeKey]) throws -> AuthenticationSessionID {
        let session = try daemon.openSession()
        try agree(to: keys, in: session)
        return session
    }

    func unlock() throws { try door().unlock(with: .passcode(.text(Self.passcode))) }

    // MARK: What comes of it

    func fate(
        _ binding: RowBinding, _ wrapped: WrappedKey, in session: AuthenticationSessionID? = nil
    ) throws -> Fate {
        try #require(try daemon.openRowKeys([(binding, wrapped)], in: session).first).fate
    }

    func fate(_ key: MadeKey, in session: AuthenticationSessionID? = nil) throws -> Fate {
        try fate(key.binding, key.wrapped, in: session)
    }

    /// What makes the lies before it worth anything: told the truth, it opens.
    func expectHonestyOpens(_ key: MadeKey, _ location: SourceLocation = #_sourceLocation) throws {
        let session = try session(agreeingTo: [key])
        let opened = try daemon.openRowKeys([(key.binding, key.wrapped)], in: session)
        #expect(opened.map(\.secret) == [key.secret], sourceLocation: location)
    }
}

extension RowBinding {
    func with(_ named: ProtectionClass) -> RowBinding {
        RowBinding(uuid: uuid, protectionClass: named, accessControl: accessControl, shown: shown)
    }

    func with(shown: ShownItem?) -> RowBinding {
        RowBinding(uuid: uuid, protectionClass: protectionClass, accessControl: accessControl, shown: shown)
    }

    func with(accessControl: [UInt8]) -> RowBinding {
        RowBinding(uuid: uuid, protectionClass: protectionClass, accessControl: accessControl, shown: shown)
    }

    func with(uuid: [UInt8]) -> RowBinding {
        RowBinding(uuid: uuid, protectionClass: protectionClass, accessControl: accessControl, shown: shown)
    }
}

/// Holds what is refused against the reason that is true.
func expectRefusal(
    _ reason: Reason, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("nothing was refused", sourceLocation: location)
    } catch let error as KeychainError {
        #expect(error.reason == reason, sourceLocation: location)
    } catch {
        Issue.record("\(error)", sourceLocation: location)
    }
}
