internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService

/// A test keychain as one program sees it: the engine that runs now, with that
/// program's entitlements.
final class ProgramKeychain: KeychainTransport {
    let machine: TestMachine
    private let entitlements: Entitlements

    init(_ machine: TestMachine, _ entitlements: TestEntitlements) {
        self.machine = machine
        self.entitlements = entitlements.entitlements
    }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        try machine.log.perform(request) { () throws(KeychainError) in
            try EmbeddedKeychain(machine.engine(), entitlements: entitlements, asker: machine.person).perform(request)
        }
    }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        let keychain = EmbeddedKeychain(try machine.engine(), entitlements: entitlements, asker: machine.person)
        return LoggedSession(keychain.authenticationSession(), machine.log)
    }

    /// A context whose calls are recorded as the program's others are.
    private final class LoggedSession: AuthenticationSession {
        private let below: any AuthenticationSession
        private let log: CallLog

        init(_ below: any AuthenticationSession, _ log: CallLog) {
            self.below = below
            self.log = log
        }

        func means() throws(KeychainError) -> AuthenticationMeans { try below.means() }
        func evaluate(_ demand: AuthenticationDemand) throws(KeychainError) { try below.evaluate(demand) }

        func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
            try below.setApplicationPassword(password)
        }

        func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
            try log.perform(request) { () throws(KeychainError) in try below.perform(request) }
        }

        func end() { below.end() }
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try EmbeddedKeychain(machine.engine(), entitlements: entitlements)
            .changes(after: position, in: scope, orUntil: cancelled)
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates { try TestDeviceStates(machine) }

    func session() throws(KeychainError) -> SessionInformation {
        try EmbeddedKeychain(machine.engine(), entitlements: entitlements).session()
    }
}
