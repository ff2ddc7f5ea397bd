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
            try EmbeddedKeychain(machine.engine(), entitlements: entitlements).perform(request)
        }
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try EmbeddedKeychain(machine.engine(), entitlements: entitlements)
            .changes(after: position, in: scope, orUntil: cancelled)
    }

    func session() throws(KeychainError) -> SessionInformation {
        try EmbeddedKeychain(machine.engine(), entitlements: entitlements).session()
    }
}
