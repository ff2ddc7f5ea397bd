package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// The keychain of a program that `latchkey explain` started: after each call it
/// says what was asked and how it ended, and goes on when that was looked at, so
/// that the store is still as the call found it.
///
/// Whoever set the variable for a program could as well have read the program's
/// memory; under AT_SECURE it is ignored. Where nobody listens (any more) the
/// program runs as ever.
package final class ExplainedKeychain: KeychainTransport {
    /// Absolute path of the socket of `latchkey explain`.
    package static let variable = "LATCHKEY_EXPLAIN"

    private let keychain: any KeychainTransport
    private let listener: Mutex<MessageChannel?>

    /// As it is, or explained where this program runs under `latchkey explain`.
    package static func around(_ keychain: any KeychainTransport) -> any KeychainTransport {
        guard let path = ProcessEnvironment.variable(variable), path.hasPrefix("/") else { return keychain }
        do throws(SystemCallError) {
            let socket = try PacketSocket.connect(to: path)
            guard try socket.peerCredentials().uid == ProcessEnvironment.effectiveUserID else { return keychain }
            let channel = try MessageChannel(socket, asking: patience, on: SystemClock())
            return ExplainedKeychain(keychain, channel)
        } catch {
            return keychain
        }
    }

    private static let patience = Duration.seconds(5)

    private init(_ keychain: any KeychainTransport, _ listener: MessageChannel) {
        self.keychain = keychain
        self.listener = Mutex(listener)
    }

    /// As if no daemon knew several searches in one call: each of them is told of.
    package func session() throws(KeychainError) -> SessionInformation {
        var session = try keychain.session()
        session.protocolVersion = min(session.protocolVersion, ProtocolVersion.severalSearches - 1)
        return session
    }

    package func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        try explained(request) { () throws(KeychainError) in try keychain.perform(request) }
    }

    package func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        ExplainedSession(try keychain.authenticationSession(), of: self)
    }

    /// Makes a call, whichever way it goes, and tells of it.
    func explained(
        _ request: KeychainRequest, _ call: () throws(KeychainError) -> KeychainAnswer
    ) throws(KeychainError) -> KeychainAnswer {
        let result: Result<KeychainAnswer, KeychainError>
        do throws(KeychainError) { result = .success(try call()) } catch { result = .failure(error) }
        switch request.operation {
        case .add, .copy, .update, .delete, .deleteGroups: tell(request, result)
        case .addItems, .copyEach, .searchEach, .status, .device, .awaitDevice, .means, .evaluate,
            .setApplicationPassword, .doctor,
            .census,
            .changePosition, .changes, .audit:
            break
        }
        return try result.get()
    }

    package func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try keychain.changes(after: position, in: scope, orUntil: cancelled)
    }

    package func deviceStates() throws(KeychainError) -> any DeviceStates { try keychain.deviceStates() }

    private func tell(_ request: KeychainRequest, _ result: Result<KeychainAnswer, KeychainError>) {
        var (groups, nameable): ([String], [String]) = ([], [])
        do throws(KeychainError) {
            let session = try keychain.session()
            (groups, nameable) = (session.groups, session.nameableGroups)
        } catch {
            // The call's own error says why there is no session.
        }
        var failure: KeychainError?
        var rows = 0
        switch result {
        case .success(let answer): rows = answer.rows.count
        case .failure(let error): failure = error
        }
        let record = CallRecord(
            request: request, error: failure, rows: rows, groups: groups, nameableGroups: nameable,
            program: ProcessEnvironment.executablePath ?? "")
        send(record)
    }

    private func send(_ record: CallRecord) {
        listener.withLock { channel in
            guard let open = channel else { return }
            do throws(FrameError) {
                let deadline = Deadline(after: Self.patience, on: SystemClock())
                try open.send(record.encoded, until: deadline)
                guard try open.receive(until: deadline) != nil else { return channel = nil }
            } catch {
                channel = nil
            }
        }
    }
}
