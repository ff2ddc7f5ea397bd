internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// In the place of a keychain that is not there, for whoever asks what would be stored in
/// it: it holds nothing, takes nothing, and making none of it is the point.
struct AbsentKeychain: KeychainTransport {
    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        guard request.isWrite else { throw KeychainError(.itemNotFound, reason: .nothingMatches) }
        throw Self.refusal
    }

    func session() throws(KeychainError) -> SessionInformation {
        SessionInformation(
            groups: [AccessGroup.latchkey.name], nameableGroups: [AccessGroup.secretService.name], strength: .user,
            isTemporary: false, identity: "", missingFeatures: [], serverVersion: LatchkeyVersion.text)
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? { throw Self.refusal }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession { throw Self.refusal }

    func deviceStates() throws(KeychainError) -> any DeviceStates { throw Self.refusal }

    private static let refusal = KeychainError(
        .notAvailable, reason: .daemonUnreachable, underlying: "there is no keychain yet")
}
