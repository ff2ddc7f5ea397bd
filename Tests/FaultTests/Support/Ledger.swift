import KeychainModel
import KeychainProtocol
import Synchronization

/// What a keychain was told and what it answered: for each item what has to be
/// there, and where no answer came, what else may be.
final class Ledger: Sendable {
    struct Entry: Sendable {
        /// nil: the item is not there.
        var settled: FaultContent?
        /// The outcome of a change that was never answered.
        var inFlight: InFlight?
        var lastVersion = 0
    }

    enum InFlight: Hashable, Sendable {
        case becomes(FaultContent)
        case goes
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var counts = FaultCounts()
    }

    let service: String
    private let protections: [String?]
    private let state = Mutex(State())

    /// - Parameter protections: tags of the classes that new items are of, in turn by
    ///   their names; nil: that of an item that names none.
    init(_ service: String, protections: [String?] = [nil]) {
        self.service = service
        self.protections = protections
    }

    private func protection(of account: String) -> String? {
        protections[account.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % protections.count]
    }

    func item(_ account: String) -> FaultItem { FaultItem(service: service, account: account) }
    subscript(account: String) -> Entry { state.withLock { $0.entries[account] ?? Entry() } }
    var entries: [String: Entry] { state.withLock { $0.entries } }
    var counts: FaultCounts { state.withLock { $0.counts } }
    var calls: Int { state.withLock { $0.counts.calls } }
    func count(_ body: (inout FaultCounts) -> Void) { state.withLock { body(&$0.counts) } }

    // MARK: Writing

    enum Change: CaseIterable, Sendable {
        case label
        case all
        case delete
    }

    /// Adds an item that is not there, changes one that is; what came of it goes
    /// into the books. One thread at a time for one account.
    ///
    /// - Returns: why it was not acknowledged.
    @discardableResult
    func write(_ change: Change, _ account: String, by client: some KeychainTransport) -> KeychainError? {
        let entry = self[account]
        let version = entry.lastVersion + 1
        let request: KeychainRequest
        let outcome: InFlight
        if let settled = entry.settled {
            switch change {
            case .delete:
                outcome = .goes
                request = item(account).delete
            case .label, .all:
                let content = FaultContent(label: version, value: change == .all ? version : settled.value)
                outcome = .becomes(content)
                request = item(account).update(from: settled, to: content)
            }
        } else {
            let content = FaultContent(label: version, value: version)
            outcome = .becomes(content)
            request = item(account).add(content, protection: protection(of: account))
        }
        return perform(request, account, version, outcome, client)
    }

    private func perform(
        _ request: KeychainRequest, _ account: String, _ version: Int, _ outcome: InFlight,
        _ client: some KeychainTransport
    ) -> KeychainError? {
        do throws(KeychainError) {
            _ = try client.perform(request)
            settle(account, version, as: outcome)
            return nil
        } catch {
            refuse(account, version, outcome, error)
            return error
        }
    }

    private func settle(_ account: String, _ version: Int, as outcome: InFlight) {
        state.withLock { state in
            let content: FaultContent? = if case .becomes(let content) = outcome { content } else { nil }
            state.entries[account] = Entry(settled: content, inFlight: nil, lastVersion: version)
            state.counts.acknowledged += 1
        }
    }

    /// Only one answer leaves open whether it happened; all others promise that
    /// nothing did, and are held to it.
    private func refuse(_ account: String, _ version: Int, _ outcome: InFlight, _ error: KeychainError) {
        state.withLock { state in
            var entry = state.entries[account] ?? Entry()
            entry.lastVersion = version
            if error.reason == .noAnswer(mayHaveHappened: true) {
                entry.inFlight = outcome
                state.counts.inFlight += 1
            } else {
                state.counts.refused += 1
            }
            state.entries[account] = entry
        }
    }

    // MARK: Settling what was found

    func found(_ account: String, _ content: FaultContent?) {
        state.withLock { state in
            guard var entry = state.entries[account] else { return }
            entry.settled = content
            entry.inFlight = nil
            state.entries[account] = entry
        }
    }
}
